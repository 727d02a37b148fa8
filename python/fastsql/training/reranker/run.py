"""Training of a reranker, from settings to a checkpoint. It can be stopped at any moment and resumed."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from fastsql.parser.bundles import open_model
from fastsql.reliability.judges import RATING_WEIGHT
from fastsql.reranker.config import RerankerConfig
from fastsql.synthesis.generate import Report
from fastsql.training.reranker.batches import Batch, BeamReader, loss_of
from fastsql.training.reranker.beams import gather_beams
from fastsql.training.reranker.network import RerankerNetwork
from fastsql.training.reranker.settings import RerankerSettings, StepSettings
from fastsql.training.reranker.start import config_for, start_from
from fastsql.training.runs.checkpoint import LAST, load_checkpoint
from fastsql.training.runs.curves import append_metrics
from fastsql.training.runs.precision import computing, is_faster_in_bf16
from fastsql.training.runs.ready import TrainingError
from fastsql.training.runs.single import SingleRun
from fastsql.training.runs.team import Leader, Team

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

    What is learnt from is parsed first and kept in `output`. So many `processes` parse and train, and share the `threads`.
    Raises ConfigError, DatasetError, SchemaError, CheckpointError, ModelError, TrainingError.
    """
    folder = Path(output)
    if (folder / LAST).exists() and not resume:
        raise TrainingError(
            "already holds a run", where=str(folder), remedy="Resume it, or give another folder."
        )
    state = load_checkpoint(folder / LAST) if resume else None
    folder.mkdir(parents=True, exist_ok=True)
    each = max(1, (threads or os.cpu_count() or 1) // processes)
    run = _begin(settings, folder, report, state, processes, each)
    if processes == 1:
        run.go()
    else:
        with Leader(
            processes, run.network.parameters(), _follow, (settings, folder, resume, each)
        ) as run.team:
            run.go()
    return folder / LAST


def _begin(
    settings: RerankerSettings,
    folder: Path,
    report: Report,
    state: dict[str, Any] | None,
    processes: int,
    threads: int,
) -> RerankerRun:
    """A run at its start; the same in every process."""
    torch.set_num_threads(threads)
    torch.manual_seed(settings.seed)
    return RerankerRun(settings, folder, report, state, processes)


def _follow(team: Team, settings: RerankerSettings, folder: Path, resume: bool, threads: int) -> None:
    """What the other processes of a team do."""
    state = load_checkpoint(folder / LAST) if resume else None
    run = _begin(settings, folder, logger.debug, state, 1, threads)
    # It drops other units out than the leader.
    torch.manual_seed(hash((settings.seed, run.position.step, team.rank)))
    run.team = team
    run.go()


class RerankerRun(SingleRun[RerankerNetwork, Batch]):
    """A run on what a parser finds."""

    def __init__(
        self,
        settings: RerankerSettings,
        folder: Path,
        report: Report,
        state: dict[str, Any] | None,
        processes: int,
    ) -> None:
        self.settings = settings
        bundle = open_model(settings.parser)
        known = None if state is None else RerankerConfig.from_dict(state["reranker_config"])
        config = known or config_for(bundle, settings.layers)
        beams = gather_beams(
            settings.data, settings.parser, config, folder, processes=processes, report=report
        )
        tokenizer = bundle.tokenizer()
        self.train = BeamReader(beams.train, tokenizer, settings)
        self.dev = BeamReader(beams.dev, tokenizer, settings)
        if not len(self.train):
            raise TrainingError("no question was parsed that can be learnt from", where=str(folder))
        network = RerankerNetwork(config, settings.optim.dropout)
        start_from(network, bundle)
        optimizer = _optimizer(network, settings.optim)
        super().__init__(
            network, optimizer, settings.optim, settings.run, seed=settings.seed, folder=folder, report=report
        )
        self.bf16 = settings.optim.bf16 and is_faster_in_bf16(_CPU)
        if state is not None:
            self.restore(state)
        report(
            f"{len(self.train)} questions to learn from, {len(self.dev)} held out,"
            f" {sum(map(Tensor.numel, network.parameters())):,} weights"
        )

    def epoch(self, seed: str) -> Iterator[Batch]:
        """See `SingleRun.epoch`."""
        return self.train.epoch(seed)

    def loss(self, batch: Batch) -> Tensor:
        """See `SingleRun.loss`."""
        with computing(_CPU, bf16=self.bf16):
            return loss_of(self.network(batch.rows), batch)

    @torch.no_grad()
    def test(self, train: float) -> None:
        """The loss over the held-out questions, and how many are right first: by the search, the averaged weights, both."""
        loss = questions = by_rank = by_rating = by_both = 0.0
        for beams, batch in self.dev.plain():
            scores = self.average.model(batch.rows)
            loss += loss_of(scores, batch).item() * len(beams)
            questions += len(beams)
            for beam, said in zip(beams, torch.split(scores, batch.counts), strict=True):
                ranks = torch.tensor([one.rank for one in beam.hypotheses])
                by_rank += beam.hypotheses[int(ranks.argmax())].right
                by_rating += beam.hypotheses[int(said.argmax())].right
                by_both += beam.hypotheses[int((ranks + RATING_WEIGHT * said).argmax())].right
        figures = {
            "minutes": round(self.position.seconds / 60, 2),
            "loss": loss / max(1.0, questions),
            "train": train,
            "by_rank": by_rank / max(1.0, questions),
            "by_rating": by_rating / max(1.0, questions),
            "by_both": by_both / max(1.0, questions),
        }
        append_metrics(self.folder, {"kind": "dev", **figures})
        self.report(
            f"dev loss {figures['loss']:.4f} at {figures['minutes']} min; right first {figures['by_both']:.1%},"
            f" {figures['by_rating']:.1%} by the reranker alone, {figures['by_rank']:.1%} by the search"
        )

    def described(self) -> dict[str, Any]:
        """See `SingleRun.described`."""
        return {"settings": asdict(self.settings), "reranker_config": self.network.config.to_dict()}


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
