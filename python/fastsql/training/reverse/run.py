"""Training of a reverse model, from settings to a bundle. It can be stopped at any moment and resumed."""

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

from fastsql.grammar.compile import load_grammar
from fastsql.model.tokenizer import Tokenizer
from fastsql.model.weights import dequantise
from fastsql.parser.bundles import open_model
from fastsql.reverse.config import ReverseConfig
from fastsql.reverse.source import ITEMS, OTHER
from fastsql.reverse.weights import StoredReverse, read_reverse
from fastsql.synthesis.generate import Report
from fastsql.training.reverse.batches import PairReader
from fastsql.training.reverse.network import ReverseBatch, ReverseNetwork
from fastsql.training.reverse.pairs import load_pairs
from fastsql.training.reverse.settings import ReverseSettings
from fastsql.training.reverse.words import narrow
from fastsql.training.runs.checkpoint import LAST, load_checkpoint, save_checkpoint
from fastsql.training.runs.curves import append_metrics
from fastsql.training.runs.position import Clock, Position, Smoothed
from fastsql.training.runs.ready import TrainingError
from fastsql.training.runs.schedule import MovingAverage, rate_factor

_NOTE_SECONDS = 30.0
logger = logging.getLogger(__name__)


def train_reverse(
    settings: ReverseSettings,
    output: str | Path,
    *,
    resume: bool = False,
    warm_start: str | Path | None = None,
    threads: int | None = None,
    report: Report = logger.info,
) -> Path:
    """Train a reverse model; leaves `last.pt` and `metrics.jsonl` in `output`, and returns the path of the checkpoint.

    `warm_start` is the file of a reverse model whose weights, sizes and pieces to write it starts from.
    Raises ConfigError, DatasetError, CheckpointError, ModelError, TrainingError.
    """
    folder = Path(output)
    if (folder / LAST).exists() and not resume:
        raise TrainingError(
            "already holds a run", where=str(folder), remedy="Resume it, or give another folder."
        )
    state = load_checkpoint(folder / LAST) if resume else None
    start = None
    if warm_start is not None and state is None:
        start = read_reverse(warm_start, open_model(settings.words_from).tokenizer())
    folder.mkdir(parents=True, exist_ok=True)
    if threads:
        torch.set_num_threads(threads)
    torch.manual_seed(settings.seed)
    run = ReverseRun(settings, folder, report, state, start)
    run.go()
    return folder / LAST


class ReverseRun:
    """A run: its network, its average, and where it is."""

    def __init__(
        self,
        settings: ReverseSettings,
        folder: Path,
        report: Report,
        state: dict[str, Any] | None,
        start: StoredReverse | None = None,
    ) -> None:
        self.settings, self.folder, self.report = settings, folder, report
        corpus = load_pairs(settings.data, folder / "cache", report)
        bundle = open_model(settings.words_from)
        tokenizer = bundle.tokenizer()
        known = ReverseConfig.from_dict(state["reverse_config"]) if state else start.config if start else None
        styles = tuple(sorted({one.style for one in corpus.train}))
        symbols = known.symbols if known else (OTHER, *styles, *ITEMS, *load_grammar().productions)
        numbers = {name: tokenizer.vocabulary + number for number, name in enumerate(symbols)}
        self.reader = PairReader(corpus.schemas, tokenizer, numbers, settings.data)
        self.train, self.dev = self.reader.pieces(corpus.train), self.reader.pieces(corpus.dev)
        self.dev = self.dev[:: max(1, len(self.dev) // settings.run.dev_pairs)]
        self.config = known or _config(settings, tokenizer, symbols, styles, self.reader.written(self.train))
        words = narrow(dequantise(*bundle.weights().words()), self.config.words)
        self.network = ReverseNetwork(self.config, torch.from_numpy(words), settings.model.dropout)
        if start is not None:
            weights = {name: torch.from_numpy(start.weights(name)) for name in start.config.shapes()}
            self.network.load_state_dict(weights)
        self.optimizer = _optimizer(self.network, settings)
        self.average = MovingAverage(copy.deepcopy(self.network), settings.optim.ema)
        self.position = Position()
        self.seen = 0
        if state is not None:
            self._restore(state)
        report(
            f"{len(self.train)} pairs to learn from, {len(self.dev)} held out, {len(self.config.outputs)} pieces to write,"
            f" {sum(map(Tensor.numel, self.network.parameters())):,} weights"
        )

    def go(self) -> None:
        """Learn until the time is over; checkpoints and dev scores on the way."""
        run = self.settings.run
        clock, loss = Clock(self.position.seconds), Smoothed()
        saved = noted = tested = self.position.seconds
        for batch, pairs in self._batches():
            loss.add(self._step(batch))
            self.seen += pairs
            self.position.seconds = seconds = clock.seconds()
            over = seconds >= run.minutes * 60
            if seconds - noted >= _NOTE_SECONDS:
                noted = seconds
                self.report(
                    f"{seconds / 60:.1f} min  epoch {self.position.epoch}  {self.seen} pairs"
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

    def _batches(self) -> Iterator[tuple[ReverseBatch, int]]:
        """Batches without end, from where the run stands."""
        while True:
            seed = f"{self.settings.seed}/{self.position.epoch}"
            epoch = self.reader.epoch(self.train, self.settings.optim, seed)
            for item in islice(epoch, self.position.batch, None):
                self.position.batch += 1
                yield item
            self.position.epoch += 1
            self.position.batch = 0

    def _factor(self) -> float:
        optim = self.settings.optim
        done = min(1.0, self.position.seconds / max(1.0, 60 * self.settings.run.minutes))
        return rate_factor(done, optim.warmup, optim.final_rate)

    def _step(self, batch: ReverseBatch) -> float:
        optim = self.settings.optim
        for group in self.optimizer.param_groups:
            group["lr"] = optim.rate * self._factor()
        self.network.train()
        loss = -self.network.log_probabilities(batch)[batch.written].mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), optim.clip)
        self.optimizer.step()
        self.average.update(self.network)
        self.position.step += 1
        return loss.item()

    @torch.no_grad()
    def _test(self, train: float) -> None:
        """Loss of a piece over the held-out pairs, by the averaged weights."""
        total = pieces = 0.0
        for batch in self.reader.plain(self.dev, self.settings.optim):
            total -= self.average.model.log_probabilities(batch)[batch.written].sum().item()
            pieces += batch.written.sum().item()
        dev = total / max(1.0, pieces)
        minutes = round(self.position.seconds / 60, 2)
        append_metrics(
            self.folder,
            {
                "kind": "dev",
                "minutes": minutes,
                "loss": dev,
                "train": train,
                "pairs": self.seen,
                "rate": self._factor(),
            },
        )
        self.report(f"dev loss {dev:.4f} at {minutes} min")

    def _save(self) -> None:
        save_checkpoint(
            self.folder / LAST,
            {
                "settings": asdict(self.settings),
                "reverse_config": self.config.to_dict(),
                "network": self.network.state_dict(),
                "average": self.average.model.state_dict(),
                "average_steps": self.average.steps,
                "optimizer": self.optimizer.state_dict(),
                "position": asdict(self.position),
                "seen": self.seen,
                "random": torch.get_rng_state(),
            },
        )

    def _restore(self, state: dict[str, Any]) -> None:
        self.network.load_state_dict(state["network"])
        self.average.model.load_state_dict(state["average"])
        self.average.steps = state["average_steps"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.position = Position(**state["position"])
        self.seen = state["seen"]
        torch.set_rng_state(state["random"])


def _config(
    settings: ReverseSettings,
    tokenizer: Tokenizer,
    symbols: tuple[str, ...],
    styles: tuple[str, ...],
    outputs: tuple[int, ...],
) -> ReverseConfig:
    sizes = {name: size for name, size in asdict(settings.model).items() if name != "dropout"}
    return ReverseConfig(
        pieces=tokenizer.vocabulary,
        symbols=symbols,
        styles=styles,
        outputs=outputs,
        start=tokenizer.cls,
        end=tokenizer.sep,
        **sizes,
    )


def _optimizer(network: ReverseNetwork, settings: ReverseSettings) -> torch.optim.AdamW:
    learnt = [parameter for parameter in network.parameters() if parameter.requires_grad]
    decaying = [parameter for parameter in learnt if parameter.ndim >= 2]
    others = [parameter for parameter in learnt if parameter.ndim < 2]
    return torch.optim.AdamW(
        [
            {"params": decaying, "weight_decay": settings.optim.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ],
        lr=0.0,
        betas=(0.9, 0.98),
        fused=True,
    )
