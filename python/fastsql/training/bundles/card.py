"""The model card: what a bundle is, what it learned from, under which licences, how good it is, and where it ends.

Everything in it is read from the bundle, the configuration and the report of `fastsql eval`. What is not known is left
out: a card has no blanks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastsql.errors import FastSQLError
from fastsql.model.bundle import CARD, WEIGHTS, Bundle, open_bundle, write_manifest
from fastsql.model.config import LGE, ModelConfig
from fastsql.synthesis.pool import KINDS_OF
from fastsql.synthesis.schema.words import CHINESE, ENGLISH
from fastsql.training.bundles.credits import (
    CONVERSATIONS,
    CROSS_SCHEMA,
    DATA,
    DATABASES,
    ENCODERS,
    FEW_SCHEMAS,
    MADE,
    MANY_SCHEMAS,
    SCHEMAS,
    SYNTHETIC,
    WRITTEN,
    Credit,
)
from fastsql.training.bundles.replacing import copy_files, replacing
from fastsql.training.calibration.questions import FOREIGN, FOREIGN_MADE
from fastsql.training.config import SourceSettings, TrainConfig
from fastsql.training.corpus.conversations import MADE as TAKEN_APART

WEIGHTS_LICENCE = "CC BY-SA 4.0"
_LANGUAGES = {ENGLISH: "English", CHINESE: "Chinese"}


class CardError(FastSQLError):
    """A card cannot be written."""


def model_card(
    bundle: Bundle,
    config: TrainConfig,
    scores: Mapping[str, Any] | None = None,
    *,
    command: str = "",
    note: str = "",
    licence: str = WEIGHTS_LICENCE,
) -> str:
    """The card of a bundle as Markdown.

    Args:
        bundle: what it is about.
        config: what it was trained by.
        scores: a report of `fastsql eval --json`; entries that are missing or null are left out.
        command: the one that printed the scores.
        note: how this very bundle came about, where the commands alone do not say it.
        licence: of the weights.
    """
    sections = [
        f"# {bundle.config.name}\n\n{_summary(bundle, config)}",
        _use(),
        _data(config, licence),
        _scores(bundle.config.settings, scores or {}, command),
        _limits(config),
        _reproduce(bundle, config, note),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def write_card(bundle: str | Path, text: str) -> None:
    """Makes `text` the card of a bundle, and lists its files anew."""
    opened = open_bundle(bundle)
    with replacing(opened.path) as new:
        copy_files(opened.path, new)
        (new / CARD).write_text(text, encoding="utf-8")
        write_manifest(new)


def read_scores(path: Path) -> Mapping[str, Any]:
    """What `fastsql eval --json` wrote. Raises CardError for anything else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CardError(
            f"cannot be read ({type(error).__name__})",
            where=str(path),
            remedy="Give what fastsql eval --json wrote.",
        ) from error
    if not isinstance(found, dict):
        raise CardError(
            "does not hold a report", where=str(path), remedy="Give what fastsql eval --json wrote."
        )
    return found


# ---------------------------------------------------------------- sections


def _summary(bundle: Bundle, config: TrainConfig) -> str:
    model, language = bundle.config.model, _LANGUAGES[config.data.made.language]
    size = (bundle.path / WEIGHTS).stat().st_size / 2**20
    return (
        f"Questions about patients, in {language}, to SQL, by fastsql: an encoder of"
        f" {model.encoder.layers} layers of {model.encoder.hidden}, relation-aware graph attention{_lines(model)}"
        f" ({model.cached_layers} layers with cached schema rows, {model.joint_layers} joint, d = {model.d}) and a"
        f" grammar-constrained decoder of {model.decoder_layers} layers. {size:.0f} MiB of weights, int8 per channel.\n\n"
        f'```python\nimport fastsql\nparser = fastsql.load("{bundle.config.name}")\n```'
    )


def _lines(model: ModelConfig) -> str:
    return " with a line graph" if model.graph == LGE else ""


def _use() -> str:
    return (
        "## Intended use\n\nTo help people who may read a hospital's database to write queries on it. The SQL is valid for"
        " the schema, which does not make it the answer to the question: show it, or have what it returns checked. Not for"
        " decisions about a patient's treatment by itself, and not for deciding who may see which data: that is the"
        " database's business."
    )


def _data(config: TrainConfig, licence: str) -> str:
    credits_ = _credits(config)
    for source in config.data.sources:
        name = _name(source)
        if source.database and name in DATABASES:
            credits_.append(DATABASES[name])
    if config.model.encoder in ENCODERS:
        credits_ += ENCODERS[config.model.encoder]
    rows = [
        f"| [{c.title}]({c.where}) | {c.licence} | {c.credit} | {c.use} |" for c in dict.fromkeys(credits_)
    ]
    others = [name for name in _names(config) if name not in DATA]
    text = "## Data and licences\n\n"
    if licence:
        text += f"These weights are licensed under {licence}; keep the credits below.\n\n"
    if rows:
        text += "\n".join(["| what | licence | credit | how it was used |", "|---|---|---|---|", *rows])
    if others:
        text += f"\n\nAlso trained on: {', '.join(others)}, under the licences of those data."
    return text.rstrip()


_ROWS = (
    ("questions", "n", "{:,}"),
    ("answerable: right result (EX), before refusal", "ex", "{:.1f} %"),
    ("- SQL skeleton in train", "details.seen.ex", "{:.1f} %"),
    ("- SQL skeleton not in train", "details.unseen.ex", "{:.1f} %"),
    ("- the same query but for values (EM)", "em", "{:.1f} %"),
    ("- the same query (EM with values)", "em_values", "{:.1f} %"),
    ("SQL that runs", "valid_sql", "{:.1f} %"),
    ("decided with penalty", "details.penalty", "{:g}"),
    ("refused", "abstained", "{:,}"),
    ("answered wrongly", "wrong", "{:,}"),
    ("RS(0)", "rs.0", "{:.1f}"),
    ("RS(5)", "rs.5", "{:.1f}"),
    ("RS(10)", "rs.10", "{:.1f}"),
    ("RS(N)", "rs.N", "{:.1f}"),
)


def _scores(settings: Mapping[str, Any], scores: Mapping[str, Any], command: str) -> str:
    rows = [
        f"| {label} | {form.format(value)} |"
        for label, path, form in _ROWS
        if (value := _find(scores, path)) is not None
    ]
    parts = []
    if rows:
        parts.append("\n".join(["| | |", "|---|---|", *rows]))
        if command:
            parts.append(f"```bash\n{command}\n```")
    if figures := _find(settings, "reliability.figures") or _find(settings, "confidence.figures"):
        parts.append(_calibration(figures))
    if elsewhere := _find(settings, "reliability.figures.elsewhere"):
        parts.append(_calibration_elsewhere(elsewhere))
    if second := _find(settings, "reliability.elsewhere.second.reverse"):
        other = _find(settings, "reliability.elsewhere.second.reranker")
        reranker = (
            f" and the reranker {other[:12]}, which come with fastsql"
            if other
            else ", which comes with fastsql"
        )
        where = (
            "There, and in doubt over others," if _find(settings, "reliability.doubted.right") else "There"
        )
        parts.append(f"{where} it asks the reverse model {second[:12]}{reranker}, for a second opinion.")
    return "\n\n".join(["## Scores", *parts]) if parts else ""


def _calibration(figures: Mapping[str, Any]) -> str:
    counts = figures.get("questions", {})
    known = sum(count for part, count in counts.items() if part not in (FOREIGN, FOREIGN_MADE))
    total = f" {known:,}" if known else ""
    return (
        f"Confidence, cross-fitted on{total} questions held out of training and weighted to"
        f" their expected shares in use: {_quality(figures)}."
    )


def _calibration_elsewhere(figures: Mapping[str, Any]) -> str:
    told = [
        f"at penalty {penalty} it answers {_percent(found['answered'])} of the answerable questions,"
        f" {_percent(found['right'])} of these rightly"
        + ("" if found["refused"] is None else f", and refuses {_percent(found['refused'])} of the others")
        for penalty, found in figures["penalties"].items()
    ]
    made = ", four answerable questions to one made without an answer" if figures["made"] else ""
    return f"On schemas that it has not seen, cross-fitted by database{made}: {_quality(figures)}; {'; '.join(told)}."


def _percent(share: float) -> str:
    """A share in whole percent; nearly all is not all."""
    whole = f"{share:.0f}"
    return f"{share:.1f} %" if whole == "100" and share < 100 else f"{whole} %"


def _quality(figures: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{label} {figures[key]:.3f}"
        for label, key in (("expected calibration error", "ece"), ("area under the ROC curve", "auc"))
        if key in figures
    )


def _limits(config: TrainConfig) -> str:
    own = dict.fromkeys(sentence for credit in _credits(config) for sentence in credit.limits)
    lines = [
        *own,
        FEW_SCHEMAS if CROSS_SCHEMA.isdisjoint(_names(config)) else MANY_SCHEMAS,
        "What the database cannot answer is refused only as far as the confidence tells; that can be high and wrong.",
        "Trained on SQLite's dialect; other dialects are written from the same programs.",
    ]
    return "\n".join(["## Limits", "", *(f"- {line}" for line in lines)])


def _reproduce(bundle: Bundle, config: TrainConfig, note: str) -> str:
    training = bundle.config.settings.get("training", {})
    facts = [
        f"{label} {training[key]:{form}}"
        for label, key, form in (
            ("seed", "seed", ""),
            ("epochs", "epochs", "g"),
            ("steps", "steps", ","),
            ("minutes", "minutes", "g"),
        )
        if training.get(key) is not None
    ]
    if mix := training.get("mixed"):
        facts.append(
            f"weights mixed, {mix['share']:.0%} of this run and the rest of {mix['with']} {mix['manifest']}"
        )
    seed = training.get("seed", config.seed)
    name = bundle.config.name
    commands = (
        f"export FASTSQL_DATA=FOLDER    # see docs/data.md\n"
        f"fastsql train configs/{name}.toml --output runs/{name} --seed {seed}\n"
        f"fastsql calibrate runs/{name}/bundle --config configs/{name}.toml"
    )
    told = f"\n\nThis bundle: {', '.join(facts)}." if facts else ""
    history = f"\n\n{note}" if note else ""
    return f"## How to reproduce\n\n```bash\n{commands}\n```{told}{history}"


def _find(data: Mapping[str, Any], path: str) -> Any:
    """The entry under keys that dots divide; None where one is missing."""
    found: Any = data
    for key in path.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _credits(config: TrainConfig) -> list[Credit]:
    """The data that are known, then what was generated."""
    sources = config.data.sources
    made = config.data.made
    kinds = made.kinds or KINDS_OF[made.language] if made.schemas else ()
    known = [DATA[name] for name in dict.fromkeys((*_names(config), *kinds)) if name in DATA]
    known += [SCHEMAS[name] for name in kinds if name in SCHEMAS]
    own = {
        SYNTHETIC: any(source.generate for source in sources),
        MADE: bool(kinds),
        WRITTEN: bool(config.data.written.pairs),
        CONVERSATIONS: any(source.conversations == TAKEN_APART for source in sources),
    }
    return known + [credit for credit, holds in own.items() if holds]


def _name(source: SourceSettings) -> str:
    return Path(source.examples).parent.name


def _names(config: TrainConfig) -> tuple[str, ...]:
    """Names of the data sets, each once: the folders that they lie in."""
    return tuple(dict.fromkeys(_name(source) for source in config.data.sources))
