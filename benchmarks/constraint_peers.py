"""The time that xgrammar and llguidance take to constrain the writing of SQL, token by token.

Both get the grammar of `sql_subset.py` and one byte-level BPE vocabulary of 32,000 or somewhat fewer entries, trained here
on questions and SQL of public training sets. It cuts SQL into longer pieces than a language model's own vocabulary does, and
a larger vocabulary costs both of them more: the choice favours them. A step fills the bit mask of the tokens that may come
and accepts the query's next one; the end of the text is a step, too. One thread, warm, in processor time, the best of
several rounds.
"""

from __future__ import annotations

if __name__ == "__main__":
    from parts import explain

    explain(__file__)

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import sqlglot
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from fastsql.datasets import read_examples
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parent))
from figures import best_seconds
from sql_subset import llguidance_lark, xgrammar_ebnf

END = "</s>"
TRAINING = ("ehrsql2024/train.json", "spider/train.json", "bird/train.json")
SLICES = {
    "no slices": [],
    "its slices": None,
    "slices of strings": [r"[^'\n]{1,30}", r"[^'\n]+"],
}
"""Sets of tokens for which llguidance prepares masks: none, its defaults, and such as lie within a string literal."""

Ids = list[int]


class MissingPackageError(RuntimeError):
    """xgrammar or llguidance is not installed."""


class Peer(Protocol):
    """A compiled grammar."""

    name: str
    compile_ms: float

    def begin(self) -> Any:
        """The state before the first token."""
        ...

    def accepts(self, ids: Ids) -> bool:
        """Whether the grammar has this text; its end included."""
        ...

    def follow(self, state: Any, ids: Ids) -> None:
        """A mask and an advance for every token."""
        ...


@dataclass(frozen=True)
class Timed:
    """Microseconds of a peer, means over the queries."""

    name: str
    compile_ms: float
    begin_us: float
    query_us: float
    steps: float

    @property
    def step_us(self) -> float:
        """Of one mask and one advance."""
        return self.query_us / self.steps


def as_written(sql: str) -> str:
    """The query in the form whose grammar `sql_subset` gives."""
    return sqlglot.transpile(sql, read="sqlite", write="sqlite")[0]


def byte_pairs(texts: Sequence[str], size: int = 32_000) -> Tokenizer:
    """A byte-level BPE vocabulary (Sennrich et al., 2016), its id 0 the end of a text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def training_texts(data: Path) -> list[str]:
    """Questions and SQL of public training sets, those that are there."""

    def texts() -> Iterator[str]:
        for name in TRAINING:
            if (data / name).is_file():
                for example in read_examples(data / name):
                    yield example.question
                    if example.sql is not None:
                        yield example.sql

    return list(texts())


class XGrammar:
    """xgrammar: a pushdown automaton whose token masks are prepared where they do not depend on the stack."""

    def __init__(self, tokenizer: Tokenizer, schema: Schema, constants: Sequence[str]) -> None:
        try:
            import xgrammar
        except ImportError as error:
            raise MissingPackageError("xgrammar is not installed: pip install xgrammar") from error
        size = tokenizer.get_vocab_size()
        self.name = f"xgrammar {version('xgrammar')}"
        self._matcher = xgrammar.GrammarMatcher
        words = [tokenizer.id_to_token(index) for index in range(size)]
        info = xgrammar.TokenizerInfo(
            words, vocab_type=xgrammar.VocabType.BYTE_LEVEL, vocab_size=size, stop_token_ids=[0]
        )
        compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        start = time.perf_counter()
        self._grammar = compiler.compile_grammar(xgrammar_ebnf(schema, constants))
        self.compile_ms = 1000 * (time.perf_counter() - start)
        self._mask = np.zeros(xgrammar.get_bitmask_shape(1, size), dtype=np.int32)

    def begin(self) -> Any:
        """See `Peer`."""
        return self._matcher(self._grammar)

    def accepts(self, ids: Ids) -> bool:
        """See `Peer`."""
        matcher = self.begin()
        return all(matcher.accept_token(token) for token in (*ids, 0))

    def follow(self, state: Any, ids: Ids) -> None:
        """See `Peer`."""
        fill, accept, mask = state.fill_next_token_bitmask, state.accept_token, self._mask
        for token in ids:
            fill(mask)
            accept(token)
        fill(mask)
        accept(0)


class LLGuidance:
    """llguidance: an Earley parser over a lexer of derivatives, walked along a trie of the vocabulary."""

    def __init__(self, tokenizer: Tokenizer, schema: Schema, constants: Sequence[str], slices: str) -> None:
        try:
            import llguidance
        except ImportError as error:
            raise MissingPackageError("llguidance is not installed: pip install llguidance") from error
        self.name = f"llguidance {version('llguidance')}, {slices}"
        vocabulary = llguidance.LLTokenizer(tokenizer.to_str(), eos_token=0, slices=SLICES[slices])
        start = time.perf_counter()
        self._matcher = llguidance.LLMatcher(vocabulary, llguidance_lark(schema, constants), log_level=0)
        self.compile_ms = 1000 * (time.perf_counter() - start)
        if self._matcher.is_error():
            raise ValueError(f"llguidance does not take the grammar: {self._matcher.get_error()}")
        self._mask = np.zeros((tokenizer.get_vocab_size() + 31) // 32, dtype=np.int32)

    def begin(self) -> Any:
        """See `Peer`."""
        return self._matcher.deep_copy()

    def accepts(self, ids: Ids) -> bool:
        """See `Peer`."""
        matcher = self.begin()
        return bool(matcher.validate_tokens([*ids, 0]) == len(ids) + 1)

    def follow(self, state: Any, ids: Ids) -> None:
        """See `Peer`."""
        fill, accept = state.unsafe_compute_mask_ptr, state.consume_token
        where, size = self._mask.ctypes.data, self._mask.nbytes
        for token in ids:
            fill(where, size)
            accept(token)
        fill(where, size)
        accept(0)


def peers(tokenizer: Tokenizer, schema: Schema, constants: Sequence[str]) -> list[Peer]:
    """Every peer in each of its settings. Raises MissingPackageError."""
    return [
        XGrammar(tokenizer, schema, constants),
        *(LLGuidance(tokenizer, schema, constants, slices) for slices in SLICES),
    ]


def timed(peer: Peer, queries: Sequence[Ids], seconds: float) -> Timed:
    """A peer's times over queries that its grammar has; the first round warms its caches."""

    def begin_all() -> None:
        for _ in queries:
            peer.begin()

    def follow_all() -> None:
        for ids in queries:
            peer.follow(peer.begin(), ids)

    follow_all()
    begin = best_seconds(begin_all, seconds / 4)
    whole = best_seconds(follow_all, seconds)
    count = len(queries)
    steps = sum(len(ids) + 1 for ids in queries) / count
    return Timed(peer.name, peer.compile_ms, begin / count * 1e6, (whole - begin) / count * 1e6, steps)
