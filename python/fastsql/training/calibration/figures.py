"""How good p and u are, and what follows for a penalty: the figures that calibration prints and a bundle carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fastsql.evaluation.bootstrap import bootstrap
from fastsql.reliability.evidence import RERANKED, SECONDED
from fastsql.reliability.judges import threshold
from fastsql.training.calibration.fit import (
    SEARCH,
    UNANSWERED,
    UNANSWERED_ELSEWHERE,
    Predicted,
    predict_across,
)
from fastsql.training.calibration.logistic import (
    Flags,
    Floats,
    area_under_curve,
    binned_error,
    calibration_error,
    reliability_score,
)
from fastsql.training.calibration.questions import (
    ANSWERABLE,
    AS_WRITTEN,
    FOREIGN,
    FOREIGN_MADE,
    MADE,
    SEEN,
    UNANSWERABLE,
    UNSEEN,
)
from fastsql.training.calibration.table import BESIDE, PRIOR, Numbers, Table

PENALTIES = (0.0, 5.0, 10.0)
ELSEWHERE = (1.0, 10.0)
"""Penalties that decisions over schemas never trained on are shown for."""
DECIDED = 10.0
"""The penalty that decisions are shown for where one has to do: the parser's own."""

STEPS: Mapping[str, tuple[str, ...]] = {
    "beam": SEARCH,
    "beam, entropy": (*SEARCH, "entropy"),
    "beam, strangeness": (*SEARCH, "strangeness"),
    "beam, strangeness, coverage, names": (*SEARCH, "strangeness", "coverage", "named"),
    "correspondence alone": ("correspondence",),
    "state alone": ("state",),
    "all but what was passed over": tuple(name for name in UNANSWERED if name != "removed"),
    "all but what is not said": tuple(name for name in UNANSWERED if name != "unsaid"),
    "all": UNANSWERED,
    "all but words not met": tuple(name for name in UNANSWERED if name != "unmet_at_home"),
    "words not met anywhere in their place": tuple(
        "unmet" if name == "unmet_at_home" else name for name in UNANSWERED
    ),
    "all, and correspondence": (*UNANSWERED, "correspondence"),
}
"""What u is told from on schemas that were trained on, step by step; what q is told from is the same in all of them."""
STEPS_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "beam": SEARCH,
    "beam, strangeness": (*SEARCH, "strangeness"),
    "beam, strangeness, coverage, names": (*SEARCH, "strangeness", "coverage", "named"),
    "the same, words not met": (*SEARCH, "strangeness", "coverage", "named", "unmet"),
    "all": UNANSWERED_ELSEWHERE,
}
"""The same on schemas that were not."""
WITHOUT: Mapping[str, tuple[str, ...]] = {
    "all but what is left out": ("left_out",),
    "all but contradictions": ("contradicted",),
    "all but what the second opinion says": SECONDED,
}
WITHOUT_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "all but what is left out": ("left_out",),
    "all but values not used": ("unused",),
    "all but words not explained": ("unexplained",),
    "all but the reranker": RERANKED,
    "all but the second opinion": SECONDED,
}
"""Features that neither p nor u is told from, on the schemas that were trained on and on others."""


def figures(table: Table, predicted: Predicted, *, as_written: bool = False) -> dict[str, Any]:
    """Figures over the data set's own questions, weighted to their shares in use; rates in percent.

    Where it has none without an answer, the made ones stand for them; where there are none of these, either, what is said
    of unanswerable questions is None.

    "se" is the share of unanswerable questions that are refused, "sp" that of answerable ones that are answered, at
    penalty 10. "rs" holds RS(c) of the decisions at penalty c, "rs_10" RS(c) of those at penalty 10. "ece_interval" is a
    95 % bootstrap interval that draws templates and families. With `as_written`, unanswerable questions have their own
    numbers where these were changed.
    """
    table = table.in_use
    chosen, mass = _weighed(table, as_written=as_written)
    p, u = predicted.confidence[chosen], predicted.unanswerable[chosen]
    right, refuse, mass = table.right[chosen], table.unanswerable[chosen], mass[chosen]
    groups = [table.groups[i] for i in np.flatnonzero(chosen)]
    answers = {c: _answers(p, u, c) for c in PENALTIES}
    given = answers[DECIDED]
    return {
        "ece": round(calibration_error(p, right, mass), 4),
        "ece_interval": _ece_interval(p, right, mass, groups),
        "auc": round(area_under_curve(p, right, mass), 4),
        "auc_unanswerable": _auc_unanswerable(u, refuse, mass),
        "rs": {f"{c:g}": _score(answers[c], right, refuse, mass, c) for c in PENALTIES},
        "rs_10": {f"{c:g}": _score(given, right, refuse, mass, c) for c in PENALTIES},
        "answered": _percent(given, mass),
        "wrong": _percent(given & ~right, mass),
        "se": _percent(~given[refuse], mass[refuse]) if refuse.any() else None,
        "sp": _percent(given[~refuse], mass[~refuse]),
    }


def elsewhere_figures(table: Table, predicted: Predicted) -> dict[str, Any]:
    """Figures over schemas that were not trained on, four answerable questions to one that is not; rates in percent.

    What is said of unanswerable questions is None where there are none.

    By penalty: "answered", share of the answerable questions that are answered; "right", share of those answers that is
    right; "refused", share of the unanswerable ones that is refused; "rs", RS of the penalty.
    """
    chosen = table.foreign
    p, u = predicted.confidence[chosen], predicted.unanswerable[chosen]
    right, refuse, mass = table.right[chosen], table.unanswerable[chosen], table.mass[chosen]
    groups = [table.groups[i] for i in np.flatnonzero(chosen)]
    penalties = {}
    for penalty in ELSEWHERE:
        given = _answers(p, u, penalty)
        answered = given & ~refuse
        penalties[f"{penalty:g}"] = {
            "answered": _percent(given[~refuse], mass[~refuse]),
            "right": _percent(right[answered], mass[answered]),
            "refused": _percent(~given[refuse], mass[refuse]) if refuse.any() else None,
            "wrong": _percent(given & ~right, mass),
            "rs": _score(given, right, refuse, mass, penalty),
        }
    return {
        "ece": round(calibration_error(p, right, mass), 4),
        "ece_interval": _ece_interval(p, right, mass, groups),
        "auc": round(area_under_curve(p, right, mass), 4),
        "auc_unanswerable": _auc_unanswerable(u, refuse, mass),
        "penalties": penalties,
        "made": made_figures(table, predicted, FOREIGN_MADE),
    }


def made_figures(table: Table, predicted: Predicted, part: str = MADE) -> dict[str, float]:
    """Share of the made questions of a part that are refused at penalty 10, in percent, by kind."""
    kinds = np.array(table.kinds)
    refused = ~_answers(predicted.confidence, predicted.unanswerable, DECIDED)
    made = table.parts == part
    return {
        str(kind): round(float(100 * refused[made & (kinds == kind)].mean()), 1)
        for kind in np.unique(kinds[made])
    }


def all_figures(table: Table, unanswered: Sequence[str] = UNANSWERED, seed: int = 0) -> dict[str, Any]:
    """What a bundle says of itself: counts, and the figures without and with inspected answers."""
    plain = predict_across(table, unanswered, seed=seed)
    found: dict[str, Any] = {
        "questions": {
            part: int((table.parts == part).sum())
            for part in (*PRIOR, *BESIDE, AS_WRITTEN, FOREIGN, FOREIGN_MADE)
        },
        "right": {part: int(table.in_use.right[table.parts == part].sum()) for part in ANSWERABLE},
        **figures(table, plain),
        "as_written": figures(table, plain, as_written=True),
        "made": made_figures(table, plain),
    }
    if table.foreign.any():
        found["elsewhere"] = elsewhere_figures(table, plain)
    if (table.plain != table.inspected).any():
        looked = predict_across(table, unanswered, inspected=True, seed=seed)
        found["inspected"] = figures(table, looked) | {"made": made_figures(table, looked)}
        if table.foreign.any():
            found["inspected"]["elsewhere"] = elsewhere_figures(table, looked)
    return found


def steps_table(table: Table, seeds: Sequence[int] = (0, 1, 2)) -> str:
    """The figures of each step of `STEPS`, means over `seeds`, as a table in Markdown; of `STEPS_ELSEWHERE` as another.

    A side that no row is of has none.
    """
    ran = bool((table.plain != table.inspected).any())
    lines = [] if table.foreign.all() else list(_OWN_HEAD)
    for name, names, out, inspected in _steps(STEPS, WITHOUT, ran) if lines else ():
        across = [predict_across(table, names, inspected=inspected, seed=seed, without=out) for seed in seeds]
        lines.append(_line(name, [_flat(figures(table, one)) for one in across], _DIGITS))
    if not table.foreign.any():
        return "\n".join(lines)
    lines += ["", *_ELSEWHERE_HEAD] if lines else _ELSEWHERE_HEAD
    others = table.rows(table.foreign)
    for name, names, out, inspected in _steps(STEPS_ELSEWHERE, WITHOUT_ELSEWHERE, ran):
        across = [
            predict_across(others, elsewhere=names, inspected=inspected, seed=seed, without=out)
            for seed in seeds
        ]
        rows = [_flat_elsewhere(elsewhere_figures(others, one)) for one in across]
        lines.append(_line(name, rows, _ELSEWHERE_DIGITS))
    return "\n".join(lines)


def _steps(
    steps: Mapping[str, tuple[str, ...]], left_out: Mapping[str, tuple[str, ...]], ran: bool
) -> list[tuple[str, tuple[str, ...], tuple[str, ...], bool]]:
    """Name, features of u, features that are left out, whether answers are looked at."""
    found: list[tuple[str, tuple[str, ...], tuple[str, ...], bool]] = [
        (name, names, (), False) for name, names in steps.items()
    ]
    less = [(name, steps["all"], features) for name, features in left_out.items()]
    found += [(*one, False) for one in less]
    if ran:
        looked = [(name, steps[name], ()) for name in ("beam", "all")]
        found += [(f"{name}, answers inspected", names, out, True) for name, names, out in (*looked, *less)]
    return found


def _line(name: str, rows: Sequence[Sequence[float | None]], digits: Sequence[int]) -> str:
    means = np.mean(np.array(rows, dtype=np.float64), axis=0)  # None is nan
    cells = [
        "-" if np.isnan(value) else f"{value:.{places}f}" for value, places in zip(means, digits, strict=True)
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _flat(row: Mapping[str, Any]) -> list[float | None]:
    return [
        row["auc_unanswerable"],
        row["auc"],
        row["ece"],
        *row["rs_10"].values(),
        row["wrong"],
        row["se"],
        row["sp"],
    ]


def _flat_elsewhere(row: Mapping[str, Any]) -> list[float | None]:
    cells = [row["auc_unanswerable"], row["auc"], row["ece"]]
    for found in row["penalties"].values():
        cells += [found["answered"], found["right"], found["refused"]]
    return cells


_OWN_HEAD = (
    "| what u is told from | AUC of u | AUC of p | ECE | RS(0) | RS(5) | RS(10) | wrong, % | Se | Sp |",
    "|---|---|---|---|---|---|---|---|---|---|",
)
_ELSEWHERE_HEAD = (
    "| on schemas never seen | AUC of u | AUC of p | ECE | answered at 1 | right | refused | at 10 | right | refused |",
    "|---|---|---|---|---|---|---|---|---|---|",
)
_ELSEWHERE_DIGITS = (3, 3, 3, 1, 1, 1, 1, 1, 1)
_DIGITS = (3, 3, 3, 1, 1, 1, 2, 1, 1)


def _weighed(table: Table, *, as_written: bool) -> tuple[Flags, Floats]:
    """The data set's own rows, and what each counts: as `PRIOR` says, with the made questions' share for its own.

    Where no unanswerable one is its own, the made ones are taken.
    """
    own = UNANSWERABLE if (table.parts == UNANSWERABLE).any() else MADE
    chosen = np.isin(table.parts, (SEEN, UNSEEN, own))
    mass = table.mass.copy()
    if as_written:
        written = table.parts == AS_WRITTEN
        chosen = (chosen & ~table.changed) | written
        mass[written] = mass[table.changed].mean() if table.changed.any() else 0.0
    refuse = chosen & table.unanswerable
    if mass[refuse].sum():
        mass[refuse] *= mass[chosen & ~refuse].sum() * 0.2 / 0.8 / mass[refuse].sum()
    return chosen, mass


def _ece_interval(p: Floats, right: Flags, mass: Floats, groups: Sequence[str]) -> list[float]:
    """The 95 % interval of the calibration error, drawing whole groups: the lower end and the upper one."""
    # The draws are many: places in the order of p are sorted faster than p, and as it would be.
    _, place = np.unique(p, return_inverse=True)
    place, apart = place.astype(np.min_scalar_type(len(p))), p - right

    def error(rows: Numbers) -> tuple[float]:
        ordered = rows[place[rows].argsort(kind="stable")]
        return (binned_error(mass[ordered] / mass[rows].sum(), apart[ordered]),)

    low, high = bootstrap(error, len(p), groups)
    return [round(float(low[0]), 4), round(float(high[0]), 4)]


def _answers(p: Floats, u: Floats, penalty: float) -> Flags:
    return p > np.array([threshold(penalty, float(one)) for one in u])


def _score(given: Flags, right: Flags, refuse: Flags, mass: Floats, penalty: float) -> float:
    return round(reliability_score(given, right, ~refuse, mass, penalty), 2)


def _auc_unanswerable(u: Floats, refuse: Flags, mass: Floats) -> float | None:
    return round(area_under_curve(u, refuse, mass), 4) if refuse.any() else None


def _percent(flags: Flags, mass: Floats) -> float:
    return round(float(100 * np.average(flags, weights=mass)), 2) if len(flags) and mass.sum() else 0.0
