"""How good p and u are, and what follows for a penalty: the figures that calibration prints and a bundle carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fastsql.reliability.decision import threshold
from fastsql.training.logistic import (
    Flags,
    Floats,
    area_under_curve,
    calibration_error,
    reliability_score,
)
from fastsql.training.questions import AS_WRITTEN, MADE, SEEN, UNANSWERABLE, UNSEEN
from fastsql.training.reliability_fit import PRIOR, RIGHT, UNANSWERED, Predicted, Table, predict_across

PENALTIES = (0.0, 5.0, 10.0)
DECIDED = 10.0
"""The penalty that decisions are shown for where one has to do: the parser's own."""

STEPS: Mapping[str, tuple[str, ...]] = {
    "beam": RIGHT,
    "beam, entropy": (*RIGHT, "entropy"),
    "beam, strangeness": (*RIGHT, "strangeness"),
    "beam, strangeness, coverage, names": (*RIGHT, "strangeness", "coverage", "named"),
    "correspondence alone": ("correspondence",),
    "state alone": ("state",),
    "all": UNANSWERED,
    "all, and correspondence": (*UNANSWERED, "correspondence"),
}
"""What u is told from, step by step; q is told from the beam in all of them."""


def figures(table: Table, predicted: Predicted, *, as_written: bool = False) -> dict[str, Any]:
    """Figures over the data set's own questions, weighted to their shares in use; rates in percent.

    "se" is the share of unanswerable questions that are refused, "sp" that of answerable ones that are answered, at
    penalty 10. "rs" holds RS(c) of the decisions at penalty c, "rs_10" RS(c) of those at penalty 10. With `as_written`,
    unanswerable questions have their own numbers where these were changed.
    """
    chosen, mass = _weighed(table, as_written=as_written)
    p, u = predicted.confidence[chosen], predicted.unanswerable[chosen]
    right, refuse, mass = table.right[chosen], table.unanswerable[chosen], mass[chosen]
    answers = {c: _answers(p, u, c) for c in PENALTIES}
    given = answers[DECIDED]
    return {
        "ece": round(calibration_error(p, right, mass), 4),
        "auc": round(area_under_curve(p, right, mass), 4),
        "auc_unanswerable": round(area_under_curve(u, refuse, mass), 4),
        "rs": {f"{c:g}": _score(answers[c], right, refuse, mass, c) for c in PENALTIES},
        "rs_10": {f"{c:g}": _score(given, right, refuse, mass, c) for c in PENALTIES},
        "answered": _percent(given, mass),
        "wrong": _percent(given & ~right, mass),
        "se": _percent(~given[refuse], mass[refuse]),
        "sp": _percent(given[~refuse], mass[~refuse]),
    }


def made_figures(table: Table, predicted: Predicted) -> dict[str, float]:
    """Share of the made questions that are refused at penalty 10, in percent, by kind."""
    kinds = np.array([group.partition(" ")[0] for group in table.groups])
    refused = ~_answers(predicted.confidence, predicted.unanswerable, DECIDED)
    made = table.parts == MADE
    return {
        str(kind): round(float(100 * refused[made & (kinds == kind)].mean()), 1)
        for kind in np.unique(kinds[made])
    }


def all_figures(table: Table, unanswered: Sequence[str] = UNANSWERED, seed: int = 0) -> dict[str, Any]:
    """What a bundle says of itself: counts, and the figures without and with inspected answers."""
    plain = predict_across(table, unanswered, seed=seed)
    found: dict[str, Any] = {
        "questions": {part: int((table.parts == part).sum()) for part in (*PRIOR, AS_WRITTEN)},
        "right": {part: int(table.right[table.parts == part].sum()) for part in (SEEN, UNSEEN)},
        **figures(table, plain),
        "as_written": figures(table, plain, as_written=True),
        "made": made_figures(table, plain),
    }
    if (table.plain != table.inspected).any():
        looked = predict_across(table, unanswered, inspected=True, seed=seed)
        found["inspected"] = figures(table, looked) | {"made": made_figures(table, looked)}
    return found


def steps_table(table: Table, seeds: Sequence[int] = (0, 1, 2)) -> str:
    """The figures of each step of `STEPS`, means over `seeds`, as a table in Markdown."""
    lines = [
        "| what u is told from | AUC of u | AUC of p | ECE | RS(0) | RS(5) | RS(10) | wrong, % | Se | Sp |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    steps = [(name, names, False) for name, names in STEPS.items()]
    if (table.plain != table.inspected).any():
        steps += [(f"{name}, answers inspected", STEPS[name], True) for name in ("beam", "all")]
    for name, names, inspected in steps:
        rows = [
            figures(table, predict_across(table, names, inspected=inspected, seed=seed)) for seed in seeds
        ]
        flat = [
            [
                row["auc_unanswerable"],
                row["auc"],
                row["ece"],
                *row["rs_10"].values(),
                row["wrong"],
                row["se"],
                row["sp"],
            ]
            for row in rows
        ]
        cells = [f"{value:.{digits}f}" for value, digits in zip(np.mean(flat, axis=0), _DIGITS, strict=True)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


_DIGITS = (3, 3, 3, 1, 1, 1, 2, 1, 1)


def _weighed(table: Table, *, as_written: bool) -> tuple[Flags, Floats]:
    """The data set's own rows, and what each counts: as `PRIOR` says, with the made questions' share for its own."""
    chosen = np.isin(table.parts, (SEEN, UNSEEN, UNANSWERABLE))
    mass = table.mass.copy()
    if as_written:
        written = table.parts == AS_WRITTEN
        chosen = (chosen & ~table.changed) | written
        mass[written] = mass[table.changed].mean() if table.changed.any() else 0.0
    refuse = chosen & table.unanswerable
    if mass[refuse].sum():
        mass[refuse] *= mass[chosen & ~refuse].sum() * 0.2 / 0.8 / mass[refuse].sum()
    return chosen, mass


def _answers(p: Floats, u: Floats, penalty: float) -> Flags:
    return p > np.array([threshold(penalty, float(one)) for one in u])


def _score(given: Flags, right: Flags, refuse: Flags, mass: Floats, penalty: float) -> float:
    return round(reliability_score(given, right, ~refuse, mass, penalty), 2)


def _percent(flags: Flags, mass: Floats) -> float:
    return round(float(100 * np.average(flags, weights=mass)), 2) if len(flags) and mass.sum() else 0.0
