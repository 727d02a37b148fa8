"""A conversation as JSON, and back: nothing is believed that can be checked.

A record holds each query as a program with references to earlier turns. Reading takes it through the automaton again and
renders its SQL anew, so that no text of a record becomes SQL.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastsql.datasets.programs import read_program_rows, write_program
from fastsql.errors import ConversationError, FastSQLError, LimitError, ModelError, SchemaError
from fastsql.grammar import ActionSpace, read_turn, render
from fastsql.grammar.inlining import renumbered, turns_of
from fastsql.grammar.render.references import render_references
from fastsql.grammar.step import IllegalActionError
from fastsql.grammar.turn_kinds import KINDS, kinds_of
from fastsql.linking.turns import EarlierTurn
from fastsql.plain_json import json_text
from fastsql.reliability.judges import Assessment, combined
from fastsql.schema import names_digest
from fastsql.session.turn import Turn, TurnState
from fastsql.verification.verify import verify

if TYPE_CHECKING:
    from fastsql.grammar.program import Program
    from fastsql.limits import Limits
    from fastsql.parser import Parser, ParserByLanguage
    from fastsql.schema import Schema

FORMAT = 1
_SLACK = 2
"""Times the limit on actions that a query may take, as they are counted from its program, where spans are lost."""


def write_record(turns: Iterable[Turn], schema: Schema, mode: str) -> str:
    """Turns as JSON, without rows."""
    turns = list(turns)
    read = {turn.number: turn.state.model for turn in turns if turn.state is not None}
    model = next(reversed(read.values()), None)
    # Turns that another model has read stay as questions.
    kept = frozenset(number for number, name in read.items() if name == model)
    found = [_written(turn, kept, schema) for turn in turns]
    return json_text(
        {
            "fastsql_conversation": FORMAT,
            "history": mode,
            "model": model,
            "schema": names_digest(schema),
            "turns": found,
        }
    )


def _written(turn: Turn, kept: frozenset[int], schema: Schema) -> dict[str, Any]:
    """A turn as plain data. One that refers to a turn that is not among those `kept` stands by itself from here on."""
    content: dict[str, Any] = {
        "number": turn.number,
        "question": turn.question,
        "sql": turn.sql,
        "confidence": turn.confidence,
        "unanswerable": turn.unanswerable,
        "abstained": turn.abstained,
        "reason": turn.reason,
        "dialect": turn.dialect,
        "threshold": turn.threshold,
        "forgotten": turn.forgotten,
        "standing": {
            str(number): [one.confidence, one.unanswerable] for number, one in turn.standing.items()
        },
    }
    if turn.asked:
        content["asked"] = turn.asked
    if turn.uses and turn.referring is None:  # what its program does not say
        content |= {"uses": list(turn.uses), "kind": list(turn.kind)}
    if turn.state is not None and turn.number in kept:
        pooled = turn.state.earlier.pooled.astype("<f4").tobytes()
        own = turn.state.written
        whole = own if turns_of(own) <= kept else turn.state.earlier.turn.program
        content["program"] = write_program(whole, schema)
        content["pooled"] = base64.b64encode(pooled).decode("ascii")
    return content


def read_record(
    text: str, parser: Parser | ParserByLanguage, schema: Schema, now: str | None
) -> tuple[tuple[Turn, ...], str]:
    """The turns of a record, and what later questions are given of them. Raises as `Session.load` says."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError, TypeError):
        raise _damaged("it is not JSON") from None
    if not isinstance(content, dict) or content.get("fastsql_conversation") != FORMAT:
        raise _damaged(f"it is no conversation of format {FORMAT}")
    if content.get("schema") != names_digest(schema):
        raise SchemaError(
            "its tables and columns are not those that the conversation is about",
            where=f"schema {schema.name!r}",
            remedy="Load it into a session over the schema that it was exported from.",
        )
    parser = parser.for_model(content.get("model"))
    name = parser.bundle.config.name
    if content.get("model") not in (None, name):
        raise ModelError(
            "another model has read the conversation",
            where=f"the model {name!r}",
            remedy="Load it into a session of the parser that it was exported from, or ask again.",
        )
    rows, mode = content.get("turns"), content.get("history")
    if not isinstance(rows, list) or mode not in ("qs", "qq"):
        raise _damaged("it has no list of turns, or no history")
    if len(rows) > parser.limits.turns:
        raise LimitError.exceeded("turns", len(rows), parser.limits.turns, where="the conversation")
    turns: list[Turn] = []
    for place, row in enumerate(rows):
        try:
            turn = _read(row, turns, parser, schema, now)
        except (ValueError, KeyError, TypeError, AssertionError, IndexError, RecursionError):
            raise _damaged(f"turn {place + 1} cannot be read") from None
        except (FastSQLError, IllegalActionError):
            raise _damaged(f"the query of turn {place + 1} does not fit this schema") from None
        turns.append(turn.asked_alone if mode == "qq" else turn)
    return tuple(turns), mode


def _read(row: Any, earlier: Sequence[Turn], parser: Parser, schema: Schema, now: str | None) -> Turn:
    number, abstained = row["number"], row["abstained"]
    question, asked = (_question(text, parser.limits) for text in (row["question"], row.get("asked", "")))
    if type(number) is not int or number < 1 or any(turn.number >= number for turn in earlier):
        raise ValueError("turns are numbered in order, from 1")
    standing = _standing(row["standing"])
    if type(abstained) is not bool or type(row["forgotten"]) is not bool:
        raise ValueError("a flag is neither true nor false")
    plain = Turn(
        question,
        None,
        0.0,
        abstained=abstained,
        reason=_text_or_none(row["reason"]),
        dialect=str(row["dialect"]),
        threshold=None if row["threshold"] is None else _share(row["threshold"]),
        number=number,
        forgotten=row["forgotten"],
        asked=asked,
    )
    if "program" not in row:
        return replace(plain, abstained=True, unanswerable=_share(row["unanswerable"]))
    known = [turn for turn in earlier if turn.state is not None]
    places = {turn.number: place for place, turn in enumerate(known)}
    most = _SLACK * parser.limits.actions
    written = read_program_rows(row["program"], schema)
    used = turns_of(written)
    if (
        not 0 < len(written) <= most
        or not used <= set(places)
        or any(number not in standing for number in (*used, number))
    ):
        raise ValueError("its query is empty or too long, or refers to a turn that is not there")
    own = _with_numbers(written, places)
    states = [turn.state for turn in known if turn.state is not None]
    offered = [state.earlier.turn for state in states]
    space = ActionSpace.for_question(schema, "", np.zeros((0, 2), np.int32), turns=offered)
    read = read_turn(own, space)
    if read.actions > most:  # a few turns that refer to each other twice would grow beyond any memory
        raise ValueError("its query is too long where it is written out")
    sql = render(read.program, schema, dialect=plain.dialect, now=now)
    verify(sql, schema, dialect=plain.dialect, limits=parser.limits)
    pooled = _vector(row["pooled"], parser.bundle.config.model.d)
    both = combined(standing)
    uses, kind = tuple(sorted(used)), kinds_of(own, [one.program for one in offered])
    if not used and "uses" in row:
        uses, kind = _numbers(row["uses"], number), _kinds(row["kind"])
    return replace(
        plain,
        best=sql,
        confidence=both.confidence,
        unanswerable=both.unanswerable,
        uses=uses,
        kind=kind,
        standing=standing,
        referring=None
        if not used
        else render_references(
            own,
            read.program,
            [one.program for one in offered],
            [turn.number for turn in known],
            schema,
            dialect=plain.dialect,
            now=now,
        ),
        state=TurnState(
            EarlierTurn(read, pooled),
            written,
            names_digest(schema),
            parser.bundle.config.name,
        ),
    )


def _with_numbers(program: Program, places: Mapping[int, int]) -> Program:
    most = max(places, default=0) + 1
    return renumbered(program, [places.get(number, 0) for number in range(most)])


def _standing(found: Any) -> dict[int, Assessment]:
    if not isinstance(found, dict):
        raise ValueError("probabilities are not those of turns")
    return {int(number): Assessment(_share(p), _share(u)) for number, (p, u) in found.items()}


def _question(value: Any, limits: Limits) -> str:
    if not isinstance(value, str) or len(value) > limits.question_characters:
        raise ValueError("a question is no text, or longer than questions are")
    return value


def _numbers(found: Any, number: int) -> tuple[int, ...]:
    if not isinstance(found, list) or any(type(one) is not int or not 1 <= one < number for one in found):
        raise ValueError("a turn uses what is no turn before it")
    return tuple(found)


def _kinds(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or not found or not set(found) <= set(KINDS):
        raise ValueError("a turn is of a kind that there is not")
    return tuple(found)


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError("a probability is not between 0 and 1")
    return float(value)


def _text_or_none(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError("a reason is no text")
    return value


def _vector(text: Any, d: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    try:
        found = np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").astype(np.float32)
    except binascii.Error as error:
        raise ValueError("a vector is not written in base 64") from error
    if found.shape != (d,) or not math.isfinite(float(np.abs(found).sum())):
        raise ValueError("a vector has another width, or is not finite")
    return found


def _damaged(what: str) -> ConversationError:
    # Raised without its cause: what could not be read may be text of a question.
    return ConversationError(
        f"the conversation cannot be read: {what}", remedy="Give the text of an export, as it was written."
    )
