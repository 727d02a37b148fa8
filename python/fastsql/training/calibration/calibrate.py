"""Fits a bundle's two probabilities on questions that its model was not trained on.

The questions are the dev set that training carves out, the unanswerable questions of the training files, which are never
trained on, and further unanswerable ones that are made (`.questions`). Each is parsed as in use (beam 4), a
parse is right if its result is gold's, and regressions over the evidence learn to tell right from wrong and answerable from
not (`.fit`). The figures that are printed and kept are of cross-fitted predictions: a
template's own questions had no part in what judges them. That they are few, and that the dev set also chose the
checkpoint, is said by their number: report on a set that nothing was chosen on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fastsql.model.bundle import CONFIG, Bundle, open_bundle, write_json, write_manifest
from fastsql.parser.weigh import bundled_models
from fastsql.reliability.assess import SETTING, Reliability
from fastsql.reliability.evidence import FEATURES
from fastsql.reliability.familiarity import Familiarity, TrainingQuestion
from fastsql.reliability.judges import Second, SecondModels
from fastsql.reliability.names import schema_names
from fastsql.synthesis.generate import Report
from fastsql.training.bundles.replacing import copy_files, replacing
from fastsql.training.calibration.conversations import (
    TurnObservation,
    fit_rated,
    fit_sides,
    fit_turns,
    observe_turns,
    turn_figures,
    turn_lines,
)
from fastsql.training.calibration.figures import all_figures, elsewhere_figures
from fastsql.training.calibration.fit import UNANSWERED, fit, fit_elsewhere, predict_across
from fastsql.training.calibration.observations import asked_models, load_observations, save_observations
from fastsql.training.calibration.observe import EHRSQL_NOW, Observation, observe
from fastsql.training.calibration.questions import (
    AS_WRITTEN,
    FOREIGN,
    FOREIGN_MADE,
    MADE_QUESTIONS,
    Question,
    held_out,
    with_first_turns,
)
from fastsql.training.calibration.table import (
    BESIDE,
    FOREIGN_PRIOR,
    PRIOR,
    Table,
    as_arrays,
    shares_in_use,
    tabulate,
)
from fastsql.training.calibration.usable import CalibrationError, check_questions
from fastsql.training.config import TrainConfig
from fastsql.training.corpus.corpus import Corpus

_ELSEWHERE = (FOREIGN, FOREIGN_MADE)


@dataclass(frozen=True)
class Calibration:
    """What was fitted, the figures of cross-fitted predictions, and for all that could not be fitted well, a sentence."""

    reliability: Reliability
    figures: Mapping[str, Any]
    lacking: tuple[str, ...] = ()


def calibration(
    observations: Sequence[Observation],
    familiarity: Familiarity,
    unanswered: Sequence[str] = UNANSWERED,
    seed: int = 0,
    known: frozenset[str] = frozenset(),
    folds: Sequence[Sequence[Observation]] = (),
    second: SecondModels | None = None,
) -> Calibration:
    """Fitted on what was observed; `unanswered` names what u is told from, `known` the columns of schemas trained on.

    `folds` are what models of other folds were observed to do (`.folds`); `second` are the models that were asked about
    hypotheses over schemas that were not trained on.

    Raises CalibrationError where p cannot be fitted: parses of answerable questions are all right, or all wrong.
    """
    table = tabulate(observations, folds)
    found = fit(table, familiarity, unanswered, seed, known, second)
    if found.elsewhere is None or found.elsewhere.second is None:
        table = dataclasses.replace(
            table, told=None
        )  # a bundle of which nothing is known there asks nobody anywhere
    return Calibration(found, all_figures(table, unanswered, seed), table.lacking)


def with_turns(found: Calibration, observed: Sequence[TurnObservation]) -> Calibration:
    """The same with what was fitted on turns that refer to earlier ones."""
    known, others = fit_sides(observed)
    elsewhere = found.reliability.elsewhere
    if elsewhere is not None:
        elsewhere = dataclasses.replace(
            elsewhere, turns=others, second=_with_rated(elsewhere.second, observed)
        )
    return dataclasses.replace(
        found,
        reliability=dataclasses.replace(found.reliability, turns=known, elsewhere=elsewhere),
        figures={**found.figures, "turns": turn_figures(observed)},
    )


def _with_rated(second: Second | None, observed: Sequence[TurnObservation]) -> Second | None:
    """A second opinion with what was fitted on the turns that its reranker was asked about."""
    return None if second is None else dataclasses.replace(second, turns=fit_rated(observed))


def familiarity_of(corpus: Corpus) -> Familiarity:
    """How familiar words are from the training questions, and how often each named something there.

    At home are questions over schemas of which some are held out: those that u is fitted on as trained on.
    """
    words = {db_id: schema_names(domain.schema).words for db_id, domain in corpus.domains.items()}
    home = {sample.pair.db_id for sample in (*corpus.dev_templates, *corpus.dev_examples)}
    return Familiarity.from_questions(
        TrainingQuestion(
            sample.pair.question,
            words[sample.pair.db_id],
            tuple(text for _, text in sample.entries),
            sample.pair.db_id in home,
        )
        for sample in corpus.train
        if not sample.pair.interaction
    )


def known_columns(corpus: Corpus, observations: Sequence[Observation]) -> frozenset[str]:
    """The columns of the schemas that were trained on, as far as they are asked about, "table.column"."""
    trained = {
        item.question.pair.db_id for item in observations if item.question.part not in (FOREIGN, FOREIGN_MADE)
    }
    return frozenset(
        column
        for db_id in trained & set(corpus.domains)
        for column in schema_names(corpus.domains[db_id].schema).columns
    )


def with_settings(bundle: Bundle, settings: Mapping[str, Any]) -> Bundle:
    """The bundle, in memory, with further settings."""
    merged = {**bundle.config.settings, **settings}
    return dataclasses.replace(bundle, config=dataclasses.replace(bundle.config, settings=merged))


def write_settings(bundle: Bundle) -> None:
    """Stores the settings of a bundle in its folder, which is replaced as a whole.

    Raises ModelError, and leaves the folder as it is, where no parser could read them.
    """
    with replacing(bundle.path) as new:
        copy_files(bundle.path, new)
        write_json(new / CONFIG, bundle.config.to_dict())
        write_manifest(new)
        config = open_bundle(new).config
        Reliability.from_settings(config.settings, config.model.d)


def known_features(names: Sequence[str]) -> tuple[str, ...]:
    """The names of features as `calibrate` takes them. Raises CalibrationError for one that there is not."""
    if unknown := sorted(set(names) - set(FEATURES)):
        known = f"Known are {', '.join(FEATURES)}."
        raise CalibrationError(f"there is no feature {unknown[0]!r}", where="--features", remedy=known)
    return tuple(names)


def calibrate(
    path: str | Path,
    config: TrainConfig,
    corpus: Corpus,
    *,
    conversations: Corpus | None = None,
    limit: int | None = None,
    made: int = MADE_QUESTIONS,
    now: str = EHRSQL_NOW,
    threads: int = 0,
    unanswered: Sequence[str] = UNANSWERED,
    observations: Path | None = None,
    folds: Sequence[Path] = (),
    second: bool = True,
    processes: int = 1,
    store: bool = True,
    report: Report | None = None,
) -> Calibration:
    """Fits the probabilities of a bundle on what `corpus` holds out, and stores them in the bundle.

    The words of what was trained on are stored with them (see `Familiarity`). `corpus` must be the one of training: same
    configuration, same seed. `conversations` are recorded ones with those that training held out; without them, queries that
    refer to earlier turns are judged as those of single questions are. `now` is the time of the data sets' questions.
    `observations` is a file to take what was observed of single questions from, or to write it to where it is missing; it
    must be of this bundle. `second` tells whether the models that come with fastsql are asked for a second opinion, over
    schemas never seen and in doubt; nobody is where the bundle has another tokenizer. Single questions are parsed by so many
    `processes`.

    Raises CalibrationError, DatasetError, ModelError.
    """
    familiarity = familiarity_of(corpus)
    bundle = with_settings(open_bundle(path), {"familiarity": familiarity.to_settings()})
    models = bundled_models(bundle.tokenizer()) if second else None

    def questions() -> tuple[Question, ...]:
        asked = corpus if conversations is None else with_first_turns(corpus, conversations)
        found = held_out(config, asked, limit, config.seed, made)
        check_questions(found)
        return found

    parse = partial(observe, now=now, threads=threads, processes=processes, report=report)
    observed = _observed(bundle, config, questions, models, observations, parse)
    known = known_columns(corpus, observed)
    wide = [load_observations(path) for path in folds]
    found = calibration(observed, familiarity, unanswered, config.seed, known, wide, models)
    if conversations is not None:
        fitted = with_settings(bundle, {SETTING: found.reliability.to_settings()})
        turns = observe_turns(fitted, config, conversations, now=now, threads=threads, report=report)
        found = with_turns(found, turns)
    if store:
        kept = {key: value for key, value in bundle.config.settings.items() if key != "confidence"}
        bundle = dataclasses.replace(bundle, config=dataclasses.replace(bundle.config, settings=kept))
        settings = {**found.reliability.to_settings(), "figures": dict(found.figures)}
        write_settings(with_settings(bundle, {SETTING: settings}))
    return found


def check_calibrated(bundle: Bundle) -> Reliability:
    """What a bundle knows about when to answer. Raises CalibrationError where nothing was fitted, and ModelError."""
    found = Reliability.from_settings(bundle.config.settings, bundle.config.model.d)
    if not found.calibrated:
        raise CalibrationError(
            "was never calibrated, so that there is nothing to leave as it is",
            where=str(bundle.path),
            remedy="Calibrate it whole first, without --turns and --elsewhere.",
        )
    return found


def calibrate_turns(
    path: str | Path,
    config: TrainConfig,
    conversations: Corpus,
    *,
    now: str = EHRSQL_NOW,
    threads: int = 0,
    store: bool = True,
    report: Report | None = None,
) -> dict[str, dict[str, Any]]:
    """Fits how sure queries are that refer to earlier turns, and leaves all else in a calibrated bundle as it is.

    Returns the figures of `turn_figures`. Raises CalibrationError, DatasetError, ModelError.
    """
    bundle = open_bundle(path)
    found = check_calibrated(bundle)
    figures = bundle.config.settings[SETTING].get("figures", {})
    turns = observe_turns(bundle, config, conversations, now=now, threads=threads, report=report)
    fitted = with_turns(Calibration(found, figures), turns)
    if store:
        settings = {**fitted.reliability.to_settings(), "figures": dict(fitted.figures)}
        write_settings(with_settings(bundle, {SETTING: settings}))
    told: dict[str, dict[str, Any]] = fitted.figures["turns"]
    return told


def calibrate_elsewhere(
    path: str | Path,
    config: TrainConfig,
    corpus: Corpus,
    *,
    conversations: Corpus | None = None,
    now: str = EHRSQL_NOW,
    threads: int = 0,
    observations: Path | None = None,
    second: bool = True,
    processes: int = 1,
    store: bool = True,
    report: Report | None = None,
) -> Calibration:
    """Fits how sure queries are over schemas never seen, turns too, and leaves all else in a calibrated bundle as it is.

    For who asks another second opinion than before. Of `corpus` and `conversations` only the databases that training held
    out count. `observations` as in `calibrate`. The figures are those of the bundle, but for these. Errors
    of other folds' models are not used. Raises CalibrationError, DatasetError, ModelError.
    """
    bundle = open_bundle(path)
    found = check_calibrated(bundle)
    if found.elsewhere is None:
        raise CalibrationError(
            "has no probabilities over schemas never seen",
            where=str(path),
            remedy="Calibrate it whole, without --elsewhere.",
        )
    models = bundled_models(bundle.tokenizer()) if second else None
    asked = corpus if conversations is None else with_first_turns(corpus, conversations)

    def questions() -> tuple[Question, ...]:
        every = held_out(config, asked, None, config.seed)
        return tuple(one for one in every if one.part in _ELSEWHERE)

    parse = partial(observe, now=now, threads=threads, processes=processes, report=report)
    observed = _observed(bundle, config, questions, models, observations, parse)
    table = as_arrays([one for one in observed if one.question.part in _ELSEWHERE])
    elsewhere = fit_elsewhere(table, found.judge, found.elsewhere.known, models)
    if elsewhere is None:
        raise CalibrationError(
            "cannot be calibrated: parses over schemas never seen are all right, or all wrong",
            where=str(path),
            remedy="Hold out other databases or designs.",
        )
    turns: tuple[TurnObservation, ...] = ()
    if conversations is not None:
        told = dataclasses.replace(elsewhere, turns=found.elsewhere.turns)
        asking = dataclasses.replace(found, elsewhere=told).to_settings()
        turns = observe_turns(
            with_settings(bundle, {SETTING: asking}),
            config,
            conversations,
            now=now,
            threads=threads,
            foreign=True,
            report=report,
        )
        elsewhere = dataclasses.replace(elsewhere, second=_with_rated(elsewhere.second, turns))
    elif elsewhere.second is not None and (before := found.elsewhere.second) is not None:
        kept = before.turns if before.models == elsewhere.second.models else None
        elsewhere = dataclasses.replace(elsewhere, second=dataclasses.replace(elsewhere.second, turns=kept))
    elsewhere = dataclasses.replace(elsewhere, turns=fit_turns(turns) or found.elsewhere.turns)
    figures = _with_figures_elsewhere(bundle.config.settings[SETTING].get("figures", {}), table, turns)
    # What others say of a query in doubt is worth something else.
    models_before = found.elsewhere.second and found.elsewhere.second.models
    doubted = found.doubted if elsewhere.second and elsewhere.second.models == models_before else None
    fitted = Calibration(dataclasses.replace(found, elsewhere=elsewhere, doubted=doubted), figures)
    if store:
        settings = {**fitted.reliability.to_settings(), "figures": figures}
        write_settings(with_settings(bundle, {SETTING: settings}))
    return fitted


def _observed(
    bundle: Bundle,
    config: TrainConfig,
    questions: Callable[[], Sequence[Question]],
    models: SecondModels | None,
    file: Path | None,
    parse: Callable[..., tuple[Observation, ...]],
) -> tuple[Observation, ...]:
    """What is observed of questions, from the file that keeps it where there is one. Raises CalibrationError."""
    if file is None or not file.is_file():
        observed = parse(bundle, config, questions(), second=models)
        if file is not None:
            save_observations(observed, file, models)
        return observed
    if asked_models(file) != models:
        raise CalibrationError(
            "were made with another second opinion, or one of the two with none",
            where=str(file),
            remedy="Name another file, or remove it, and the questions are parsed again; or ask as then (--alone).",
        )
    observed = load_observations(file)
    _check_width(observed, bundle, file)
    return observed


def _with_figures_elsewhere(
    before: Mapping[str, Any], table: Table, turns: Sequence[TurnObservation]
) -> dict[str, Any]:
    """A bundle's figures with those over schemas never seen anew."""
    plain, looked = (predict_across(table, inspected=inspected) for inspected in (False, True))
    counts = {part: int((table.parts == part).sum()) for part in (FOREIGN, FOREIGN_MADE)}
    right = {FOREIGN: int(table.right[table.parts == FOREIGN].sum())}
    return {
        **before,
        "questions": {**before.get("questions", {}), **counts},
        "right": {**before.get("right", {}), **right},
        "elsewhere": elsewhere_figures(table, plain),
        "inspected": {**before.get("inspected", {}), "elsewhere": elsewhere_figures(table, looked)},
        "turns": {**before.get("turns", {}), **turn_figures(turns)},
    }


def _check_width(observed: Sequence[Observation], bundle: Bundle, file: Path) -> None:
    if any(item.state.shape != (bundle.config.model.d,) for item in observed):
        raise CalibrationError(
            "holds what was observed of another model",
            where=str(file),
            remedy="Name another file, or remove it, and the questions are parsed again.",
        )


def describe(found: Calibration) -> str:
    """What could not be fitted well, then the figures, as a few lines for people."""
    figures = found.figures
    lines = list(found.lacking)
    lines += [
        f"{part:<13}{count:>5} questions"
        + (f", {figures['right'][part]} right" if part in figures["right"] else "")
        + _counted(part, figures["questions"])
        for part, count in figures["questions"].items()
        if count
    ]
    shown = {"cross-fitted": figures}
    if figures["questions"][AS_WRITTEN]:
        shown["with numbers as written"] = figures["as_written"]
    if "inspected" in figures:
        shown["answers inspected"] = figures["inspected"]
    for name, rows in shown.items():
        scores = ", ".join(f"RS({c}) {score:.1f}" for c, score in rows["rs_10"].items())
        lines.append(
            f"{name}: {_quality(rows)}; at penalty 10 {rows['answered']:.1f} % answered, {rows['wrong']:.2f} % wrong,"
            f" {scores}{_share(', Se', rows['se'])}, Sp {rows['sp']:.1f} %"
        )
    lines += _made_line(figures["made"])
    if "turns" in figures:
        lines += turn_lines(figures["turns"])
    if "elsewhere" in figures:
        lines += _elsewhere_lines("schemas never seen", figures["elsewhere"])
        lines += _made_line(figures["elsewhere"]["made"])
    if "elsewhere" in figures.get("inspected", ()):
        lines += _elsewhere_lines("schemas never seen, answers inspected", figures["inspected"]["elsewhere"])
    return "\n".join(lines)


def _counted(part: str, counts: Mapping[str, int]) -> str:
    for prior, where in ((PRIOR, ""), (FOREIGN_PRIOR, " on schemas never seen")):
        if part in prior:
            share = {name: count for name, count in shares_in_use(prior, counts).items() if counts[name]}
            return f", counted as {share[part] / sum(share.values()):.0%} of use{where}"
    return f", counted as {BESIDE[part]:.0%} beside these" if part in BESIDE else ", to report only"


def _quality(figures: Mapping[str, Any]) -> str:
    low, high = figures["ece_interval"]
    u = figures["auc_unanswerable"]
    told = "" if u is None else f", of u {u:.3f}"
    return f"ECE {figures['ece']:.3f} ({low:.3f} to {high:.3f}), AUC {figures['auc']:.3f}{told}"


def _share(label: str, percent: float | None) -> str:
    return "" if percent is None else f"{label} {percent:.1f} %"


def _made_line(made: Mapping[str, float]) -> list[str]:
    kinds = ", ".join(f"{kind} {share:.0f} %" for kind, share in made.items())
    return [f"made questions refused at penalty 10: {kinds}"] if made else []


def _elsewhere_lines(name: str, figures: Mapping[str, Any]) -> list[str]:
    lines = [f"{name}: {_quality(figures)}"]
    lines += [
        f"  at penalty {penalty} {found['answered']:.1f} % of the answerable answered, {found['right']:.1f} % of these"
        f" rightly{_share('; of the unanswerable refused', found['refused'])}; RS({penalty}) {found['rs']:.1f}"
        for penalty, found in figures["penalties"].items()
    ]
    return lines
