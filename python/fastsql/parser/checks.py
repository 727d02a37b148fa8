"""What is checked before anything is done: a bundle's fit to this version, sizes, and arguments."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, SupportsFloat

from fastsql.errors import DialectError, LimitError, ModelError
from fastsql.grammar import load_grammar
from fastsql.grammar.render import DIALECTS
from fastsql.limits import Limits
from fastsql.model import Bundle
from fastsql.schema import Schema
from fastsql.schema.dialects import plain_dialect

ID_CHARACTERS = 256
"""Characters of the longest id that a caller may have put on record."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d)?)?", re.ASCII)


def check_penalty(penalty: Any) -> float:
    """A penalty as it is kept. Raises TypeError or ValueError for what is not a penalty."""
    if not isinstance(penalty, SupportsFloat):
        raise TypeError(f"penalty is a number, not {type(penalty).__name__}")
    if not 0 <= float(penalty) < float("inf"):
        raise ValueError(f"penalty must be a number of at least 0, not {penalty!r}")
    return float(penalty)


def check_threads(threads: int) -> None:
    """Raise ValueError for a number of threads below 0."""
    if threads < 0:
        raise ValueError(f"threads must be a number of at least 0, not {threads!r}")


def check_grammar(bundle: Bundle) -> None:
    """Raise ModelError unless the model's actions are those of this version's grammar."""
    grammar = load_grammar()
    pairs = (
        ("productions", bundle.config.productions, grammar.productions),
        ("symbols", bundle.config.symbols, grammar.symbols),
    )
    for what, of_model, of_grammar in pairs:
        if tuple(of_model) != tuple(of_grammar):
            raise ModelError(
                f"its {what} are not those of this fastsql's grammar",
                where=str(bundle.path),
                remedy="Install the fastsql version that the bundle was made for, or train it again.",
            )


def check_actions(bundle: Bundle, limits: Limits) -> None:
    """Raise LimitError unless every query that the limit allows can be decoded, and there is one; ModelError if none can."""
    least, most = load_grammar().cost[0], bundle.config.model.max_steps
    if most < least:
        raise ModelError(
            f"its {most} steps are too few for any query",
            where=str(bundle.path / "config.json"),
            remedy="Install the model bundle again.",
        )
    if not least <= limits.actions <= most:
        raise LimitError(
            f"{limits.actions} actions are too {'few for a query' if limits.actions < least else 'many for the model'}",
            where="Limits.actions",
            remedy=f"Give a number from {least} to {most}.",
        )


def check_size(schema: Schema, limits: Limits) -> None:
    """Raise LimitError for a `Schema` that was made under larger limits."""
    for limit, found, most in (
        ("tables", len(schema.tables), limits.tables),
        ("columns", len(schema.columns), limits.columns),
    ):
        if found > most:
            raise LimitError.exceeded(limit, found, most, where=f"schema {schema.name!r}")


def check_dialect(dialect: str) -> str:
    """The dialect by the name that it has here. Raises DialectError for one that cannot be written."""
    plain = plain_dialect(dialect)
    if plain not in DIALECTS:
        raise DialectError(
            "cannot be written",
            where=f"dialect {dialect!r}",
            remedy=f"Use one of: {', '.join(DIALECTS)}.",
        )
    return plain


def check_beam(beam: int, limits: Limits) -> None:
    """Raise TypeError, ValueError or LimitError for a beam that is no width."""
    if isinstance(beam, bool) or not isinstance(beam, int):
        raise TypeError(f"beam is a whole number, not {type(beam).__name__}")
    if beam < 1:
        raise ValueError(f"beam must be at least 1, not {beam}")
    if beam > limits.beam:
        raise LimitError.exceeded("beam", beam, limits.beam)


def check_moment(now: str | None) -> None:
    """Raise TypeError or ValueError unless `now`, which becomes part of the SQL, is a moment."""
    if now is None:
        return
    if not isinstance(now, str):
        raise TypeError(f"now is a text such as '2100-12-31 23:59:00', not {type(now).__name__}")
    try:
        well_formed = bool(_MOMENT.fullmatch(now)) and bool(datetime.fromisoformat(now))
    except ValueError:  # a thirteenth month
        well_formed = False
    if not well_formed:
        raise ValueError("now is not a time such as '2100-12-31 23:59:00'")


def check_id(value: object, name: str) -> None:
    """Raise TypeError or ValueError unless `value` can be an id in a record: None, or a text of some length."""
    if value is None:
        return
    if not isinstance(value, str):
        raise TypeError(f"{name} is a text, not {type(value).__name__}")
    if len(value) > ID_CHARACTERS:
        raise ValueError(f"{name} has more than {ID_CHARACTERS} characters")


def check_inspector(inspector: Any) -> None:
    """Raise TypeError for what inspects nothing."""
    if not (inspector is None or hasattr(inspector, "inspect")):
        raise TypeError(f"inspector is a fastsql.reliability.Inspector, not {type(inspector).__name__}")


def check_executor(executor: Any) -> None:
    """Raise TypeError for what runs no queries."""
    if not (hasattr(executor, "run") and hasattr(executor, "dialect")):
        raise TypeError(f"executor is one of fastsql.open_executor, not {type(executor).__name__}")
