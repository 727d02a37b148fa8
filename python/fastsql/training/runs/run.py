"""One training run: steps, scores, checkpoints, and the bundle at its end."""

from __future__ import annotations

import copy
import functools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from fastsql.grammar.compile import load_grammar
from fastsql.model.config import ModelConfig
from fastsql.training.batches.maker import ExampleMaker
from fastsql.training.batches.stream import Delivery, Loader, deliveries
from fastsql.training.bundles.agreement import check_bundle
from fastsql.training.bundles.start import starting_weights
from fastsql.training.config import TrainConfig
from fastsql.training.corpus.corpus import Corpus
from fastsql.training.corpus.sample import Sample
from fastsql.training.network.auxiliary import Auxiliary
from fastsql.training.network.model import Model
from fastsql.training.network.pretrained import load_pretrained, model_config
from fastsql.training.objectives.decisions import decision_loss
from fastsql.training.objectives.dev import DevPart, DevScore, score
from fastsql.training.runs.checkpoint import BEST, LAST, export_checkpoint, exportable, save_checkpoint
from fastsql.training.runs.curves import append_metrics, draw_curves
from fastsql.training.runs.position import Clock, Position, Smoothed
from fastsql.training.runs.precision import computing, is_faster_in_bf16
from fastsql.training.runs.progress import RunProgress
from fastsql.training.runs.ready import TrainingError
from fastsql.training.runs.schedule import MovingAverage, make_optimizer, rate_factor, run_fraction, set_rates
from fastsql.training.runs.team import Team

METRIC_STEPS = 25
"""Steps between two lines of metrics."""
BUNDLE = "bundle"
"""Folder of the exported bundle, in the run's own."""
HELD_OUT = "held_out.json"
"""Which examples were held out, for runs that start from this one's weights."""
CHECKED = 40
"""Dev examples on which the bundle is compared with the trained model."""
SEARCHED = 20
"""How many of these are searched with both, each on its own."""
NEAR = 1e-2
"""Log-probabilities that differ by less than this may change places: float32 sums depend on their order."""
BAD_STEPS = 20
"""Steps in a row without a finite gradient before the run gives up."""


@dataclass(frozen=True)
class TrainResult:
    """What a run left behind. `finished` is False where it was interrupted: resume it."""

    output: Path
    epochs: float
    seconds: float
    best: DevScore | None
    finished: bool


class Run:
    """One run: its model, optimizer and average, where it is, and what it writes."""

    def __init__(
        self,
        config: TrainConfig,
        corpus: Corpus,
        folder: Path,
        device: torch.device,
        progress: RunProgress,
        lengths: Sequence[int] | None = None,
    ) -> None:
        """`lengths`: of the corpus's samples to train on, if known."""
        self.config, self.corpus, self.folder, self.device, self.progress = (
            config,
            corpus,
            folder,
            device,
            progress,
        )
        self.team = Team()
        pretrained = load_pretrained(config.model.encoder)
        self.tokenizer = pretrained.tokenizer
        self.model_config = model_config(config, pretrained)
        self.bf16 = config.optim.bf16 and is_faster_in_bf16(device)
        if config.optim.bf16 and not self.bf16:
            progress.note("float32 in place of bf16, for which this processor has no unit")
        frozen = config.model.frozen_layers
        self.model = Model.start(self.model_config, pretrained, frozen).to(device).train()
        if config.model.freeze_words:
            self.model.encoder.word.requires_grad_(False)
        if not config.model.relations:
            self.model.remove_relations()
        sizes, asked = self.model_config, config.objectives
        self.auxiliary = None
        if asked.roles or asked.pruning:
            self.auxiliary = Auxiliary(sizes.d, sizes.heads, asked.roles, asked.pruning).to(device)
        trained = nn.ModuleList([self.model] if self.auxiliary is None else [self.model, self.auxiliary])
        self.parameters = list(trained.parameters())
        self.optimizer = make_optimizer(trained, self.model.encoder, config.optim)
        self.average = MovingAverage(copy.deepcopy(self.model), config.optim.ema)
        self.at = Position()
        self.best: DevScore | None = None
        self.maker = self._maker(corpus.train, augmented=True, lengths=lengths)

    def _maker(
        self, samples: tuple[Sample, ...], augmented: bool, lengths: Sequence[int] | None = None
    ) -> ExampleMaker:
        return ExampleMaker(
            self.corpus,
            samples,
            self.tokenizer,
            self.model_config,
            candidates=self.config.data.candidates,
            augment=self.config.augment if augmented else None,
            seed=self.config.order_seed,
            parts=self.auxiliary is not None and augmented,
            lengths=lengths,
        )

    # ------------------------------------------------------------------ state

    def state(self) -> dict[str, Any]:
        """All that resuming or exporting needs."""
        return {
            "config": self.config.to_dict(),
            "model_config": self.model_config.to_dict(),
            "grammar": grammar_names(),
            "model": self.model.state_dict(),
            "auxiliary": {} if self.auxiliary is None else self.auxiliary.state_dict(),
            "ema": self.average.model.state_dict(),
            "ema_steps": self.average.steps,
            "optimizer": self.optimizer.state_dict(),
            "rng": torch.get_rng_state(),
            "position": dict(vars(self.at)),
            "best": None if self.best is None else dict(vars(self.best)),
            "lexicon": [
                [table, column, values] for (table, column), values in sorted(self.corpus.lexicon.items())
            ],
            "constants": _constants(self.corpus),
            "tokenizer": self.tokenizer.json_text,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of `state`. Raises TrainingError for a checkpoint of another model."""
        sizes = ModelConfig.from_dict(state["model_config"])
        if sizes != self.model_config or state["grammar"] != grammar_names():
            raise TrainingError(
                "the checkpoint has a model of another grammar or other sizes",
                where=str(self.folder),
                remedy="Train in another folder, with --warm-start if you like.",
            )
        self.model.load_state_dict(state["model"])
        if self.auxiliary is not None:
            self.auxiliary.load_state_dict(state["auxiliary"])
        self.average.model.load_state_dict(state["ema"])
        self.average.steps = state["ema_steps"]
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["rng"])
        self.at = Position(**state["position"])
        self.best = None if state["best"] is None else DevScore(**{"databases": None, **state["best"]})
        self.progress.note(f"resumed at epoch {self.at.epochs:.2f} after {self.at.seconds / 60:.1f} minutes")

    def warm_start(self, bundle: str | Path, fresh: Sequence[str] = ()) -> None:
        """Takes over every weight of a bundle that has a place and a shape here, and no prefix among `fresh`.

        Graph layers, heads and hidden units beyond those of the bundle change nothing at first (see `deepened`, `widened`).
        """
        own = self.model.state_dict()
        found = {
            name: tensor
            for name, tensor in starting_weights(bundle, self.model_config, own).items()
            if name in own and own[name].shape == tensor.shape and not name.startswith(tuple(fresh))
        }
        self.model.load_state_dict({**own, **found})
        if not self.config.model.relations:
            self.model.remove_relations()
        self.average.model.load_state_dict(self.model.state_dict())
        self.progress.note(f"warm start: {len(found)} of {len(own)} weights from {bundle}")

    # ------------------------------------------------------------------ run

    def go(self, loaders: int, *, export: bool = True, bundle: bool = True) -> TrainResult:
        """Trains to the end of the schedule, or until interrupted; `loaders` processes prepare batches, 0: this one.

        Without `export`, the end is neither scored nor kept: for measuring how long a run takes. Without `bundle`, it is
        kept as a checkpoint alone.

        Of a team, each process trains on its share of the batches, and the leader alone scores and writes.
        """
        settings, team = self.config.optim, self.team
        shares = max(1, loaders)
        streams = [
            functools.partial(
                deliveries,
                self.maker,
                settings.batch_size,
                settings.max_tokens,
                self.config.order_seed,
                self.at.epoch,
                self.at.batch,
                (team.rank + team.size * share, team.size * shares),
            )
            for share in range(shares)
        ]
        # Forking a process that computes with OpenMP's threads can deadlock; one that leaves that to a GPU has none at work.
        forks = self.device.type == "cuda"
        with Loader(streams, background=loaders > 0, forks=forks) as loader:
            if team.rank:
                self._follow(loader)
                return TrainResult(self.folder, self.at.epochs, self.at.seconds, None, False)
            finished = self._lead(loader, scored=export)
        if not export:
            return TrainResult(self.folder, self.at.epochs, self.at.seconds, None, finished)
        save_checkpoint(self.folder / LAST, self.state())
        if finished and bundle:  # with a score, behind which the curves were drawn
            self._export()
        elif not finished:
            draw_curves(self.folder)
        return TrainResult(self.folder, self.at.epochs, self.at.seconds, self.best, finished)

    def _lead(self, loader: Loader, *, scored: bool) -> bool:
        """Trains, scores, saves and says how it goes. Returns whether the schedule is through."""
        schedule = self.config.schedule
        parts = {
            name: DevPart.prepare(self._maker(samples, augmented=False), schedule.dev_limit)
            for name, samples in self.corpus.dev.items()
        }
        self.team.gather()
        clock = Clock(self.at.seconds)
        checkpoint_due = clock.seconds() + 60 * schedule.checkpoint_minutes
        dev_due = clock.seconds() + 60 * schedule.dev_minutes
        finished = False
        fraction = 0.0
        losses = Smoothed()
        bad = empty = 0
        try:
            for delivery in loader:
                if self._between_steps:
                    fraction = self._fraction(clock.seconds())
                    stop = schedule.patience > 0 and self.at.since_best >= schedule.patience
                    _, finished = self.team.agree(fraction, fraction >= 1.0 or stop)
                    if finished:
                        break
                empty = 0 if delivery.batch is not None else empty + 1
                if empty >= delivery.batches:
                    raise TrainingError(
                        f"the query of none of {len(self.corpus.train)} examples can be written from its question",
                        where="data",
                        remedy="Its values are neither in the question nor known: name a database or values"
                        " of the source.",
                    )
                loss = self._step(delivery, fraction)
                self._advance(delivery)
                self.at.seconds = clock.seconds()
                bad = bad + 1 if loss is not None and not math.isfinite(loss) else 0
                if bad >= BAD_STEPS:
                    raise TrainingError(f"no finite loss in {bad} steps", remedy="Lower the learning rates.")
                if loss is not None and math.isfinite(loss):
                    losses.add(loss)
                self.progress.step(fraction, self.at.seconds, self.at.epochs, losses.value)
                if self.at.step % METRIC_STEPS == 0:
                    self._log_step(fraction, losses)
                if self.at.seconds >= dev_due:
                    self._score(parts)
                    dev_due = clock.seconds() + 60 * schedule.dev_minutes
                if self.at.seconds >= checkpoint_due and self._between_steps:
                    save_checkpoint(self.folder / LAST, self.state())
                    checkpoint_due = clock.seconds() + 60 * schedule.checkpoint_minutes
        except KeyboardInterrupt:
            self.progress.note("interrupted: saving a checkpoint")
        if self.at.step % METRIC_STEPS:
            self._log_step(self._fraction(clock.seconds()), losses)
        if finished and scored:
            self._score(parts)
        self.at.seconds = clock.seconds()
        return finished

    def _follow(self, loader: Loader) -> None:
        """Trains as long as the leader says so."""
        self.team.gather()
        fraction = 0.0
        for delivery in loader:
            if self._between_steps:
                fraction, ends = self.team.agree(fraction, False)
                if ends:
                    return
            self._step(delivery, fraction)
            self.at.step += 1

    @property
    def _between_steps(self) -> bool:
        """Whether no gradient waits for others of its step."""
        return self.at.step % self.config.optim.accumulate == 0

    def _fraction(self, seconds: float) -> float:
        """How much of the run is over."""
        updates = self.at.step // self.config.optim.accumulate
        return run_fraction(self.config.schedule, self.at.epochs, seconds, updates)

    def _rate(self, fraction: float) -> float:
        return rate_factor(fraction, self.config.optim.warmup, self.config.optim.final_rate)

    def _step(self, delivery: Delivery, fraction: float) -> float | None:
        """The gradients of one batch, and an update after every `accumulate` of them; the loss, None for an empty batch."""
        settings = self.config.optim
        loss = None
        if delivery.batch is not None:
            with computing(self.device, bf16=self.bf16):
                memory = self.model.read(delivery.batch)
                output = decision_loss(self.model, delivery.batch, settings.label_smoothing, memory)
                total = output.loss
                if self.auxiliary is not None:
                    total = total + self.auxiliary(memory, delivery.batch)
            torch.autograd.backward(total / settings.accumulate)
            loss = float(output.loss.detach())
        if (self.at.step + 1) % settings.accumulate:
            return loss
        self.team.average(self.parameters)
        set_rates(self.optimizer, self._rate(fraction))
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, settings.clip)
        if torch.isfinite(norm):
            self.optimizer.step()
            self.average.update(self.model)
        self.optimizer.zero_grad(set_to_none=True)
        return loss if loss is None or torch.isfinite(norm) else math.nan

    def _advance(self, delivery: Delivery) -> None:
        """Behind this batch and those that the others of a team take meanwhile."""
        at = self.at
        at.step += 1
        at.left_out += delivery.left_out
        at.epoch, at.batch, at.batches = delivery.epoch, delivery.position + self.team.size, delivery.batches
        if at.batch >= at.batches:
            self._log("epoch", left_out=at.left_out)
            at.epoch, at.batch, at.left_out = at.epoch + 1, at.batch - at.batches, 0

    def _score(self, parts: dict[str, DevPart]) -> None:
        found = score(self.average.model, parts)
        self._log("dev", **vars(found), value=found.value)
        self.progress.dev(str(found))
        draw_curves(self.folder)
        if found.value > self.at.best:
            self.at.best, self.at.since_best, self.best = found.value, 0, found
            save_checkpoint(self.folder / BEST, exportable(self.state()))  # not for resuming
        else:
            self.at.since_best += 1

    def _export(self) -> None:
        """The best average as a bundle, checked against the reference pipeline on dev examples."""
        bundle = export_checkpoint(self.folder / BEST, self.folder / BUNDLE)
        maker = self._maker(sum(self.corpus.dev.values(), ()), augmented=False)
        db_id = maker.samples[0].pair.db_id if maker.samples else ""
        # Questions before them are read by the network, and by the reference when they were asked.
        alone = [
            i for i, sample in enumerate(maker.samples) if sample.pair.db_id == db_id and not sample.earlier
        ]
        chosen = alone[:CHECKED]
        instances = [made for i in chosen if (made := maker.instance(i, random.Random(0))) is not None]
        if not instances:
            return
        found, searches = check_bundle(bundle, self.corpus.domains[db_id].schema, instances, SEARCHED)
        self._log(
            "export",
            examples=found.examples,
            same=found.same,
            worst=found.worst,
            searches_same=searches.same,
            searches_near=searches.near,
        )
        self.progress.note(
            f"{bundle}: the reference decides {found.same} of {found.examples} dev examples alike, "
            f"and its beam search finds the same queries for {searches.same} of {searches.questions}"
        )
        alike = found.same == found.examples or found.worst <= NEAR
        if not alike or searches.same + searches.near < searches.questions:
            raise TrainingError(
                f"the exported bundle decides {found.examples - found.same} of {found.examples} examples otherwise "
                f"and searches {searches.questions - searches.same} otherwise",
                where=str(bundle),
                remedy="This is a fault of fastsql: please report it.",
            )

    def _log_step(self, fraction: float, losses: Smoothed) -> None:
        """A line of metrics; none before the first loss."""
        if losses.value:
            self._log("train", fraction=fraction, loss=losses.value, rate=self._rate(fraction))

    def _log(self, kind: str, **values: float | None) -> None:
        place = {
            "step": self.at.step,
            "epoch": round(self.at.epochs, 4),
            "minutes": round(self.at.seconds / 60, 3),
        }
        append_metrics(self.folder, {"kind": kind, **place, **values})


def grammar_names() -> dict[str, list[str]]:
    """What the rows of the model's output and symbol embeddings stand for."""
    grammar = load_grammar()
    return {"productions": list(grammar.productions), "symbols": list(grammar.symbols)}


def _constants(corpus: Corpus) -> list[list[Any]]:
    """[name, value, label] of every named constant of the domains."""
    found = {item.name: item for domain in corpus.domains.values() for item in domain.schema.constants}
    return [[item.name, item.value, item.label] for _, item in sorted(found.items())]
