"""A question and a program as the one row of tokens that the reranker reads.

[CLS], the questions before it in its conversation, each with [SEP] behind it, the question, [SEP], and the program as the
reverse model reads it (`fastsql.reverse.source`). A piece that stands on both sides is marked on both: what no part of a
query is about, and what nobody asked for, is seen at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fastsql.errors import LimitError
from fastsql.model.tokenizer import Tokenizer
from fastsql.reverse.source import Ints, Kind, Source

QUESTION, EARLIER = len(Kind), len(Kind) + 1
"""The kinds of tokens of the question, and of those before it, beside those of a program."""
KINDS = len(Kind) + 2
QUESTION_TOKENS, ASKED_TOKENS, PROGRAM_TOKENS = 80, 100, 160
"""Tokens that are read of a question, of it and of those before it, and of a program; a longer program is not read."""
EARLIER_QUESTIONS = 3
"""How many questions before it are read with one."""
MAX_TOKENS = 2 + ASKED_TOKENS + PROGRAM_TOKENS


_SILENT = ("[CLS]", "[SEP]", "[UNK]")
"""Pieces that stand for no word of their own, so that it says nothing where both sides have them."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked: `ids` and `kinds` int32[T] of [CLS], earlier questions, the question and [SEP].

    `silent` are the pieces that are never marked as shared.
    """

    ids: Ints
    kinds: Ints
    silent: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Row:
    """A question with one program: `ids`, `kinds`, `tables`, and whether a piece stands on both sides, int32[S] each."""

    ids: Ints
    kinds: Ints
    tables: Ints
    shared: Ints


def asked(question: str, earlier: Sequence[str], tokenizer: Tokenizer) -> Asked:
    """A question, and those before it in its conversation, the latest last. What is too long is cut."""
    own = _pieces(question, tokenizer)[:QUESTION_TOKENS]
    before: list[int] = []
    for one in earlier[-EARLIER_QUESTIONS:]:
        before += [*_pieces(one, tokenizer), tokenizer.sep]
    before = before[-(ASKED_TOKENS - len(own)) :]
    ids = np.array([tokenizer.cls, *before, *own, tokenizer.sep], dtype=np.int32)
    kinds = np.full(len(ids), QUESTION, dtype=np.int32)
    kinds[1 : 1 + len(before)] = EARLIER
    return Asked(ids, kinds, tuple(one for one in tokenizer.ids_of(_SILENT) if one is not None))


def row(question: Asked, program: Source) -> Row:
    """What is asked with a program of at most `PROGRAM_TOKENS`."""
    ids = np.concatenate([question.ids, program.ids])
    shared = np.concatenate([np.isin(question.ids, program.ids), np.isin(program.ids, question.ids)])
    return Row(
        ids,
        np.concatenate([question.kinds, program.kinds]),
        np.concatenate([np.zeros_like(question.ids), program.tables]),
        (shared & ~np.isin(ids, question.silent)).astype(np.int32),
    )


def _pieces(text: str, tokenizer: Tokenizer) -> list[int]:
    try:
        ids: list[int] = tokenizer.tokenize(text).ids.tolist()
    except LimitError:  # far more than is read of it: its beginning will do
        (cut,) = tokenizer.encode_texts([text])
        ids = cut[1:-1]
    return ids
