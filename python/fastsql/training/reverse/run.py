"""Training of a reverse model, from settings to a bundle. It can be stopped at any moment and resumed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import asdict
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
from fastsql.training.runs.checkpoint import LAST, load_checkpoint
from fastsql.training.runs.curves import append_metrics
from fastsql.training.runs.ready import TrainingError
from fastsql.training.runs.single import SingleRun

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


class ReverseRun(SingleRun[ReverseNetwork, tuple[ReverseBatch, int]]):
    """A run on programs and questions; batches come with how many pairs they hold."""

    def __init__(
        self,
        settings: ReverseSettings,
        folder: Path,
        report: Report,
        state: dict[str, Any] | None,
        start: StoredReverse | None = None,
    ) -> None:
        self.settings = settings
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
        network = ReverseNetwork(self.config, torch.from_numpy(words), settings.model.dropout)
        if start is not None:
            weights = {name: torch.from_numpy(start.weights(name)) for name in start.config.shapes()}
            network.load_state_dict(weights)
        optimizer = _optimizer(network, settings)
        super().__init__(
            network, optimizer, settings.optim, settings.run, seed=settings.seed, folder=folder, report=report
        )
        self.seen = 0
        if state is not None:
            self.restore(state)
            self.seen = state["seen"]
        report(
            f"{len(self.train)} pairs to learn from, {len(self.dev)} held out, {len(self.config.outputs)} pieces to write,"
            f" {sum(map(Tensor.numel, network.parameters())):,} weights"
        )

    def epoch(self, seed: str) -> Iterator[tuple[ReverseBatch, int]]:
        """See `SingleRun.epoch`."""
        return self.reader.epoch(self.train, self.settings.optim, seed)

    def loss(self, batch: tuple[ReverseBatch, int]) -> Tensor:
        """See `SingleRun.loss`."""
        rows, pairs = batch
        self.seen += pairs
        return -self.network.log_probabilities(rows)[rows.written].mean()

    @torch.no_grad()
    def test(self, train: float) -> None:
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
                "rate": self.factor(),
            },
        )
        self.report(f"dev loss {dev:.4f} at {minutes} min, {self.seen} pairs seen")

    def described(self) -> dict[str, Any]:
        """See `SingleRun.described`."""
        return {
            "settings": asdict(self.settings),
            "reverse_config": self.config.to_dict(),
            "seen": self.seen,
        }


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
            {"params": decaying, "weight_decay": settings.optim.weight_decay, "peak": settings.optim.rate},
            {"params": others, "weight_decay": 0.0, "peak": settings.optim.rate},
        ],
        lr=0.0,
        betas=(0.9, 0.98),
        fused=True,
    )
