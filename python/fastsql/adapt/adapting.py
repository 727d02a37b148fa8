"""Adapting, from a database to a bundle: step by step, in a working folder, so that a run that is killed goes on.

The working folder lies beside the bundle, as `NAME.adapting`, and holds values of the database; it is removed at the end.
The bundle appears by a rename. What enters it: weights, names of tables and columns, and what the base knew; no word of a
question or a row.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fastsql.adapt.comparison import Comparison, compare, verdicts
from fastsql.adapt.fitting import Case, Outcome, cases_of, figures, is_better, observe, refitted
from fastsql.adapt.material import AdaptError, Amounts, Material, Worder, make_material
from fastsql.adapt.recipe import recipe
from fastsql.adapt.seeds import Seeds, read_seeds
from fastsql.endpoint import Client, Endpoint
from fastsql.errors import CalibrationWarning
from fastsql.execution import Executor, open_executor
from fastsql.linking.dictionary import ValueDictionary
from fastsql.model.bundle import CARD, MANIFEST, Bundle, open_bundle, write_manifest
from fastsql.parser.bundles import DEFAULT_MODEL, open_model
from fastsql.profile.model import Profile
from fastsql.reliability.assess import SETTING, Reliability
from fastsql.schema import Schema
from fastsql.synthesis.embedding import SentenceEncoder
from fastsql.synthesis.generate import Report
from fastsql.synthesis.worded import Wordings
from fastsql.training.bundles.replacing import copy_files, replacing
from fastsql.training.calibration.calibrate import with_settings, write_settings
from fastsql.training.config import TrainConfig
from fastsql.training.corpus.corpus import load_corpus
from fastsql.training.runs.checkpoint import LAST
from fastsql.training.runs.curves import METRICS
from fastsql.training.runs.loop import CACHE, train
from fastsql.training.runs.run import BUNDLE
from fastsql.whole_file import write_whole

SUFFIX = ".adapting"
STATE = "state.json"
PROBE = 50
"""Batches that are learnt from and thrown away, to tell how many updates a number of minutes has; the last half is timed."""
RESERVE = 0.12
"""Share of the time that is left for fitting the probabilities and for what the probe did not foresee."""
WORDING_SHARE = 0.5
"""Share of the time after which a language model is asked no more."""
QUERIES = 1_000
"""How many queries a language model words, if nothing else is said."""
LEAST_UPDATES = 20
JUDGED = 400
"""Held-out pairs of each kind that the two bundles are compared on."""
PENALTY = 10.0
"""The penalty that figures are given at; that of `fastsql.parse`."""


class WorseError(AdaptError):
    """What came out is worse than the base on what was held out; it is not written."""


@dataclass(frozen=True)
class Adapted:
    """What was written, and what was found on questions that nothing was trained on: of the base, and of the bundle.

    `comparison` has them one by one, `told` what the bundle's settings keep of it; `page.write_report` shows all.
    """

    bundle: Path
    updates: int
    seconds: float
    before: dict[str, Any]
    after: dict[str, Any]
    seeds: Seeds
    comparison: Comparison = field(repr=False)
    told: Mapping[str, Any] = field(repr=False)


def adapt(
    database: str | Path,
    output: str | Path,
    *,
    schema: Schema | None = None,
    profile: Profile | None = None,
    seeds: str | Path | None = None,
    base: str | Path = DEFAULT_MODEL,
    minutes: float = 60.0,
    updates: int | None = None,
    seed: int = 1,
    threads: int | None = None,
    processes: int = 1,
    restart: bool = False,
    amounts: Amounts | None = None,
    endpoint: Endpoint | None = None,
    queries: int = QUERIES,
    report: Report = lambda _: None,
    quiet: bool = True,
) -> Adapted:
    """Train a bundle further for one database, and fit its probabilities there.

    Args:
        database: an SQLite or DuckDB file, or a database URL; read only.
        output: the folder of the new bundle, which must not be there yet.
        schema: the tables and columns that may be asked for; by default all that the database shows.
        profile: one that people have edited.
        seeds: a file of questions with SQL (`seeds.read_seeds`).
        base: a bundled model's name, or the folder of a bundle.
        minutes: about how long it may take in all, from which the number of updates is told.
        updates: of the weights, in place of `minutes`: the same number, seed, threads and processes give the same bundle.
        seed: of everything random.
        threads: processor threads, all of them by default.
        processes: that train together and share the threads.
        restart: begin anew where an earlier run was broken off; otherwise it goes on.
        amounts: how much is made and replayed.
        endpoint: a server whose language model words questions of further queries; it is sent names of the schema, no value.
        queries: how many it words at most. With `minutes`, it is asked for half of them at most.
        report: called with lines on progress.
        quiet: show no progress of the training.

    Raises WorseError where the outcome is worse than the base (nothing is written then), EndpointError where the server
    fails, and what reading schemas, seeds and databases, making pairs and training raise.
    """
    begun = time.monotonic()
    output, amounts = Path(output), amounts or Amounts()
    _check_output(output)
    client = None if endpoint is None else Client(endpoint)
    start = open_model(base)
    schema = schema or Schema.coerce(str(database))
    with open_executor(database) as opened:
        dialect = opened.dialect
    if dialect == DUCKDB:
        report("of a DuckDB file, keys are those that the schema declares, and values are not looked up")
    else:
        schema = schema.with_keys_from(str(database))
    if profile is not None:
        schema = schema.with_profile(profile)
    work = output.absolute().with_name(f"{output.name}{SUFFIX}")
    with open_executor(database, schema=schema) as executor:
        found = Seeds() if seeds is None else read_seeds(Path(seeds), schema, executor)
        for where, why in found.left_out.items():
            report(f"{seeds}, {where}: {why}; not used")
        if not found.usable:
            report("without seeds, nothing tells whether people's questions are read better or worse")
        worder = None
        if endpoint is not None and client is not None:
            until = None if updates is not None else begun + 60 * minutes * WORDING_SHARE
            worder = _worder(client, endpoint.model, start, profile, seed, queries, until, report)
        identity = _identity(start, schema, seeds, seed, amounts, endpoint, queries)
        state = _State.open(work, identity, restart=restart)
        material = make_material(schema, executor, profile, found, work, seed, report, amounts, worder)
        place = str(database) if dialect == "sqlite" else ""
        config = recipe(
            output.name, start.config.model, work, place, seed, 0, amounts, len(material.trained), processes
        )
        if updates is not None and state.updates not in (None, updates):
            raise AdaptError(
                f"what was begun there makes {state.updates} updates, not {updates}",
                where=str(work),
                remedy="Give --restart to begin anew.",
            )
        if state.updates is None:
            state.updates = updates or _updates_in(
                minutes, begun, config, work, start, threads, processes, report
            )
            state.save()
        config = replace(config, schedule=replace(config.schedule, updates=state.updates))
        _train(config, work, start, threads, processes, quiet=quiet)
        values = place or (
            None if dialect == DUCKDB else ValueDictionary.from_database(str(database), schema)
        )
        judged = _judged(config, work, start, material, schema, values, executor, report)
    report("comparing with the base")
    comparison = compare(
        verdicts(judged.old, judged.before, material.schema),
        verdicts(judged.new, judged.after, material.schema),
        (*material.pairs, *material.worded),
        material.schema,
        seed,
    )
    before, after = _figures(judged.old, judged.before), _figures(judged.new, judged.after)
    seconds = time.monotonic() - begun
    told = {
        "base": start.config.name,
        "seed": seed,
        "updates": state.updates,
        "minutes": round(seconds / 60, 1),
        "pairs": len(material.pairs),
        "seeds": len(material.trained),
        **({"worded": dict(material.worded_counts)} if material.worded_counts else {}),
        "before": before,
        "after": after,
    }
    _write(work / RUN / BUNDLE, output, start, judged.new, told)
    shutil.rmtree(work)
    return Adapted(output, state.updates, seconds, before, after, found, comparison, told)


DUCKDB = "duckdb"
"""The dialect of databases whose keys and values nothing of ours reads yet."""
RUN = "run"
"""The folder of the training run, in the working folder."""


@dataclass
class _State:
    """What a working folder is of, and how many updates were decided on."""

    folder: Path
    identity: str
    updates: int | None = None

    @classmethod
    def open(cls, folder: Path, identity: str, *, restart: bool) -> _State:
        """That of the folder, which is made if there is none. Raises AdaptError where it is of something else."""
        if restart and folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = folder / STATE
        if not file.exists():
            state = cls(folder, identity)
            state.save()
            return state
        try:
            known = json.loads(file.read_text(encoding="utf-8"))
            state = cls(folder, known["identity"], known["updates"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AdaptError(
                "what was begun there is damaged", where=str(folder), remedy="Give --restart."
            ) from error
        if state.identity != identity:
            raise AdaptError(
                "another adaptation was begun there: of other tables, seeds, settings or another base",
                where=str(folder),
                remedy="Give --restart to begin anew, or another output.",
            )
        return state

    def save(self) -> None:
        """Written whole or not at all."""
        content = {"identity": self.identity, "updates": self.updates}
        write_whole(self.folder / STATE, json.dumps(content).encode(), private=True)


def _check_output(output: Path) -> None:
    if output.exists():
        raise AdaptError("is there already", where=str(output), remedy="Name another folder, or remove it.")


def _worder(
    client: Client,
    model: str,
    base: Bundle,
    profile: Profile | None,
    seed: int,
    queries: int,
    until: float | None,
    report: Report,
) -> Worder:
    def opened(answers: Path, schema: Schema) -> Wordings:
        return Wordings(
            client,
            answers,
            schema,
            profile,
            model=model,
            seed=seed,
            most=queries,
            until=until,
            report=report,
        )

    return Worder(opened, SentenceEncoder(base.path).embed, queries)


def _identity(
    base: Bundle,
    schema: Schema,
    seeds: str | Path | None,
    seed: int,
    amounts: Amounts,
    endpoint: Endpoint | None,
    queries: int,
) -> str:
    """What has to be the same for a run to go on. Where a server listens may change, its model may not."""
    digest = hashlib.sha256((base.path / MANIFEST).read_bytes())
    digest.update(f"{schema.fingerprint} {seed} {amounts}".encode())
    if seeds is not None and Path(seeds).is_file():
        digest.update(Path(seeds).read_bytes())
    if endpoint is not None:
        digest.update(f"{endpoint.model} {queries}".encode())
    return digest.hexdigest()


def _updates_in(
    minutes: float,
    begun: float,
    config: TrainConfig,
    work: Path,
    base: Bundle,
    threads: int | None,
    processes: int,
    report: Report,
) -> int:
    """How many updates the rest of the time has room for, told by timing a few, which are thrown away."""
    probe = replace(config, schedule=replace(config.schedule, updates=PROBE // config.optim.accumulate))
    train(
        probe,
        work / "probe",
        threads=threads,
        warm_start=base.path,
        processes=processes,
        cache=work / CACHE,
        export=False,
        quiet=True,
    )
    lines = map(json.loads, (work / "probe" / METRICS).read_text(encoding="utf-8").splitlines())
    first, *_, last = [line for line in lines if line["kind"] == "train"]
    shutil.rmtree(work / "probe")
    made = (last["step"] - first["step"]) / config.optim.accumulate
    each = 60 * (last["minutes"] - first["minutes"]) / made
    left = 60 * minutes * (1 - RESERVE) - (time.monotonic() - begun)
    updates = max(LEAST_UPDATES, int(left / each))
    report(f"an update takes {each:.2f} s: {updates} updates in {minutes:g} minutes")
    return updates


def _train(
    config: TrainConfig, work: Path, base: Bundle, threads: int | None, processes: int, *, quiet: bool
) -> None:
    """Raises AdaptError where it was interrupted: what was reached is kept."""
    run = work / RUN
    if (run / BUNDLE).is_dir():
        return
    resume = (run / LAST).is_file()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)  # it is calibrated here
        result = train(
            config,
            run,
            resume=resume,
            threads=threads,
            warm_start=None if resume else base.path,
            processes=processes,
            cache=work / CACHE,
            quiet=quiet,
        )
    if not result.finished:
        raise AdaptError("was interrupted", where=str(work), remedy="Run the same command to go on.")


@dataclass(frozen=True)
class _Judged:
    """The probabilities of the base and of the new bundle, and what became of the held-out questions with each."""

    old: Reliability
    new: Reliability
    before: tuple[Outcome, ...]
    after: tuple[Outcome, ...]


def _judged(
    config: TrainConfig,
    work: Path,
    base: Bundle,
    material: Material,
    schema: Schema,
    values: Any,
    executor: Executor,
    report: Report,
) -> _Judged:
    """What became of held-out questions. Raises WorseError if the new bundle is worse than its base."""
    cases = _cases(config, work, material, schema, report)
    new = _with_base_words(open_bundle(work / RUN / BUNDLE), base)
    d = base.config.model.d
    old = Reliability.from_settings(base.config.settings, d)
    before = observe(base, schema, values, cases, executor, report, second=True)
    after = observe(new, schema, values, cases, executor, report)
    if not is_better(before, after):
        raise WorseError(
            f"the outcome is worse than {base.config.name}: of what was held out it is right on {_counted(after)},"
            f" {base.config.name} on {_counted(before)}. Nothing was written",
            where=str(work),
            remedy="Give seeds, a profile, or more minutes; --restart begins anew.",
        )
    return _Judged(old, refitted(old, after), before, after)


def _counted(outcomes: Sequence[Outcome]) -> str:
    """How many seeds and made questions with an answer are right: "7 of 20 seeds and 339 of 400 made questions"."""
    asked = [one for one in outcomes if one.case.program is not None]
    parts = ((True, "seeds"), (False, "made questions"))
    sides = ((name, [one.right for one in asked if one.case.by_hand == by_hand]) for by_hand, name in parts)
    return " and ".join(f"{sum(right)} of {len(right)} {name}" for name, right in sides if right)


def _figures(reliability: Reliability, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    return figures(reliability, outcomes, PENALTY)


def _cases(config: TrainConfig, work: Path, material: Material, schema: Schema, report: Report) -> list[Case]:
    """Seeds that were kept apart, made pairs that the run held out, and made questions without an answer."""
    corpus = load_corpus(config.data, config.seed, work / CACHE, report)
    held = [sample.pair for sample in (*corpus.dev_templates, *corpus.dev_examples)]
    refused = [one for one in material.pairs if one.sql is None]
    return [
        *cases_of(material.kept, schema, by_hand=True),
        *cases_of(held[:JUDGED], schema),
        *cases_of(refused[:JUDGED], schema),
    ]


_KEPT = ("familiarity", "lexicon", "constants", "constant_tables")
"""Settings that stay the base's: the words of questions and rows of this database enter no bundle."""


def _with_base_words(new: Bundle, base: Bundle) -> Bundle:
    own = base.config.settings
    return with_settings(new, {name: own[name] for name in (*_KEPT, SETTING) if name in own})


def _write(trained: Path, output: Path, base: Bundle, reliability: Reliability, told: dict[str, Any]) -> None:
    """The bundle with its settings and card, at its place by a rename."""
    bundle = _with_base_words(open_bundle(trained), base)
    settings = {SETTING: reliability.to_settings(), "adapted": told}
    write_settings(with_settings(bundle, settings))
    with replacing(trained) as new:
        copy_files(trained, new)
        (new / CARD).write_text(_card(output.name, told), encoding="utf-8")
        write_manifest(new)
    _check_output(output)
    trained.rename(output)


def _worded(told: dict[str, Any]) -> str:
    worded = told.get("worded")
    return "" if worded is None else f", and {worded['pairs']} pairs whose questions {worded['model']} worded"


def _card(name: str, told: dict[str, Any]) -> str:
    lines = [
        f"# {name}",
        "",
        (
            f"`{told['base']}`, adapted to one database by `fastsql adapt`: {told['updates']} updates, seed {told['seed']},"
            f" on {told['pairs']} pairs made over the database and {told['seeds']} seeds{_worded(told)}."
        ),
        "",
        "On questions that nothing was trained on, right of all (given at penalty 10, and right of these):",
        "",
        "| | base | adapted |",
        "|---|---|---|",
    ]
    for part, title in (("seeds", "seeds, by people"), ("made", "pairs, made")):
        cells = [
            f"{one['right']} of {one['count']} ({one['given']}, {one['given_right']})"
            for one in (told["before"][part], told["after"][part])
        ]
        lines.append(f"| {title} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines) + "\n"
