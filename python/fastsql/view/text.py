"""An explanation as lines for a terminal: question with marks, SQL, reasons, alternatives, timings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fastsql.explanation.trail import Decision, Line, Reason, WordRoles
from fastsql.view.cells import cells, clean, cut, pad, wrap
from fastsql.view.differences import differences
from fastsql.view.figures import GUESS, certainty, further_suggestions, milliseconds
from fastsql.view.marks import Mark, marks, numbers
from fastsql.view.sql_layout import kind, lay_out, places

if TYPE_CHECKING:
    from fastsql.explanation.explanation import Explanation
    from fastsql.result import Alternative, Result

_NARROWEST = 48
_BAR = 40
_WORDS = 24
"""Cells that the words of a reason have in the list."""
_NAME = 20
"""Cells that the name of a symbol or of a stage has."""
_HANGING = 4
"""Cells that what a long line of SQL goes on with stands further in."""
_DOUBT = "? "
"""Before each line of a guess."""
_STYLED = frozenset({"keyword", "string", "number"})


def as_lines(
    explanation: Explanation, width: int, *, decisions: bool, roles: bool, timings: bool
) -> list[Line]:
    """The lines of an explanation, in `width` cells; see `Explanation.lines`."""
    result = explanation.result
    width = max(width, _NARROWEST)
    sections = [
        list(question_lines(result.question, marks(explanation.reasons), width)),
        list(_verdict(explanation, width)),
        list(_query(explanation.result, width)),
        list(_reasons(explanation, width)),
        list(_alternatives(result.best or "", result.alternatives, width)),
        list(_roles(explanation.roles, width)) if roles else [],
        list(_decisions(explanation.decisions, width)) if decisions else [],
        list(_timings(list(result.timings.items()), width)) if timings else [],
    ]
    lines: list[Line] = []
    for section in filter(None, sections):
        lines += [[], *section] if lines else section
    return lines


def question_lines(question: str, marked: Sequence[Mark], width: int) -> Iterator[Line]:
    """The question, and below each of its lines the numbers of what is marked there."""
    text = clean(question)
    for start, end in wrap(text, width):
        shown = text[start:end].rstrip()
        pieces: Line = []
        below = ""
        place = start
        for mark in marked:
            first, last = max(mark.span[0], start), min(mark.span[1], start + len(shown))
            if first >= last:
                continue
            pieces += [(text[place:first], ""), (text[first:last], mark.kind)]
            below = pad(below, cells(text[start:first]))
            below += str(mark.number).center(cells(text[first:last]), "~")
            place = last
        yield [*pieces, (text[place : start + len(shown)], "")]
        if below:
            yield [(below, "dim")]


def suggestion_lines(result: Result, width: int) -> Iterator[Line]:
    """What would help where a question was refused, but for what the reason says already."""
    for told in further_suggestions(result):
        yield from _indented(told, width, 0)


def guess_lines(sql: str, width: int) -> Iterator[Line]:
    """The best hypothesis of a refusal, which must not be taken for an answer, with or without colours."""
    yield [(GUESS, "bad")]
    for line in sql_lines(sql, width - len(_DOUBT)):
        yield [(_DOUBT, "bad"), *((text, "dim") for text, _ in line)]


def sql_lines(sql: str, width: int) -> Iterator[Line]:
    """SQL laid out; long lines are wrapped between tokens, and within one only if it is longer than a line."""
    for laid_out in lay_out(clean(sql)):
        indent = min(len(laid_out) - len(laid_out.lstrip()), width // 2)
        line: Line = [(" " * indent, "")]
        taken, previous = indent, len(laid_out) - len(laid_out.lstrip())
        for start, end in places(laid_out):
            gap, token = laid_out[previous:start], laid_out[start:end]
            previous = end
            style = kind(token) if kind(token) in _STYLED else ""
            if taken + cells(gap) + cells(token) > width:
                yield line
                gap = " " * (indent + _HANGING)
                line, taken = [], 0
            parts = [token[slice(*part)] for part in wrap(token, width - indent - _HANGING)]
            for part in parts[:-1]:
                yield [*line, (gap, ""), (part, style)]
                gap = " " * (indent + _HANGING)
                line, taken = [], 0
            line += [(gap, ""), (parts[-1], style)]
            taken += cells(gap) + cells(parts[-1])
        yield line


def bar(share: float, length: int, at: float | None = None) -> str:
    """A bar of `length` characters, filled to `share` of 0 to 1; a stroke stands `at` a place."""
    filled = round(min(max(share, 0.0), 1.0) * length)
    drawn = "#" * filled + "." * (length - filled)
    if at is None:
        return drawn
    place = min(int(at * length), length - 1)
    return f"{drawn[:place]}|{drawn[place + 1 :]}"


def _query(result: Result, width: int) -> Iterator[Line]:
    if result.best:
        yield from guess_lines(result.best, width) if result.abstained else sql_lines(result.best, width)


def _verdict(explanation: Explanation, width: int) -> Iterator[Line]:
    result = explanation.result
    head = ("Refused", "bad") if result.abstained else ("Answered", "good")
    yield [head, (f": {certainty(result)}", "")]
    if result.reason:
        yield from _indented(result.reason, width, 0)
    if result.note:
        yield from _indented(result.note, width, 0)
    if result.remembered:
        yield from _indented(result.remembered.sentence, width, 0)
    yield from suggestion_lines(result, width)
    length = min(_BAR, width - 8)
    drawn = bar(result.confidence, length, result.threshold)
    yield [("0 ", "dim"), (drawn, "bad" if result.abstained else "good"), (" 1", "dim")]


def _reasons(explanation: Explanation, width: int) -> Iterator[Line]:
    number_of = numbers(explanation.reasons)
    placed = explanation.in_question
    if placed:
        yield [("Words of the question", "head")]
        column = min(max(cells(clean(reason.text)) for reason in placed), _WORDS, width // 3)
        previous = None
        for reason in placed:
            again = reason.span == previous
            previous = reason.span
            mark = "" if again or reason.span is None else str(number_of.get(reason.span, ""))
            words = "" if again else cut(clean(reason.text), column)
            yield from _reason(f"  {mark:>2}  {pad(words, column)}  ", reason, width)
    beyond = explanation.beyond_question
    if beyond:
        yield [("Beyond the words of the question", "head")]
        for reason in beyond:
            yield from _reason("  ", reason, width)


def _reason(head: str, reason: Reason, width: int) -> Iterator[Line]:
    """What something stands for, and why, on the same line if there is room."""
    target = f"{reason.kind} {clean(reason.target)}"
    why = clean(reason.why)
    indent = cells(head)
    if indent + cells(target) + 3 + cells(why) <= width:
        yield [(head, ""), (target, reason.kind), (f"  ({why})", "dim")]
        return
    for number, line in enumerate(_indented(target, width, indent, reason.kind)):
        yield [(head, ""), *line[1:]] if number == 0 else line
    yield from _indented(f"({why})", width, indent, "dim")


def _indented(text: str, width: int, indent: int, style: str = "") -> Iterator[Line]:
    text = clean(text)
    for start, end in wrap(text, max(width - indent, _NARROWEST // 2)):
        yield [(" " * indent, ""), (text[start:end].rstrip(), style)]


def _alternatives(best: str, alternatives: Sequence[Alternative], width: int) -> Iterator[Line]:
    if alternatives:
        yield [("Other queries, by their confidence", "head")]
    for alternative in alternatives:
        head = f"  {alternative.confidence:.2f}  "
        found = differences(best, alternative.sql)
        if found is None:
            for number, line in enumerate(sql_lines(alternative.sql, width - len(head))):
                yield [(head if number == 0 else " " * len(head), ""), *line]
            continue
        for number, difference in enumerate(found):
            lead = head if number == 0 else " " * len(head)
            room = width - len(lead)
            removed, added = clean(difference.removed), clean(difference.added)
            if cells(removed) + cells(added) + 4 <= room:
                yield [(lead, ""), (removed, "removed"), (" -> ", "dim"), (added, "added")]
                continue
            for sign, text, style in (("-", removed, "removed"), ("+", added, "added")):
                for start, end in wrap(text, room - 2):
                    yield [(lead, ""), (f"{sign} {text[start:end].rstrip()}", style)]
                    lead, sign = " " * len(head), " "


def _roles(words: Sequence[WordRoles], width: int) -> Iterator[Line]:
    if not words:
        return
    yield [("Parts of the query that words stand in", "head")]
    column = min(max(cells(clean(one.text)) for one in words), _WORDS, width // 3)
    for one in words:
        head = f"  {pad(cut(clean(one.text), column), column)}  "
        for number, line in enumerate(_indented(", ".join(one.roles), width, cells(head))):
            yield [(head, ""), *line[1:]] if number == 0 else line


def _decisions(decisions: Sequence[Decision], width: int) -> Iterator[Line]:
    if not decisions:
        return
    yield [(f"{len(decisions)} decisions", "head")]
    yield from _indented(
        "the symbol expanded, out of how many actions, how surely, what was taken", width, 2, "dim"
    )
    symbols = [cut(clean(decision.symbol), _NAME) for decision in decisions]
    column = max(map(cells, symbols))
    for number, (symbol, decision) in enumerate(zip(symbols, decisions, strict=True), 1):
        head = f"  {number:3}  {pad(symbol, column)}  {decision.legal:4}  {decision.probability:5.3f}  "
        taken = clean(f"{decision.kind} {decision.choice}")
        if cells(head) + cells(taken) <= width:
            yield [(head, "dim"), (taken, "")]
        else:
            yield [(head.rstrip(), "dim")]
            yield from _indented(taken, width, 7)


def _timings(timings: Sequence[tuple[str, float]], width: int) -> Iterator[Line]:
    if not timings:
        return
    total = sum(value for _, value in timings)
    yield [(f"Time: {milliseconds(total)} ms", "head")]
    stages = [cut(clean(stage), _NAME) for stage, _ in timings]
    column = max(map(cells, stages))
    for stage, (_, value) in zip(stages, timings, strict=True):
        drawn = bar(value / total if total else 0, max(min(_BAR, width - column - 14), 1))
        yield [(f"  {pad(stage, column)}  {milliseconds(value):>7}  ", ""), (drawn.rstrip("."), "dim")]
