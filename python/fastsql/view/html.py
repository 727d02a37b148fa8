"""An explanation as HTML for notebooks: self-contained, without scripts, everything that it shows escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fastsql.view.differences import differences
from fastsql.view.figures import GUESS, certainty, further_suggestions, milliseconds
from fastsql.view.marks import Mark, marks, numbers, sql_numbers
from fastsql.view.markup import escaped, isolated, section, table
from fastsql.view.sql_layout import kind, lay_out, places

if TYPE_CHECKING:
    from fastsql.explanation.explanation import Explanation
    from fastsql.explanation.trail import Decision, Reason
    from fastsql.result import Alternative, Result

_KINDS = frozenset({"value", "time", "column", "table"})
_BAR = 240
"""Length of a full bar, in pixels."""


def as_html(explanation: Explanation) -> str:
    """The explanation as one `section` element with its style."""
    result = explanation.result
    state = "refused" if result.abstained else "answered"
    parts = [
        f'<p class="question" dir="auto">{_question(result.question, marks(explanation.reasons))}</p>',
        _verdict(result),
        _query(result, sql_numbers(explanation.reasons)),
        _reasons(explanation),
        _alternatives(result.best or "", result.alternatives),
        _decisions(explanation.decisions),
        _timings(result),
    ]
    return section(f"question {state}", parts)


def _of_kind(name: str) -> str:
    return name if name in _KINDS else "value"


def _question(question: str, marked: Iterable[Mark]) -> str:
    pieces: list[str] = []
    place = 0
    for mark in marked:
        start, end = mark.span
        pieces.append(escaped(question[place:start]))
        words = isolated(question[start:end])
        pieces.append(f'<mark class="{_of_kind(mark.kind)}">{words}<sup>{mark.number}</sup></mark>')
        place = end
    return "".join(pieces) + escaped(question[place:])


# ---------------------------------------------------------------- sections


def _verdict(result: Result) -> str:
    word = (
        '<span class="bad">✗ Refused</span>' if result.abstained else '<span class="good">✓ Answered</span>'
    )
    told = certainty(result)
    pair = result.remembered.sentence if result.remembered else None
    said = [*filter(None, (result.reason, result.note, pair)), *further_suggestions(result)]
    reason = "".join(f'<p dir="auto">{escaped(text)}</p>' for text in said)
    return f"<p>{word}, {told}</p>{reason}{_bar(result.confidence, told, at=result.threshold)}"


def _bar(share: float, label: str, *, at: float | None = None, length: int = _BAR) -> str:
    """A bar filled to `share` of 0 to 1, with a stroke `at` a place; `label` says the same in words."""
    filled = min(max(share, 0.0), 1.0) * length
    stroke = (
        ""
        if at is None
        else f'<line class="needed" x1="{at * length:.1f}" x2="{at * length:.1f}" y1="0" y2="12"/>'
    )
    return (
        f'<svg role="img" aria-label="{html.escape(label)}" width="{length}" height="12">'
        f'<rect class="ground" width="{length}" height="12"/><rect class="fill" width="{filled:.1f}" height="12"/>'
        f"{stroke}</svg>"
    )


def _query(result: Result, number_of: dict[str, int]) -> str:
    """The SQL of an answer; that of a refusal stands apart, faint and without the colours of SQL."""
    if not result.best:
        return ""
    title, name = (GUESS, ' class="guess"') if result.abstained else ("SQL", "")
    return f"<h4>{title}</h4><pre{name}><code>{_sql(result.best, number_of)}</code></pre>"


def _sql(sql: str, number_of: dict[str, int]) -> str:
    lines = []
    for line in lay_out(sql):
        pieces: list[str] = []
        place = 0
        for start, end in places(line):
            pieces.append(escaped(line[place:start]))
            pieces.append(_token(line[start:end], number_of))
            place = end
        lines.append("".join(pieces) + escaped(line[place:]))
    return "\n".join(lines)


def _token(token: str, number_of: dict[str, int]) -> str:
    of_kind = kind(token)
    name = {"keyword": "keyword", "string": "literal", "number": "literal"}.get(of_kind, "")
    shown = escaped(token)
    if token in number_of:
        return f'<span class="{name}" data-mark="{number_of[token]}">{shown}</span>'
    return f'<span class="{name}">{shown}</span>' if name else shown


def _reasons(explanation: Explanation) -> str:
    number_of = numbers(explanation.reasons)
    parts = []
    if explanation.in_question:
        rows = [
            (str(number_of.get(reason.span or (-1, -1), "")), isolated(reason.text), *_standing(reason))
            for reason in explanation.in_question
        ]
        parts.append("<h4>Words of the question</h4>" + table(("mark", "words", "stand for", "why"), rows))
    if explanation.beyond_question:
        beyond = [_standing(reason) for reason in explanation.beyond_question]
        parts.append("<h4>Beyond the words of the question</h4>" + table(("in the SQL", "why"), beyond))
    return "".join(parts)


def _standing(reason: Reason) -> tuple[str, str]:
    target = f"{escaped(reason.kind)} <code>{isolated(reason.target)}</code>"
    return target, f'<span class="why">{escaped(reason.why)}</span>'


def _alternatives(best: str, alternatives: Sequence[Alternative]) -> str:
    if not alternatives:
        return ""
    rows = []
    for alternative in alternatives:
        found = differences(best, alternative.sql)
        changes = (
            "a query of its own"
            if found is None
            else "<br>".join(
                f"<del>{escaped(change.removed)}</del> → <ins>{escaped(change.added)}</ins>"
                for change in found
            )
        )
        query = "\n".join(lay_out(alternative.sql))
        whole = (
            f"<details><summary>the whole query</summary><pre><code>{escaped(query)}</code></pre></details>"
        )
        rows.append((f"{alternative.confidence:.2f}", f"{changes}{whole}"))
    return "<h4>Other queries</h4>" + table(("confidence", "how they differ"), rows, frozenset({0}))


def _decisions(decisions: Sequence[Decision]) -> str:
    if not decisions:
        return ""
    rows = [
        (
            str(number),
            escaped(decision.symbol),
            str(decision.legal),
            f"{escaped(decision.kind)} <code>{isolated(decision.choice)}</code>",
            f"{decision.probability:.3f}",
            _bar(decision.probability, f"probability {decision.probability:.3f}", length=80),
        )
        for number, decision in enumerate(decisions, 1)
    ]
    listed = table(("", "expanded", "legal", "taken", "probability", ""), rows, frozenset({0, 2, 4}))
    return f"<details><summary>{len(decisions)} decisions of the decoder</summary>{listed}</details>"


def _timings(result: Result) -> str:
    if not result.timings:
        return ""
    total = sum(result.timings.values())
    rows = [
        (
            escaped(stage),
            milliseconds(value),
            _bar(value / total if total else 0, f"{milliseconds(value)} ms"),
        )
        for stage, value in result.timings.items()
    ]
    listed = table(("stage", "ms", ""), rows, frozenset({1}))
    return f"<details open><summary>{milliseconds(total)} ms</summary>{listed}</details>"
