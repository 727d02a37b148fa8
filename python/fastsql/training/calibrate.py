"""Fits a bundle's confidence on questions that its model was not trained on.

    python -m fastsql.training.calibrate BUNDLE --config configs/ehr-en.toml

The questions are the dev set that training carves out, and the unanswerable questions of the training files, which are
never trained on: whatever is written for those is wrong. Each is parsed as in use (beam 4), a parse is right if its
result is gold's, and a logistic regression over the figures of the beam (`fastsql.reliability.confidence`) learns to
tell right from wrong. The figures that are printed and kept are of cross-fitted confidences: a template's own
questions had no part in the regression that judges them. That they are few, and that the dev set also chose the
checkpoint, is said by their number: report on a set that nothing was chosen on.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import FastSQLError
from fastsql.model.bundle import CONFIG, Bundle, open_bundle, write_json, write_manifest
from fastsql.reliability.confidence import FEATURES, Confidence, threshold
from fastsql.reliability.familiarity import Familiarity
from fastsql.training.config import TrainConfig, load_config
from fastsql.training.data import Corpus, load_corpus
from fastsql.training.logistic import (
    Flags,
    Floats,
    area_under_curve,
    calibration_error,
    cross_fitted,
    fit_logistic,
    reliability_score,
)
from fastsql.training.observe import (
    EHRSQL_NOW,
    SEEN,
    UNANSWERABLE,
    UNSEEN,
    Observation,
    Report,
    held_out,
    observe,
)

PRIOR: Mapping[str, float] = {SEEN: 0.8 * 0.72, UNSEEN: 0.8 * 0.28, UNANSWERABLE: 0.2}
"""Shares of the kinds of questions in use. Training data has nearly no unanswerable ones and the dev set's two parts are
as large as it was convenient to make them, so neither says what a user asks. These are the shares that EHRSQL 2024
states for what its systems meet: 80 % of its valid questions can be answered, and 28 % of those have a SQL skeleton that
training lacks. A confidence is right for such a mix, and too high for one with more odd questions."""

PENALTIES = (0.0, 10.0)


class CalibrationError(FastSQLError):
    """A confidence cannot be fitted."""


@dataclass(frozen=True)
class Calibration:
    """A fitted confidence and the figures of its cross-fitted predictions."""

    confidence: Confidence
    figures: Mapping[str, Any]


# ---------------------------------------------------------------- the fit


def fit(
    observations: Sequence[Observation], features: Sequence[str] = FEATURES, seed: int = 0
) -> Calibration:
    """A confidence from what was observed; raises CalibrationError where all parses are right, or all are wrong."""
    labels = np.array([item.right for item in observations], dtype=bool)
    if not labels.any() or labels.all():
        kind = "right" if labels.any() else "wrong"
        raise CalibrationError(
            f"all of {len(labels)} parses are {kind}",
            where="calibration",
            remedy="Train longer, or take more questions.",
        )
    columns = [FEATURES.index(name) for name in features]
    evidence = np.array([item.features for item in observations], dtype=np.float64)[:, columns]
    parts = np.array([item.question.part for item in observations])
    mass = _mass(parts)
    intercept, weights = fit_logistic(evidence, labels, mass)
    named = dict(zip(features, weights, strict=True))
    found = cross_fitted(evidence, labels, mass, [item.question.group for item in observations], seed)
    return Calibration(
        Confidence(round(intercept, 6), tuple(round(float(named.get(name, 0.0)), 6) for name in FEATURES)),
        _figures(found, labels, mass, parts),
    )


def _figures(found: Floats, labels: Flags, mass: Floats, parts: NDArray[np.str_]) -> dict[str, Any]:
    """How good the confidences `found` are. "rs": by the penalty that is decided by, then by the one scored with."""
    answerable = parts != UNANSWERABLE
    scores: dict[str, dict[str, float]] = {}
    answered: dict[str, float] = {}
    for decided in PENALTIES:
        given = found >= threshold(decided)
        answered[f"{decided:g}"] = round(float(100 * np.average(given, weights=mass)), 2)
        scores[f"{decided:g}"] = {
            f"{scored:g}": round(reliability_score(given, labels, answerable, mass, scored), 2)
            for scored in PENALTIES
        }
    return {
        "questions": {part: int((parts == part).sum()) for part in PRIOR},
        "right": {part: int(labels[parts == part].sum()) for part in PRIOR},
        "prior": {part: round(share, 4) for part, share in PRIOR.items()},
        "ece": round(calibration_error(found, labels, mass), 4),
        "auc": round(area_under_curve(found, labels, mass), 4),
        "rs": scores,
        "answered": answered,
    }


def _mass(parts: NDArray[np.str_]) -> Floats:
    """What each question counts, so that the parts have the shares of `PRIOR`; float64[n], of mean 1."""
    counts = {part: max(int((parts == part).sum()), 1) for part in PRIOR}
    mass = np.array([PRIOR[part] / counts[part] for part in parts.tolist()])
    scaled: Floats = mass / mass.mean()
    return scaled


def with_settings(bundle: Bundle, settings: Mapping[str, Any]) -> Bundle:
    """The bundle, in memory, with further settings."""
    merged = {**bundle.config.settings, **settings}
    return dataclasses.replace(bundle, config=dataclasses.replace(bundle.config, settings=merged))


def write_settings(bundle: Bundle) -> None:
    """Stores the settings of a bundle in its folder, and lists its files anew."""
    write_json(bundle.path / CONFIG, bundle.config.to_dict())
    write_manifest(bundle.path)


def calibrate(
    path: str | Path,
    config: TrainConfig,
    corpus: Corpus,
    *,
    limit: int | None = None,
    now: str = EHRSQL_NOW,
    threads: int = 0,
    features: Sequence[str] = FEATURES,
    store: bool = True,
    report: Report | None = None,
) -> Calibration:
    """Fits the confidence of a bundle on what `corpus` holds out, and stores it in the bundle.

    The words of what was trained on are stored with it (see `Familiarity`). `corpus` must be the one of training: same
    configuration, same seed. `now` is the time of the data sets' questions; only `features` get a weight.

    Raises CalibrationError, DatasetError, ModelError.
    """
    familiarity = Familiarity.from_questions(sample.pair.question for sample in corpus.train)
    bundle = with_settings(open_bundle(path), {"familiarity": familiarity.to_settings()})
    questions = held_out(config, corpus, limit, config.seed)
    observed = observe(bundle, config, questions, now=now, threads=threads, report=report)
    found = fit(observed, features, config.seed)
    confidence = {
        "intercept": found.confidence.intercept,
        "weights": dict(zip(FEATURES, found.confidence.weights, strict=True)),
        "figures": dict(found.figures),
    }
    if store:
        write_settings(with_settings(bundle, {"confidence": confidence}))
    return found


def describe(calibration: Calibration) -> str:
    """The figures as a few lines for people."""
    figures = calibration.figures
    lines = [
        f"{part:<13}{figures['right'][part]:>4} right of {figures['questions'][part]:>4},"
        f" counted as {share:.0%} of use"
        for part, share in figures["prior"].items()
    ]
    lines.append(f"cross-fitted: ECE {figures['ece']:.3f}, AUC {figures['auc']:.3f}")
    for decided, scores in figures["rs"].items():
        shown = ", ".join(f"RS({scored}) {score:.1f}" for scored, score in scores.items())
        lines.append(f"penalty {decided:>2}: {figures['answered'][decided]:.1f} % answered, {shown}")
    return "\n".join(lines)


# ---------------------------------------------------------------- command line


def main(arguments: Sequence[str] | None = None) -> int:
    """Calibrates the bundle that the command line names; 0, or 2 where that cannot be done."""
    parser = argparse.ArgumentParser(
        prog="python -m fastsql.training.calibrate",
        description="Fit a bundle's confidence on held-out questions.",
    )
    parser.add_argument("bundle", type=Path, help="folder of the bundle; its config.json is changed")
    parser.add_argument("--config", type=Path, required=True, help="the configuration that it was trained by")
    parser.add_argument("--seed", type=int, help="of training (default: what the bundle says)")
    parser.add_argument("--limit", type=int, metavar="N", help="at most N questions of each kind")
    parser.add_argument(
        "--features",
        metavar="NAMES",
        help=f"try these of {','.join(FEATURES)}; the bundle stays as it is",
    )
    parser.add_argument(
        "--now", default=EHRSQL_NOW, metavar="TIME", help="the time of the questions (default: %(default)s)"
    )
    parser.add_argument(
        "--threads", type=int, default=0, metavar="N", help="of ONNX Runtime (default: its choice)"
    )
    parser.add_argument("--cache", type=Path, help="folder of converted programs, such as a run's")
    options = parser.parse_args(arguments)

    def note(text: str) -> None:
        sys.stderr.write(f"{text}\n")

    try:
        if options.limit is not None and options.limit < 1:
            raise CalibrationError(
                f"{options.limit} questions are too few", where="--limit", remedy="Give at least 1."
            )
        features = tuple(options.features.split(",")) if options.features else FEATURES
        if unknown := sorted(set(features) - set(FEATURES)):
            known = f"Known are {', '.join(FEATURES)}."
            raise CalibrationError(f"there is no feature {unknown[0]!r}", where="--features", remedy=known)
        trained = open_bundle(options.bundle).config.settings.get("training", {})
        config = load_config(options.config)
        seed = options.seed if options.seed is not None else trained.get("seed", config.seed)
        config = dataclasses.replace(config, seed=seed)
        with tempfile.TemporaryDirectory() as temporary:
            corpus = load_corpus(config.data, config.seed, options.cache or Path(temporary), note)
        found = calibrate(
            options.bundle,
            config,
            corpus,
            limit=options.limit,
            now=options.now,
            threads=options.threads,
            features=features,
            store=not options.features,
            report=note,
        )
    except FastSQLError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{describe(found)}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
