"""Observations as arrays, with what each counts: what `fastsql.training.calibration.fit` fits regressions on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from fastsql.reliability.correspondence import PER_CHARACTERS, common_openings, openings_of
from fastsql.reliability.evidence import Evidence
from fastsql.training.calibration.folds import on_scale
from fastsql.training.calibration.logistic import Flags, Floats
from fastsql.training.calibration.observe import Observation
from fastsql.training.calibration.questions import (
    ANSWERABLE,
    AS_WRITTEN,
    EVERYDAY,
    FOREIGN,
    FOREIGN_MADE,
    MADE,
    PLAIN,
    SEEN,
    UNANSWERABLE,
    UNSEEN,
)
from fastsql.training.calibration.unanswerable.made import REMOVED
from fastsql.training.calibration.usable import usable

PRIOR: Mapping[str, float] = {SEEN: 0.8 * 0.72, UNSEEN: 0.8 * 0.28, UNANSWERABLE: 0.15, MADE: 0.05}
FOREIGN_PRIOR: Mapping[str, float] = {FOREIGN: 0.8, FOREIGN_MADE: 0.2}
"""Shares of the kinds of questions in use, of schemas that were trained on and of others. Training data has few unanswerable
ones and the dev set's two parts are as large as it was convenient to make them, so neither says what a user asks. These are
the shares that EHRSQL 2024 states for what its systems meet: 80 % of its valid questions can be answered, and 28 % of those
have a SQL skeleton that training lacks. A confidence is right for such a mix and too high where more are odd."""
MOST_OF_A_SCHEMA = 60
"""So many questions over one schema that was not trained on count fully; more of them count as much together. It is schemas
that what is said of others is learnt from."""
BESIDE: Mapping[str, float] = {PLAIN: 0.1, EVERYDAY: 0.1}
"""What others count beside them, on the schemas trained on; no figure is of these."""

NAMES = tuple(field.name for field in fields(Evidence))
features_of = attrgetter(*NAMES)
"""The features of a hypothesis in the order of `NAMES`; of a hundred thousand, `astuple` would take many times as long."""
Numbers = NDArray[np.int_]


@dataclass(frozen=True, eq=False)
class Others:
    """The hypotheses that were not the likeliest, m rows.

    `rows` int[m]: the observation of each; `inspected` float[m, features]: in the order of `Evidence`; `right` bool[m].
    """

    rows: Numbers
    inspected: Floats
    right: Flags

    def of_rows(self, numbers: Numbers) -> Others:
        """Those of some observations, which are numbered anew in that order."""
        place = {number: new for new, number in enumerate(numbers.tolist())}
        kept = [i for i, row in enumerate(self.rows.tolist()) if row in place]
        rows = np.array([place[row] for row in self.rows[kept].tolist()], dtype=np.int_)
        return Others(rows, self.inspected[kept], self.right[kept])


@dataclass(frozen=True, eq=False)
class Table:
    """Observations as arrays, n rows. `kinds` are those of made questions, "" for others.

    `plain` and `inspected`: float[n, features], in the order of `Evidence`; `state` float[n, d]; `words` float[n, k]: the
    figures and openings of the correspondence model; `changed`: whether numbers were exchanged, the question as it was
    written being among the rows, too; `mass` float[n]: how much each counts. `lacking`: what could not be fitted
    well. `errors`: what models of other folds make of what they did not see, on this one's scale (`.folds`). `told`: the
    same rows as they are in use, those in doubt with a second opinion; None where none was asked for in doubt.
    """

    parts: NDArray[np.str_]
    groups: tuple[str, ...]
    kinds: tuple[str, ...]
    plain: Floats
    inspected: Floats
    state: Floats
    words: Floats
    openings: tuple[str, ...]
    right: Flags
    changed: Flags
    mass: Floats
    others: Others
    lacking: tuple[str, ...] = ()
    errors: Table | None = None
    told: Table | None = None

    @property
    def in_use(self) -> Table:
        """The rows as they are in use."""
        return self.told or self

    @property
    def unanswerable(self) -> Flags:
        """bool[n]: whether a refusal is right."""
        return ~np.isin(self.parts, ANSWERABLE)

    @property
    def foreign(self) -> Flags:
        """bool[n]: whether the schema was not trained on."""
        return np.isin(self.parts, (FOREIGN, FOREIGN_MADE))

    @property
    def seconded(self) -> Flags:
        """bool[n]: whether a second opinion was asked for about the hypothesis."""
        found: Flags = self.plain[:, NAMES.index("likelihood")] != 0
        return found

    @property
    def telling(self) -> Floats:
        """What each counts for the first layer: nothing where a schema lacks something, which is not to be read there."""
        removed = [kind == REMOVED for kind in self.kinds]
        return np.where(removed, 0.0, self.mass)

    def rows(self, chosen: Numbers | Flags) -> Table:
        """Some of the rows."""
        numbers = np.arange(len(self.parts))[chosen]
        cut = {
            name: getattr(self, name)[numbers]
            for name in ("parts", "plain", "inspected", "state", "words", "right", "changed", "mass")
        }
        groups, kinds = (tuple(texts[i] for i in numbers) for texts in (self.groups, self.kinds))
        others = self.others.of_rows(numbers)
        return Table(
            groups=groups,
            kinds=kinds,
            openings=self.openings,
            others=others,
            errors=self.errors,
            told=None if self.told is None else self.told.rows(chosen),
            **cut,
        )

    @property
    def like(self) -> Table | None:
        """Of `errors` those of schemas that were trained on, or of others, as these rows are; None if there are none."""
        if self.errors is None or not len(self.parts):
            return None
        found = self.errors.rows(self.errors.foreign == self.foreign[0])
        return found if len(found.parts) else None


def tabulate(observations: Sequence[Observation], folds: Sequence[Sequence[Observation]] = ()) -> Table:
    """The observations that can be fitted on as arrays, `folds` being those of models of other folds.

    Raises CalibrationError where p cannot be fitted (`usable`).
    """
    observations, lacking = usable(observations)
    errors = [item for fold in folds for item in on_scale(fold, observations)]
    return replace(as_arrays(observations), lacking=lacking, errors=as_arrays(errors) if errors else None)


def as_arrays(observations: Sequence[Observation]) -> Table:
    """The observations as arrays, whatever can be fitted on them."""
    table = _as_arrays(observations)
    if all(item.told is None for item in observations):
        return table
    return replace(table, told=_as_arrays([item.in_use for item in observations]))


def _as_arrays(observations: Sequence[Observation]) -> Table:
    parts = np.array([item.question.part for item in observations])
    right = np.array([item.right for item in observations], dtype=bool)
    written = {item.question.pair.key for item in observations if item.question.part == AS_WRITTEN}
    texts = [item.question.pair.question for item in observations]
    openings = common_openings(
        text for text, part in zip(texts, parts, strict=True) if part not in (FOREIGN, FOREIGN_MADE)
    )
    words = [
        [item.shared, len(text) / PER_CHARACTERS, *(opening in own for opening in openings)]
        for item, text, own in zip(observations, texts, map(openings_of, texts), strict=True)
    ]
    return Table(
        parts,
        tuple(item.question.group for item in observations),
        tuple(item.question.kind for item in observations),
        np.array([features_of(item.evidence) for item in observations], dtype=np.float64),
        # Where nothing was run, the evidence is what it was.
        np.array([features_of(item.inspected or item.evidence) for item in observations], dtype=np.float64),
        np.array([item.state for item in observations], dtype=np.float64),
        np.array(words, dtype=np.float64),
        openings,
        right,
        np.array(
            [
                item.question.part == UNANSWERABLE and item.question.pair.key in written
                for item in observations
            ]
        ),
        _mass(parts, [item.question.group for item in observations]),
        _others(observations),
    )


def _others(observations: Sequence[Observation]) -> Others:
    found = [(row, *other) for row, item in enumerate(observations) for other in item.others]
    return Others(
        np.array([row for row, _, _ in found], dtype=np.int_),
        np.array([features_of(evidence) for _, evidence, _ in found], dtype=np.float64).reshape(
            -1, len(NAMES)
        ),
        np.array([right for _, _, right in found], dtype=bool),
    )


def shares_in_use(prior: Mapping[str, float], counts: Mapping[str, int]) -> dict[str, float]:
    """What each part counts, by how many questions it has; a missing part's share goes to its like."""
    share = dict(prior)
    for one, other in ((UNANSWERABLE, MADE), (SEEN, UNSEEN)):
        for here, like in ((one, other), (other, one)):
            if share.get(here) and not counts[here] and counts[like]:
                share[like] += share[here]
                share[here] = 0.0
    return share


def _mass(parts: NDArray[np.str_], groups: Sequence[str]) -> Floats:
    """What each question counts, so that the parts have their shares in use, 1 on average on either side."""
    mass = np.zeros(len(parts))
    for prior, most in (({**PRIOR, **BESIDE}, math.inf), (FOREIGN_PRIOR, MOST_OF_A_SCHEMA)):
        share = shares_in_use(prior, {part: int((parts == part).sum()) for part in prior})
        for part in prior:
            rows = np.flatnonzero(parts == part)
            of = [groups[row] for row in rows.tolist()]
            asked = Counter(of)
            own = np.array([min(1.0, most / asked[group]) for group in of])
            mass[rows] = share[part] * own / max(own.sum(), 1.0)
        side = np.isin(parts, list(prior))
        if mass[side].any():
            mass[side] /= mass[side & (mass > 0)].mean()
    return mass
