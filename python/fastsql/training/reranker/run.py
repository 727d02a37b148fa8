"""Training of a reranker, from settings to a checkpoint. It can be stopped at any moment and resumed."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from fastsql.parser.bundles import open_model
from fastsql.reranker.config import RerankerConfig
from fastsql.synthesis.generate import Report
from fastsql.training.reranker.batches import Batch, BeamReader, loss_of
from fastsql.training.reranker.beams import gather_beams
from fastsql.training.reranker.network import RerankerNetwork
from fastsql.training.reranker.settings import RerankerSettings, StepSettings
from fastsql.training.reranker.start import config_for, start_from
from fastsql.training.runs.checkpoint import LAST, load_checkpoint, save_checkpoint
from fastsql.training.runs.curves import append_metrics
from fastsql.training.runs.position import Clock, Position, Smoothed
from fastsql.training.runs.precision import computing, is_faster_in_bf16
from fastsql.training.runs.ready import TrainingError
from fastsql.training.runs.schedule import MovingAverage, rate_factor, set_rates

_NOTE_SECONDS = 30.0
_CPU = torch.device("cpu")
logger = logging.getLogger(__name__)


def train_reranker(
    settings: RerankerSettings,
    output: str | Path,
    *,
    resume: bool = False,
    threads: int | None = None,
    processes: int = 1,
    report: Report = logger.info,
) -> Path:
    """Train a reranker; leaves `last.pt` and `metrics.jsonl` in `output`, and returns the path of the checkpoint.

    What is learnt from is parsed first, by so many `processes`, and kept in `output`.
    Raises ConfigError, DatasetError, SchemaError, CheckpointError, ModelError, TrainingError.
    """
    folder = Path(output)
    if (folder / LAST).exists() and not resume:
        raise TrainingError(
            "already holds a run", where=str(folder), remedy="Resume it, or give another folder."
        )
    state = load_checkpoint(folder / LAST) if resume else None
    folder.mkdir(parents=True, exist_ok=True)
    if threads:
        torch.set_num_threads(threads)
    torch.manual_seed(settings.seed)
    RerankerRun(settings, folder, report, state, processes).go()
    return folder / LAST


class RerankerRun:
    """A run: its network, its average, and where it is."""

    def __init__(
        self,
        settings: RerankerSettings,
        folder: Path,
        report: Report,
        state: dict[str, Any] | None,
        processes: int,
    ) -> None:
        self.settings, self.folder, self.report = settings, folder, report
        bundle = open_model(settings.parser)
        self.config = (
            config_for(bundle, settings.layers)
            if state is None
            else RerankerConfig.from_dict(state["reranker_config"])
        )
        beams = gather_beams(
            settings.data, settings.parser, self.config, folder, processes=processes, report=report
        )
        tokenizer = bundle.tokenizer()
        self.train = BeamReader(beams.train, tokenizer, settings)
        self.dev = BeamReader(beams.dev, tokenizer, settings)
        if not len(self.train):
            raise TrainingError("no question was parsed that can be learnt from", where=str(folder))
        self.network = RerankerNetwork(self.config, settings.optim.dropout)
        start_from(self.network, bundle)
        self.optimizer = _optimizer(self.network, settings.optim)
        self.average = MovingAverage(copy.deepcopy(self.network), settings.optim.ema)
        self.position = Position()
        self.bf16 = settings.optim.bf16 and is_faster_in_bf16(_CPU)
        if state is not None:
            self._restore(state)
        report(
            f"{len(self.train)} questions to learn from, {len(self.dev)} held out,"
            f" {sum(map(Tensor.numel, self.network.parameters())):,} weights"
        )

    def go(self) -> None:
        """Learn until the time is over; checkpoints and dev figures on the way."""
        run = self.settings.run
        clock, loss = Clock(self.position.seconds), Smoothed()
        saved = noted = tested = self.position.seconds
        for batch in self._batches():
            loss.add(self._step(batch))
            self.position.seconds = seconds = clock.seconds()
            over = seconds >= run.minutes * 60
            if seconds - noted >= _NOTE_SECONDS:
                noted = seconds
                self.report(
                    f"{seconds / 60:.1f} min  epoch {self.position.epoch}  step {self.position.step}"
                    f"  loss {loss.value:.3f}  rate {self._factor():.3f}"
                )
            if over or seconds - tested >= run.dev * 60:
                tested = seconds
                self._test(loss.value)
            if over or seconds - saved >= run.checkpoint * 60:
                saved = seconds
                self._save()
            if over:
                return

    def _batches(self) -> Iterator[Batch]:
        """Batches without end, from where the run stands."""
        while True:
            epoch = self.train.epoch(f"{self.settings.seed}/{self.position.epoch}")
            for batch in islice(epoch, self.position.batch, None):
                self.position.batch += 1
                yield batch
            self.position.epoch += 1
            self.position.batch = 0

    def _factor(self) -> float:
        optim = self.settings.optim
        done = min(1.0, self.position.seconds / max(1.0, 60 * self.settings.run.minutes))
        return rate_factor(done, optim.warmup, optim.final_rate)

    def _step(self, batch: Batch) -> float:
        set_rates(self.optimizer, self._factor())
        self.network.train()
        with computing(_CPU, bf16=self.bf16):
            loss = loss_of(self.network(batch.rows), batch)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.optim.clip)
        self.optimizer.step()
        self.average.update(self.network)
        self.position.step += 1
        return loss.item()

    @torch.no_grad()
    def _test(self, train: float) -> None:
        """The loss over the held-out questions, and how many are right first, by the search and by the averaged weights."""
        loss = questions = by_rank = by_rating = 0.0
        for beams, batch in self.dev.plain():
            scores = self.average.model(batch.rows)
            loss += loss_of(scores, batch).item() * len(beams)
            questions += len(beams)
            for beam, said in zip(beams, torch.split(scores, batch.counts), strict=True):
                ranks = torch.tensor([one.rank for one in beam.hypotheses])
                by_rank += beam.hypotheses[int(ranks.argmax())].right
                by_rating += beam.hypotheses[int(said.argmax())].right
        figures = {
            "minutes": round(self.position.seconds / 60, 2),
            "loss": loss / max(1.0, questions),
            "train": train,
            "by_rank": by_rank / max(1.0, questions),
            "by_rating": by_rating / max(1.0, questions),
        }
        append_metrics(self.folder, {"kind": "dev", **figures})
        self.report(
            f"dev loss {figures['loss']:.4f} at {figures['minutes']} min; right first {figures['by_rating']:.1%} by the"
            f" reranker alone, {figures['by_rank']:.1%} by the search"
        )

    def _save(self) -> None:
        save_checkpoint(
            self.folder / LAST,
            {
                "settings": asdict(self.settings),
                "reranker_config": self.config.to_dict(),
                "network": self.network.state_dict(),
                "average": self.average.model.state_dict(),
                "average_steps": self.average.steps,
                "optimizer": self.optimizer.state_dict(),
                "position": asdict(self.position),
                "random": torch.get_rng_state(),
            },
        )

    def _restore(self, state: dict[str, Any]) -> None:
        self.network.load_state_dict(state["network"])
        self.average.model.load_state_dict(state["average"])
        self.average.steps = state["average_steps"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.position = Position(**state["position"])
        torch.set_rng_state(state["random"])


def _optimizer(network: RerankerNetwork, settings: StepSettings) -> torch.optim.AdamW:
    """What comes from the encoder learns more slowly."""
    learnt = [(name, one) for name, one in network.named_parameters() if one.requires_grad]
    started = [one for name, one in learnt if name.startswith(("layers.", "norm."))]
    new = [one for name, one in learnt if not name.startswith(("layers.", "norm."))]
    return torch.optim.AdamW(
        [
            {"params": new, "lr": 0.0, "peak": settings.rate},
            {"params": started, "lr": 0.0, "peak": settings.encoder_rate},
        ],
        weight_decay=settings.weight_decay,
        betas=(0.9, 0.98),
        fused=True,
    )
