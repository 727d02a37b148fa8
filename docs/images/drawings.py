"""The pictures of one parse: links, decisions, beam, confidence, the terminal's view; and the matrix of relations."""

from __future__ import annotations

import math
from collections.abc import Iterator

from matrix import relations
from parses import BEAM, QUESTION, Parse
from svg import CHARACTER, box, dot, path, picture, text, turned

from fastsql.explanation import Line
from fastsql.grammar import read_program
from fastsql.reliability.assess import Asked, Reliability
from fastsql.view.differences import differences
from fastsql.view.marks import marks

_SIZE = 13
_ADVANCE = _SIZE * CHARACTER


def links(parse: Parse) -> str:
    """The question, and below it what each of its marked words stands for."""
    told = parse.result.explain()
    left, top, row = 20.0, 36.0, 46.0
    shapes: list[str] = [text(left, top, QUESTION, size=_SIZE, fixed=True)]
    reasons = {
        mark.span: [one for one in told.in_question if one.span == mark.span] for mark in marks(told.reasons)
    }
    for number, mark in enumerate(marks(told.reasons)):
        start, end = (left + place * _ADVANCE for place in mark.span)
        y = top + 40 + row * (len(reasons) - 1 - number)
        middle = (start + end) / 2
        dashes = {"value": "", "time": "6 3", "column": "4 2", "table": "2 2"}[mark.kind]
        shapes.append(path(f"M{start:.1f} {top + 6:g}H{end:.1f}", mark.kind, width=2.5, dashes=dashes))
        shapes.append(path(f"M{middle:.1f} {top + 6:g}V{y:g}H{middle + 14:.1f}", mark.kind, dashes=dashes))
        for line, reason in enumerate(reasons[mark.span]):
            at = y + 4 + 32 * line
            shapes.append(
                text(middle + 20, at, f"{reason.kind} {reason.target}", mark.kind, size=12, bold=True)
            )
            shapes.append(text(middle + 20, at + 15, reason.why, "faint", size=11))
    y = top + 40 + row * len(reasons) + 14
    shapes.append(text(left, y, "beyond the words of the question", size=12, bold=True))
    for reason in told.beyond_question:
        y += 18
        shapes.append(text(left, y, f"{reason.kind} {reason.target}", reason.kind, size=12))
        shapes.append(text(left + 300, y, reason.why, "faint", size=11))
    return picture(
        860,
        y + 18,
        "What the words of the question stand for",
        "; ".join(f"{one.text or 'no words'}: {one.kind} {one.target}" for one in told.reasons),
        shapes,
    )


def decisions(parse: Parse) -> str:
    """Each decision: what was expanded, how many actions the automaton offered, what was taken, how surely."""
    taken = parse.result.explain().decisions
    top, row, scale = 44.0, 19.0, 58.0
    heads = (
        (16, "no."),
        (48, "expands"),
        (176, "legal actions (log scale)"),
        (430, "taken"),
        (790, "probability"),
    )
    shapes = [text(x, 24, head, "faint", size=11) for x, head in heads]
    for number, decision in enumerate(taken):
        y = top + number * row
        shapes.append(text(16, y + 11, f"{number + 1:2}", "faint", size=11))
        shapes.append(text(48, y + 11, decision.symbol, size=12))
        length = scale * math.log10(decision.legal)
        shapes += [box(176, y, length, 14, "bar"), text(180 + length, y + 11, str(decision.legal), size=11)]
        colour = {"table": "table", "column": "column", "candidate": "value", "schema_value": "value"}
        shapes.append(
            text(430, y + 11, f"{decision.kind} {decision.choice}", colour.get(decision.kind, "ink"), size=12)
        )
        shapes.append(text(790, y + 11, f"{decision.probability:.4f}", size=11))
    offered = parse.space.size
    return picture(
        880,
        top + len(taken) * row + 12,
        "The decisions that wrote the query",
        f"{len(taken)} decisions; of {offered} actions the automaton offered {min(d.legal for d in taken)} to "
        f"{max(d.legal for d in taken)} at a time.",
        shapes,
    )


def beam(parse: Parse) -> str:
    """The beam: at each step the hypotheses that were kept, and which continue which."""
    left, top, across, down = 60.0, 150.0, 38.0, 34.0
    shapes = [text(14, top + rank * down + 4, f"{rank + 1}.", "faint", size=11) for rank in range(BEAM)]
    shapes.append(text(14, top - 26, "rank", "faint", size=11))
    best = _winning(parse)
    for number, step in enumerate(parse.steps[1:], 1):
        x = left + number * across
        for rank, origin in enumerate(step.origins):
            y, back = top + rank * down, top + origin * down
            won = best.get(number) == rank and best.get(number - 1) == origin
            curve = (
                f"M{x - across:g} {back:g}C{x - across / 2:g} {back:g} {x - across / 2:g} {y:g} {x:g} {y:g}"
            )
            shapes.append(path(curve, "value" if won else "line", width=3 if won else 1.5))
    for number, step in enumerate(parse.steps):
        x = left + number * across
        shapes.append(text(x, top + BEAM * down + 2, str(number + 1), "faint", size=10, anchor="middle"))
        for rank in range(len(step.actions)):
            radius, colour = (4.5, "value") if best.get(number) == rank else (3, "faint")
            shapes += [dot(x, top + rank * down, radius, colour)]
    for number, decision in enumerate(parse.result.explain().decisions):
        shapes.append(turned(left + number * across + 4, top - 12, decision.choice, angle=-50))
    y = top + BEAM * down + 30
    shapes.append(text(14, y, "finished, with log-probability and confidence", size=12, bold=True))
    texts = [parse.result.confidence, *(one.confidence for one in parse.result.alternatives)]
    for number, (hypothesis, confidence) in enumerate(zip(parse.search.finished, texts, strict=False), 1):
        y += 19
        shapes.append(
            text(
                14,
                y,
                f"{number}.  {hypothesis.score:8.4f}  {confidence:.2f}  {_differs(parse, number - 1)}",
                size=12,
            )
        )
    y += 19
    rest = parse.search.unfinished
    shapes.append(text(14, y, f"    {rest:8.4f}        the best that was left unfinished", "faint", size=12))
    return picture(
        left + len(parse.steps) * across + 150,
        y + 16,
        "The beam",
        f"{len(parse.steps)} steps of at most {BEAM} hypotheses, with the path of the query that won.",
        shapes,
    )


def _winning(parse: Parse) -> dict[int, int]:
    """Rank of the winning query's beginning at each step."""
    won = parse.search.finished[0].actions
    ranks: dict[int, int] = {0: 0}
    prefixes: list[tuple[int, ...]] = [()]
    for number, step in enumerate(parse.steps[1:], 1):
        prefixes = [(*prefixes[o], a) for o, a in zip(step.origins, step.actions, strict=True)]
        if won[:number] in prefixes:
            ranks[number] = prefixes.index(won[:number])
    return ranks


def _differs(parse: Parse, number: int) -> str:
    if number == 0:
        return "the query that was taken"
    found = differences(parse.result.best or "", parse.result.alternatives[number - 1].sql)
    return "another query" if found is None else "; ".join(f"{one.removed} -> {one.added}" for one in found)


def confidence(parse: Parse) -> str:
    """What each feature adds to the log-odds of having no answer, and where the confidence stands against the threshold."""
    settings = parse.parser.bundle.config.settings
    known = Reliability.from_settings(settings, parse.parser.bundle.config.model.d)
    mean = parse.memory.rows[: len(parse.prepared.offsets)].mean(axis=0)
    asked = Asked(QUESTION, parse.prepared, parse.links, mean)
    program = read_program(parse.search.finished[0].actions, parse.space)
    found = known.evidence(asked, parse.search, 0, program, parse.result.links)
    # A bundle from before judges the SQL alone.
    regression = known.judge.unanswerable or known.judge.right
    rows = [("intercept", "", regression.intercept)]
    rows += [
        (name, f"{getattr(found, name):.2f} x {weight:+.3f}", weight * getattr(found, name))
        for name, weight in regression.weights.items()
    ]
    total = regression.log_odds(found)
    widest = max(abs(value) for _, _, value in (*rows, ("", "", total)))
    zero, scale, top = 470.0, 170 / widest, 44.0
    shapes = [text(16, 24, "feature", "faint", size=11), text(140, 24, "value x weight", "faint", size=11)]
    shapes.append(text(zero, 24, "adds to the log-odds", "faint", size=11, anchor="middle"))
    for number, (name, product, value) in enumerate([*rows, ("sum", "", total)]):
        y = top + number * 24
        shapes.append(text(16, y + 12, name, bold=name == "sum"))
        shapes.append(text(140, y + 12, product, "faint", size=11))
        start, length = zero + min(value, 0) * scale, abs(value) * scale
        shapes.append(box(start, y, length, 16, "bar" if value >= 0 else "bad"))
        x, anchor = (start + length + 6, "start") if value >= 0 else (start - 6, "end")
        shapes.append(text(x, y + 12, f"{value:+.2f}", size=11, anchor=anchor))
    bottom = top + 24 * (len(rows) + 1)
    shapes.append(path(f"M{zero:g} {top - 6:g}V{bottom:g}", "ink", width=1))
    y, length = bottom + 34, 600.0
    needed = parse.result.threshold or 0.0
    shapes.append(box(16, y, length, 16, "panel", edge="line"))
    shapes.append(box(16, y, length * parse.result.confidence, 16, "bar"))
    shapes.append(path(f"M{16 + length * needed:.1f} {y - 6:g}v28", "ink", width=2))
    shapes.append(
        text(16 + length * needed, y - 10, f"needed {needed:.3f}", "faint", size=11, anchor="middle")
    )
    shapes.append(text(16 + length + 10, y + 13, f"confidence {parse.result.confidence:.3f}", bold=True))
    return picture(
        820,
        y + 34,
        "Where the confidence comes from",
        f"Log-odds {total:.2f} of having no answer, a confidence of {parse.result.confidence:.3f}; {needed:.3f} is needed.",
        shapes,
    )


def terminal(parse: Parse) -> str:
    """What `Result.show` writes to a terminal, without the timings: these differ from run to run."""
    lines = parse.result.explain().lines(100, timings=False)
    colours = {
        "head": "ink",
        "good": "value",
        "bad": "time",
        "dim": "faint",
        "keyword": "column",
        "string": "value",
    }
    colours |= {"number": "value", "removed": "bad", "added": "value"}
    shapes = [box(0, 0, 860, 24 + 18 * len(lines), "panel", edge="line")]
    for number, line in enumerate(lines):
        shapes += _pieces(line, 26 + 18 * number, colours)
    return picture(
        860,
        24 + 18 * len(lines),
        "An explanation in a terminal",
        parse.result.explain().text(100, timings=False),
        shapes,
    )


def _pieces(line: Line, y: float, colours: dict[str, str]) -> Iterator[str]:
    x = 18.0
    for content, style in line:
        shown = content.strip()
        if shown:
            at = x + (len(content) - len(content.lstrip())) * _ADVANCE
            bold = style in ("head", "good", "bad", "keyword")
            yield text(at, y, shown, colours.get(style, style or "ink"), size=_SIZE, bold=bold, fixed=True)
        x += len(content) * _ADVANCE


PICTURES = {
    "links": links,
    "relations": relations,
    "decisions": decisions,
    "beam": beam,
    "confidence": confidence,
    "terminal": terminal,
}
