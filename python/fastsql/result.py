"""What a parse gives back: SQL or an honest refusal, with the evidence for it."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

_SHOWN = 88
"""Characters of SQL in a repr; a notebook shows all of it through ``_repr_html_``."""


@dataclass(frozen=True)
class Link:
    """A span of the question and the schema item or value that it was linked to.

    `span` counts characters of the question, ``[start, end)``; `text` is what stands there. `kind` is one of "table",
    "column", "value", "constant"; `target` names the item (``admissions.age``) or shows the value as it stands in SQL.
    """

    span: tuple[int, int]
    text: str
    kind: str
    target: str


@dataclass(frozen=True)
class Literal:
    """A literal of the SQL and where it came from.

    `source` is its provenance: "span", "number", "ordinal", "date", "quoted", "dictionary", "schema", "constant" or
    "closed" (the few literals that are always to be had). `span` counts characters of the question and is None for values
    that the question does not write; `column` is the qualified name of the column it is compared with, or "".
    """

    value: str | int | float
    source: str
    span: tuple[int, int] | None = None
    column: str = ""


@dataclass(frozen=True)
class Alternative:
    """A further hypothesis of the beam, with its own confidence."""

    sql: str
    confidence: float


def _no_alternatives() -> tuple[Alternative, ...]:
    return ()


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """The outcome of one parse.

    Attributes:
        question: the question as it was asked.
        best: the SQL of the first hypothesis, even if it was refused; None if there is none at all.
        confidence: estimated probability that `best` is right, 0 to 1.
        abstained: whether the parser refuses to answer.
        reason: why it refuses, a sentence; "" where it does not.
        links: what of the question was linked to what of the schema, in order of the question.
        values: the literals of `best` with their provenance.
        timings: milliseconds a stage, in order, such as ``{"link": 0.4, "encode": 3.1, "decode": 4.0}``.
        dialect: the SQL dialect of `best`.
        render_alternatives: renders the further hypotheses; called at most once, by :attr:`alternatives`.
    """

    question: str
    best: str | None
    confidence: float
    abstained: bool = False
    reason: str = ""
    links: tuple[Link, ...] = ()
    values: tuple[Literal, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    dialect: str = "sqlite"
    render_alternatives: Callable[[], tuple[Alternative, ...]] = _no_alternatives

    @property
    def sql(self) -> str | None:
        """The SQL to run, or None where the parser refuses."""
        return None if self.abstained else self.best

    @cached_property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The further hypotheses, best first; rendered when first asked for."""
        return self.render_alternatives()

    def __bool__(self) -> bool:
        return self.sql is not None

    def __repr__(self) -> str:
        if self.abstained:
            return f"Result(abstained, confidence={self.confidence:.2f}, reason={self.reason!r})"
        sql = self.best or ""
        shown = sql if len(sql) <= _SHOWN else sql[: _SHOWN - 3] + "..."
        return f"Result({shown!r}, confidence={self.confidence:.2f})"

    def _repr_html_(self) -> str:
        """For notebooks: the question with its links marked, the SQL, the meaning of each link, the timings."""
        rows = "".join(
            f"<tr><td>{html.escape(link.text)}</td><td>{html.escape(link.kind)}</td>"
            f"<td><code>{html.escape(link.target)}</code></td></tr>"
            for link in self.links
        )
        table = f"<table><tr><th>question</th><th></th><th>linked to</th></tr>{rows}</table>" if rows else ""
        head = f"Refused: {html.escape(self.reason)}" if self.abstained else "Answered"
        best = f"<pre><code>{html.escape(self.best)}</code></pre>" if self.best else ""
        times = ", ".join(f"{html.escape(stage)} {value:.1f} ms" for stage, value in self.timings.items())
        return (
            f"<div><p>{self._marked_question()}</p>"
            f"<p><b>{head}</b>, confidence {self.confidence:.0%}</p>"
            f"{best}{table}<p><small>{times}</small></p></div>"
        )

    def _marked_question(self) -> str:
        parts: list[str] = []
        position = 0
        for link in sorted(self.links, key=lambda link: link.span):
            start, end = link.span
            if start < position:
                continue
            target = html.escape(link.target, quote=True)
            parts.append(html.escape(self.question[position:start]))
            parts.append(f'<mark title="{target}">{html.escape(self.question[start:end])}</mark>')
            position = end
        return "".join(parts) + html.escape(self.question[position:])

    def __getstate__(self) -> dict[str, Any]:
        # The renderer holds on to the model and to the beam; what is sent to another process is its outcome.
        state = dict(self.__dict__)
        state["alternatives"] = self.alternatives
        state["render_alternatives"] = _no_alternatives
        return state
