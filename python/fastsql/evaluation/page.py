"""A report as one HTML page: no script, no other file, no request to anywhere. It shows questions and SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from fastsql.evaluation.breakdown import KINDS, TEMPLATES, Part, parts_of
from fastsql.evaluation.categories import DECISIONS, QUERIES, sort_by_category
from fastsql.evaluation.interactions import InteractionScores
from fastsql.evaluation.page_examples import Examples
from fastsql.evaluation.page_parts import document, html_facts, html_table, said_number, said_share
from fastsql.evaluation.plots import DIAGRAMS, svg
from fastsql.evaluation.report import Report
from fastsql.evaluation.shares import FEW, FEW_OF_A_KIND

EXAMPLES = 3
"""Examples a category."""
ROWS = 15
"""Rows a table of templates."""

_NOTICE = (
    "<b>This page shows questions and SQL.</b> Both may name patients, and SQL may hold values of the database. "
    "Keep it where the data may be kept, and share it only with people who may see the data."
)
_UNDER_FIGURES = (
    "Accuracies are of the best hypothesis before refusal, over answerable questions. Intervals are percentiles of a "
    "bootstrap that draws questions, or whole SQL skeletons with all their questions. Where it says Wilson, a share is of "
    f"fewer than {FEW} questions, or has fewer than {FEW_OF_A_KIND} of one outcome, of which a bootstrap would say too "
    "little: both intervals are then Wilson's, by question."
)
_UNDER_CONVERSATIONS = (
    "Each turn was asked with the turns before it as they were answered, by best hypotheses, right or wrong. The first "
    "failure of a conversation without one is counted as one turn after its last (EHR-SeqSQL, appendix C.2)."
)
_UNDER_DIAGRAMS = (
    "Bins hold equally many questions; intervals are Wilson's, of 95 %. Whatever is written for a question without an "
    "answer counts as wrong."
)
_ABOVE_PARTS = "<p class=soft>In brackets: Wilson's 95 % intervals, by question.</p>\n"
_TITLES = {
    "db_id": "By database",
    "hardness": "By hardness",
    "level": "By the level that the data set states",
    "difficulty": "By the difficulty that the data set states",
    "skeleton": "By SQL skeleton",
    "template": "By question template",
    "q_tag": "By question tag (q_tag)",
    "template_id": "By template number (template_id)",
}
_NAMES = {
    "ex": "execution accuracy, %",
    "em": "exact match, %",
    "em_values": "exact match with values, %",
    "valid_sql": "SQL that runs, %",
}
# Templates may be written with values filled in, so every table of templates stays on this page and out of the figures.
_PART_COLUMNS = ("", "questions", "execution accuracy", "exact match", "with values", "wrong")


def write_page(path: str | Path, report: Report, title: str, *, examples: int = EXAMPLES) -> None:
    """Write the page.

    Raises:
        FastSQLError: matplotlib is not installed.
    """
    # A lone surrogate in a question is no reason to lose the page.
    Path(path).write_text(page(report, title, examples=examples), encoding="utf-8", errors="replace")


def page(report: Report, title: str, *, examples: int = EXAMPLES) -> str:
    """The page as text: figures with intervals, diagrams, what went wrong with up to `examples` of each, parts, templates.

    Raises:
        FastSQLError: matplotlib is not installed.
    """
    figures = report.to_json()
    details = figures["details"]
    body = [
        f"<h1>{escape(title)}</h1>\n",
        f"<p class=soft>{figures['n']:,} questions, {details['answerable']:,} of them answerable</p>\n",
        f"<div class=notice>{_NOTICE}</div>\n",
        "<h2>What was measured</h2>\n",
        html_facts(report.provenance.lines(figures["n"])),
        "<h2>Figures</h2>\n",
        _figures(figures),
        _conversations(report.interactions),
        "<h2>Confidence</h2>\n",
        f"<div class=figures>{''.join(f'<figure>{svg(name, report)}</figure>' for name in DIAGRAMS)}</div>\n",
        f"<p class=soft>{_UNDER_DIAGRAMS}</p>\n",
        "<h2>What went wrong</h2>\n",
        _wrong(report, examples),
        f"<h2>Parts</h2>\n{_ABOVE_PARTS}",
        *(_parts(report, kind) for kind in KINDS),
        f"<h2>Templates</h2>\n{_ABOVE_PARTS}",
        *(_templates(report, kind, details["templates"]) for kind in TEMPLATES),
    ]
    return document(title, body)


def _figures(figures: Mapping[str, Any]) -> str:
    details = figures["details"]
    intervals = details["intervals"] or {"by_example": {}, "by_template": {}, "wilson": ()}
    rows = [(name, label, figures[name]) for name, label in _NAMES.items()]
    rows += [(f"rs_{name}", f"reliability RS({name}), %", value) for name, value in figures["rs"].items()]
    rows += [
        ("se", "unanswerable refused (Se), %", details["se"]),
        ("sp", "answerable answered (Sp), %", details["sp"]),
    ]
    others = "execution accuracy where gold's answer is not empty, %"
    rows.append(("ex_gold_not_empty", others, details["ex_gold_not_empty"]))
    for name in ("seen", "unseen"):
        if name in details:
            part = details[name]
            rows.append(
                (f"{name}.ex", f"{name} skeletons ({part['n']:,}): execution accuracy, %", part["ex"])
            )
            rows.append((f"{name}.sp", f"{name} skeletons: answered (Sp), %", part["sp"]))
    calibration = details["calibration"]
    rows.append(("ece", "calibration error, 0 to 1", calibration["ece"]))
    for level, covered in calibration["coverage"].items():
        label = f"questions answered with {level} % of answers right (threshold in hindsight), %"
        rows.append((f"coverage_{level}", label, covered))
    table = [
        (label, said_number(value), *(_interval(intervals, by, name) for by in ("by_example", "by_template")))
        for name, label, value in rows
    ]
    counts = [
        ("wrong answers", figures["wrong"]),
        ("refusals", figures["abstained"]),
        ("refusals of answerable questions", details["abstained_answerable"]),
        ("gold answers empty, NULL or 0", details["gold_empty"]),
        ("gold SQL that fails", details["gold_failed"]),
        ("stopped at the time limit", details["timeouts"]),
        *((f"errors of the parser: {kind}", count) for kind, count in details["errors"].items()),
        *((f"{name} of a parse, ms", value) for name, value in figures["latency_ms"].items()),
    ]
    return (
        html_table(("", "figure", "95 % by question", "95 % by template"), table)
        + f"<p class=soft>{_UNDER_FIGURES}</p>\n"
        + html_table(
            ("", "count"), [(label, said_number(value)) for label, value in counts if value is not None]
        )
    )


def _conversations(scores: InteractionScores | None) -> str:
    if scores is None:
        return ""
    ends = scores.intervals or {}

    def row(name: str, label: str, value: float | None, digits: int = 1) -> tuple[str, str, str]:
        told = "-" if value is None else f"{value:.{digits}f}"
        drawn = " to ".join(f"{end:.{digits}f}" for end in ends.get(name, ())) or "-"
        return label, told, f"{drawn} (Wilson)" if name in scores.wilson else drawn

    table = [
        row(
            "qm",
            f"question match (QM): turns that are right{', by their queries' if scores.by_form else ''}, %",
            scores.qm.percent,
        ),
        row(
            "im",
            f"interaction match (IM): conversations of {scores.n:,} right throughout, %",
            scores.im.percent,
        ),
        row("iff", f"index of the first failure (IFF), at best {scores.iff_perfect:.2f}", scores.iff, 2),
        row("iff_percent", "IFF, % of the best", scores.iff_percent),
    ]
    columns = ("", "turns", "question match")
    parts = (("By turn", scores.by_turn), ("By kind of turn", scores.by_kind))
    return (
        f"<h2>Conversations</h2>\n{html_table(('', 'figure', '95 % by conversation'), table)}"
        f"<p class=soft>{_UNDER_CONVERSATIONS}</p>\n"
        + "".join(
            f"<h3>{title}</h3>\n"
            + html_table(
                columns, [(name, f"{share.n:,}", said_share(share)) for name, share in shares.items()]
            )
            for title, shares in parts
            if shares
        )
    )


def _wrong(report: Report, most: int) -> str:
    found = sort_by_category(report.judged)
    meanings = {"decisions": DECISIONS, "queries": QUERIES}
    heads = {
        "decisions": "Decisions",
        "queries": "Wrong best hypotheses, refused or not: what differs from gold (several may hold)",
    }
    parts = []
    for kind, items in found.items():
        rows = [(name, f"{len(some):,}", meanings[kind][name]) for name, some in items.items()]
        parts.append(
            f"<h3>{heads[kind]}</h3>\n" + (html_table(("", "questions", ""), rows) or "<p>none</p>\n")
        )
    examples = Examples(most)
    if most:
        parts.append(
            "<h2>Examples</h2>\n<p class=soft>The most confident of each category. Marked is where the two texts "
            "differ.</p>\n"
        )
        parts += [examples.of_categories(items, meanings[kind]) for kind, items in found.items()]
    return "".join(parts)


def _parts(report: Report, kind: str) -> str:
    parts = parts_of(report.judged, KINDS[kind])
    return f"<h3>{_TITLES[kind]}</h3>\n{html_table(_PART_COLUMNS, map(_row, parts))}" if parts else ""


def _templates(report: Report, kind: str, spreads: Mapping[str, Mapping[str, Any]]) -> str:
    if kind not in spreads:
        return ""
    spread = spreads[kind]
    parts = sorted(
        parts_of(report.judged, TEMPLATES[kind]), key=lambda part: (-part.wrong, -part.n, part.name)
    )
    said = (
        f"{spread['distinct']:,} templates, {spread['singletons']:,} of a single question, the largest of "
        f"{spread['largest']:,}; {spread['all_right']:,} with all questions right. If every template counts once: "
        f"execution accuracy {said_number(spread['macro_ex'])}, exact match {said_number(spread['macro_em'])}, with values "
        f"{said_number(spread['macro_em_values'])}."
    )
    shown = f" Below: the {min(ROWS, len(parts)):,} with the most wrong." if len(parts) > ROWS else ""
    return f"<h3>{_TITLES[kind]}</h3>\n<p>{said}{shown}</p>\n{html_table(_PART_COLUMNS, map(_row, parts[:ROWS]))}"


def _row(part: Part) -> tuple[str, ...]:
    return (
        part.name,
        f"{part.n:,}",
        *(said_share(share) for share in part.shares.values()),
        f"{part.wrong:,}",
    )


def _interval(intervals: Mapping[str, Any], by: str, name: str) -> str:
    ends: Sequence[float] | None = intervals[by].get(name)
    if ends is None:
        return "-"
    how = " (Wilson)" if name in intervals["wilson"] else ""
    return f"{said_number(float(ends[0]))} to {said_number(float(ends[1]))}{how}"
