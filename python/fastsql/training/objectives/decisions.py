"""The loss of a batch: how improbable the gold decisions are, each given the gold ones before it (teacher forcing)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from fastsql.training.batches.batch import Batch
from fastsql.training.network.decoder import Memory
from fastsql.training.network.model import Model


@dataclass(frozen=True, eq=False)
class Output:
    """`loss` is the mean cross entropy of the decisions; `gold` float[B, D] are the gold actions' log-probabilities
    and `best` int64[B, D] the most probable legal actions (of padded decisions too).
    """

    loss: Tensor
    gold: Tensor
    best: Tensor


def decision_loss(
    model: Model, batch: Batch, label_smoothing: float = 0.0, memory: Memory | None = None
) -> Output:
    """Loss and predictions of a batch; `label_smoothing` is spread over the legal actions.

    `memory` is what `model.read` made of the batch, if that is known.
    """
    scores = model.decide(batch, model.read(batch) if memory is None else memory).float()
    legal, actions, mask = (
        torch.from_numpy(array).to(scores.device, non_blocking=True)
        for array in (batch.legal, batch.actions, batch.decision_mask)
    )
    log_probabilities = scores.masked_fill(~legal, -torch.inf).log_softmax(dim=-1)
    gold = log_probabilities.gather(-1, actions[..., None])[..., 0]
    loss = -gold[mask].mean()
    if label_smoothing:
        average = log_probabilities.masked_fill(~legal, 0.0).sum(-1) / legal.sum(-1)
        loss = (1 - label_smoothing) * loss - label_smoothing * average[mask].mean()
    return Output(loss, gold, log_probabilities.detach().argmax(dim=-1))
