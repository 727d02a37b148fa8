"""The report of an adaptation as one HTML page: what it brought, where it is weak, and pairs to look at.

It shares its parts with the page of `fastsql eval`. The pairs that people tick come out as a file of seeds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql import __version__
from fastsql.adapt.comparison import PRECISION, Comparison, Verdict, floats, recommended_penalty
from fastsql.adapt.fitting import ENOUGH_SEEDS
from fastsql.datasets import Example
from fastsql.errors import FastSQLError
from fastsql.evaluation.calibration import PRECISIONS, risk_coverage
from fastsql.evaluation.page_parts import document, html_facts, html_table, said_number, said_share
from fastsql.evaluation.plots import reliability_figure, svg_of
from fastsql.evaluation.shares import Share
from fastsql.whole_file import write_whole

if TYPE_CHECKING:
    from fastsql.adapt.adapting import Adapted

MOST = 40
"""Columns, and values of one, that are listed."""
_NOTICE = (
    "<b>This page shows questions, SQL and values of the database.</b> Keep it where the data may be kept, and share it "
    "only with people who may see the data."
)
_ASK = (
    "Tick the pairs whose SQL answers the question. What you save is a file of seeds: adapt again with "
    "<code>--seeds</code>, beside those that you have."
)
_MADE = (
    "<p><b>None of these questions is by people.</b> Made ones are easier: seeds, twenty and more, would tell how good it "
    "is on yours.</p>\n"
)
_SCRIPT = """
document.getElementById("save").onclick = () => {
  const pairs = JSON.parse(document.getElementById("pairs").textContent);
  const right = pairs.filter((pair, place) => document.getElementById("pair" + place).checked);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(right, null, 1)], {type: "application/json"}));
  link.download = "seeds.json";
  link.click();
  URL.revokeObjectURL(link.href);
};
"""


def write_report(path: str | Path, adapted: Adapted, command: str = "") -> None:
    """Write the page, for its owner alone to read. `command`: what was typed."""
    write_whole(Path(path), report_page(adapted, command).encode("utf-8", errors="replace"), private=True)


def report_page(adapted: Adapted, command: str = "") -> str:
    """The page as text."""
    found = adapted.comparison
    told = adapted.told
    title = f"{adapted.bundle.name}: {told['base']} adapted"
    by_hand = sum(one.by_hand and one.answerable for one in found.after)
    body = [
        f"<h1>{escape(title)}</h1>\n",
        f"<p class=soft>{len(found.after):,} questions that nothing was trained on, {by_hand:,} of them by people</p>\n",
        f"<div class=notice>{_NOTICE}</div>\n",
        "<h2>What was done</h2>\n",
        html_facts(_facts(adapted, command)),
        "<h2>Before and after</h2>\n",
        "" if by_hand else _MADE,
        _figures(found),
        "<h2>Confidence</h2>\n",
        _confidence(found),
        "<h2>By what queries have</h2>\n",
        _parts(found, lambda one: one.constructs),
        "<h2>By table</h2>\n",
        _parts(found, lambda one: one.tables),
        "<h2>What no pair touches</h2>\n",
        _untouched(found),
        "<h2>Pairs that were made</h2>\n",
        _pairs(found.shown),
    ]
    return document(title, body, _SCRIPT if found.shown else "")


def _facts(adapted: Adapted, command: str) -> list[tuple[str, str]]:
    told = adapted.told
    lines = [
        ("fastsql", __version__),
        ("base", str(told["base"])),
        ("updates", f"{told['updates']:,}"),
        ("pairs made", f"{told['pairs']:,}"),
        ("seeds trained on", f"{told['seeds']:,}"),
        ("seed of everything random", str(told["seed"])),
        *_worded(told.get("worded")),
        ("duration", f"{adapted.seconds / 60:.1f} minutes"),
    ]
    return [*lines, ("command", command)] if command else lines


def _worded(worded: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """What a language model was asked and answered, where one was."""
    if worded is None:
        return []
    dropped = "; ".join(f"{count:,} {why}" for why, count in worded["dropped"].items()) or "none"
    return [
        ("questions worded by", str(worded["model"])),
        ("queries worded", f"{worded['queries']:,}, and {worded['not_asked']:,} that were not asked about"),
        ("wordings", f"{worded['wordings']:,}, of which {worded['pairs']:,} became pairs"),
        ("lines dropped", dropped),
    ]


def judged_by(found: Sequence[Verdict]) -> list[Verdict]:
    """The questions that confidence is judged by: people's where there are enough, else all."""
    people = [one for one in found if one.by_hand]
    return people if len(people) >= ENOUGH_SEEDS else list(found)


def _figures(found: Comparison) -> str:
    parts: Mapping[str, Callable[[Verdict], bool]] = {
        "people's questions right": lambda one: one.by_hand and one.answerable,
        "made questions right": lambda one: not one.by_hand and one.answerable,
    }
    rows = []
    for label, is_part in parts.items():
        sides = [[one.right for one in side if is_part(one)] for side in (found.before, found.after)]
        if sides[1]:
            rows.append(
                (label, f"{len(sides[1]):,}", *(said_share(Share(sum(side), len(side))) for side in sides))
            )
    for level in PRECISIONS:
        covered = [
            100 * risk_coverage(*floats(judged_by(side))).coverage_at(level / 100)
            for side in (found.before, found.after)
        ]
        label = f"answered with {level} % of answers right (threshold in hindsight)"
        rows.append((label, f"{len(judged_by(found.after)):,}", *map(said_number, covered)))
    penalty = recommended_penalty(judged_by(found.after))
    share = f"{100 * PRECISION:.0f} % of the given answers"
    advice = (
        f"Recommended penalty: {penalty:.1f}. From there on {share} were right on these questions."
        if penalty is not None
        else f"At no penalty were {share} right on these questions: more seeds would help."
    )
    return html_table(("", "questions", "base, %", "adapted, %"), rows) + f"<p>{advice}</p>\n"


def _confidence(found: Comparison) -> str:
    try:
        drawn = [
            svg_of(name, lambda side=side: reliability_figure(*floats(judged_by(side))))  # type: ignore[misc]
            for name, side in (("base", found.before), ("adapted", found.after))
            if side
        ]
    except FastSQLError as error:  # matplotlib comes with no extra of ours that adapting needs
        return f"<p>Without a diagram: {escape(error.what)}.</p>\n"
    figures = "".join(f"<figure>{one}</figure>" for one in drawn)
    return f"<div class=figures>{figures}</div>\n<p class=soft>The base, and what it became.</p>\n"


def _parts(found: Comparison, names: Callable[[Verdict], Sequence[str]]) -> str:
    asked = [[one for one in side if one.answerable] for side in (found.before, found.after)]
    known = sorted({name for one in asked[1] for name in names(one)})
    rows = []
    for name in known:
        sides = [[one.right for one in side if name in names(one)] for side in asked]
        rows.append(
            (name, f"{len(sides[1]):,}", *(said_share(Share(sum(side), len(side))) for side in sides))
        )
    return html_table(("", "questions", "base right, %", "adapted right, %"), rows) or "<p>none</p>\n"


def _untouched(found: Comparison) -> str:
    if not found.columns and not found.values:
        return "<p>Every column is asked about, and every known value of a category.</p>\n"
    rows = []
    if found.columns:
        rows.append(("columns", _listed(found.columns)))
    rows += [(name, _listed(values)) for name, values in found.values]
    return html_facts(rows)


def _listed(names: Sequence[str]) -> str:
    more = f", and {len(names) - MOST:,} more" if len(names) > MOST else ""
    return f"{', '.join(names[:MOST])}{more}"


def _pairs(shown: Sequence[Example]) -> str:
    if not shown:
        return "<p>none</p>\n"
    items = "".join(
        f"<p><label><input type=checkbox id=pair{place}> {escape(one.question)}</label><br>"
        f"<code>{escape(one.sql or '')}</code></p>\n"
        for place, one in enumerate(shown)
    )
    rows: list[dict[str, Any]] = [{"question": one.question, "sql": one.sql} for one in shown]
    held = json.dumps(rows, ensure_ascii=False).replace("<", "\\u003c")
    return (
        f"<p>{_ASK}</p>\n{items}<p><button id=save>Save the ticked pairs</button></p>\n"
        f'<script type="application/json" id="pairs">{held}</script>\n'
    )
