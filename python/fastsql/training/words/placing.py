"""Where words of another language lie in an encoder's word space: where their glosses do.

First each token takes the mean of its glosses' pieces. Then the word space alone is trained so that what the encoder, as it
is, makes of a word's tokens is what it makes of the word's gloss (after Tran, 2020, "From English to foreign languages", and
Minixhofer et al., 2022, WECHSEL, which place subwords by bilingual dictionaries; the second step is ours).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from fastsql.model.tokenizer import Tokenizer
from fastsql.training.network.encoder import Encoder
from fastsql.training.network.pretrained import Pretrained
from fastsql.training.runs.precision import computing, is_faster_in_bf16

_BATCH, _RATE = 256, 2e-3
_SAMPLE = 0.02
"""Standard deviation of what is drawn for a token of which nothing is known, as BERT's own words begin."""


@dataclass(frozen=True)
class Placed:
    """Rows for the tokens, float32[tokens, hidden], and how near pairs kept apart came, as mean cosines before and after."""

    rows: Tensor
    before: float
    after: float


def first_rows(
    tokens: Sequence[str], glosses: Mapping[str, Sequence[str]], english: Pretrained, seed: int = 1
) -> Tensor:
    """Float32[tokens, hidden]: the English encoder's own row, else the mean of a word's glosses, the first weighing most."""
    generator = torch.Generator().manual_seed(seed)
    table = english.weights["word.weight"]
    own = english.tokenizer.ids_of(tokens)
    rows = torch.randn((len(tokens), table.shape[1]), generator=generator) * _SAMPLE
    for number, token in enumerate(tokens):
        known = own[number]
        if known is not None:
            rows[number] = table[known]
        elif token in glosses:
            ids = english.tokenizer.encode_texts(list(glosses[token]))
            means = torch.stack([table[one[1:-1]].mean(0) for one in ids if len(one) > 2])
            weights = 0.5 ** torch.arange(len(means), dtype=torch.float32)
            rows[number] = (means * (weights / weights.sum())[:, None]).sum(0)
    return rows


def place(
    rows: Tensor,
    tokenizer: Tokenizer,
    english: Pretrained,
    pairs: Sequence[tuple[str, str]],
    *,
    steps: int,
    seed: int = 1,
) -> Placed:
    """Train `rows` on pairs of a text and its English; one in fifty is kept apart and tells how near they came."""
    torch.manual_seed(seed)
    encoder = Encoder(english.config, 0.0)
    encoder.load_state_dict(english.weights)
    encoder.eval().requires_grad_(False)
    student = torch.nn.Parameter(rows.clone())
    order = torch.randperm(len(pairs)).tolist()
    apart, train = order[: len(order) // 50], order[len(order) // 50 :]
    foreign = tokenizer.encode_texts([one for one, _ in pairs])
    texts = english.tokenizer.encode_texts([other for _, other in pairs])
    optimizer = torch.optim.Adam([student], lr=_RATE)
    cpu = torch.device("cpu")
    bf16 = is_faster_in_bf16(cpu)

    def distance(chosen: list[int]) -> Tensor:
        with computing(cpu, bf16=bf16):
            with torch.no_grad():
                wanted = _states(encoder, english.weights["word.weight"], [texts[n] for n in chosen])
            found = _states(encoder, student, [foreign[n] for n in chosen])
        return 1 - F.cosine_similarity(found.float(), wanted.float())

    def nearness() -> float:
        with torch.no_grad():
            return 1 - float(distance(apart[:2000]).mean())

    before = nearness()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = _RATE * (1 - step / steps)
        first = (step * _BATCH) % max(1, len(train) - _BATCH)
        loss = distance(train[first : first + _BATCH]).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return Placed(student.detach(), before, nearness())


def _states(encoder: Encoder, words: Tensor, texts: Sequence[list[int]]) -> Tensor:
    """Mean states of texts, float32[texts, hidden]."""
    lengths = torch.tensor([len(text) for text in texts])
    ids = torch.zeros((len(texts), int(lengths.max())), dtype=torch.long)
    for row, text in zip(ids, texts, strict=True):
        row[: len(text)] = torch.tensor(text)
    inside = torch.arange(ids.shape[1])[None, :] < lengths[:, None]
    (states,) = torch.func.functional_call(encoder, {"word.weight": words}, ([ids], lengths))
    means: Tensor = (states * inside[:, :, None]).sum(1) / lengths[:, None]
    return means
