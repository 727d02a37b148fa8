"""Questions for programs, and the log probability of a question where a program is meant."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import FastSQLError
from fastsql.grammar.program import Program
from fastsql.model.tokenizer import Tokenizer
from fastsql.reverse.generation import Generator
from fastsql.reverse.network import ReverseNetwork
from fastsql.reverse.source import OTHER, Ints, Source, SourceReader
from fastsql.reverse.wording import Wording
from fastsql.schema.model import Structure

_TOGETHER = 32
"""Questions that are written or judged in one call of the network."""


class ReverseError(FastSQLError):
    """The reverse model cannot do what was asked."""


class ReverseModel:
    """The network with its tokenizer. `styles` are ways to ask that it has learnt, by data set."""

    def __init__(self, network: ReverseNetwork, tokenizer: Tokenizer) -> None:
        self.network = network
        self.tokenizer = tokenizer
        self.styles = network.config.styles
        self.wording = Wording(tokenizer)
        self.generator = Generator(network, self.wording.special)

    def over(self, schema: Structure) -> SchemaReverse:
        """The model for the programs of one schema. What is read once of its names is kept."""
        return SchemaReverse(self, schema)


class SchemaReverse:
    """The reverse model over one schema."""

    def __init__(self, model: ReverseModel, schema: Structure) -> None:
        self._model = model
        self._reader = SourceReader(schema, model.tokenizer, model.network.config.numbers)

    def best(self, programs: Sequence[Program], *, beam: int = 8, style: str = OTHER) -> list[str]:
        """The likeliest question that a beam finds, for each program. Raises LimitError, ReverseError."""
        _check(beam, "beam")
        sources = [self._read(program, style) for program in programs]
        found = []
        for source in sources:
            written = self._model.generator.beam(self._model.network.encode([source]), source, beam)
            found.append(self._model.wording.text(written[0], source))
        return found

    def questions(
        self,
        programs: Sequence[Program],
        n: int = 8,
        *,
        seed: int = 0,
        style: str | None = OTHER,
        temperature: float = 0.8,
        nucleus: float = 0.9,
    ) -> list[list[str]]:
        """Questions drawn for each program, `n` each; some may be equal.

        Tables and columns are called by labels and synonyms. The same seed draws the same for the same list of programs.
        `style`: one of `ReverseModel.styles`, "other" for none in particular, None to draw one each time.

        Raises LimitError where a program is too long, ReverseError for a number or a style that cannot be.
        """
        _check(n, "n")
        if not temperature > 0 or not 0 < nucleus <= 1:
            raise ReverseError("temperature must be above 0, nucleus above 0 and at most 1")
        sources: list[Source] = []
        for number, program in enumerate(programs):
            rng = random.Random(f"{seed}/{number}")
            for _ in range(n):
                drawn = rng.choice((OTHER, *self._model.styles)) if style is None else style
                sources.append(self._read(program, drawn, rng))
        texts: list[str] = []
        for start in range(0, len(sources), _TOGETHER):
            chosen = sources[start : start + _TOGETHER]
            rngs = [np.random.default_rng((abs(seed), start + number)) for number in range(len(chosen))]
            written = self._model.generator.sample(
                self._model.network.encode(chosen), rngs, temperature, nucleus
            )
            texts += [
                self._model.wording.text(one, source) for one, source in zip(written, chosen, strict=True)
            ]
        return [texts[start : start + n] for start in range(0, len(texts), n)]

    def log_probability(
        self, questions: Sequence[str], programs: Sequence[Program], *, style: str = OTHER
    ) -> NDArray[np.float64]:
        """How likely each question is where its program is meant: log P(question | program), float64[pairs].

        It is that of the question's pieces and its end.

        Raises LimitError where a question or a program is too long, ReverseError where there are not as many of both.
        """
        if len(questions) != len(programs):
            raise ReverseError(f"{len(questions):,} questions and {len(programs):,} programs are no pairs")
        tokenizer, network = self._model.tokenizer, self._model.network
        pieces = [np.append(tokenizer.tokenize(one).ids, network.config.end) for one in questions]
        sources = [self._read(program, style) for program in programs]
        found = np.zeros(len(questions))
        order = sorted(range(len(questions)), key=lambda number: len(sources[number].ids))
        for start in range(0, len(order), _TOGETHER):
            chosen = order[start : start + _TOGETHER]
            table, written = _table([pieces[number] for number in chosen])
            encoded = network.encode([sources[number] for number in chosen])
            found[chosen] = (network.log_probabilities(encoded, table) * written).sum(axis=1)
        return found

    def _read(self, program: Program, style: str, rng: random.Random | None = None) -> Source:
        if not program:
            raise ReverseError("the program is empty", remedy="Give a program of at least one terminal.")
        if style not in (OTHER, *self._model.styles):
            known = ", ".join((OTHER, *self._model.styles))
            raise ReverseError(f"there is no style {style!r}", remedy=f"Give one of {known}.")
        return self._reader.read(program, style, rng)


def _check(number: int, name: str) -> None:
    if number < 1:
        raise ReverseError(f"{name} = {number} must be at least 1")


def _table(rows: Sequence[Ints]) -> tuple[Ints, NDArray[np.bool_]]:
    """Rows of pieces as one table, and which of its places are theirs."""
    lengths = np.array([len(row) for row in rows])
    written = np.arange(lengths.max()) < lengths[:, None]
    table = np.zeros(written.shape, dtype=np.int32)
    table[written] = np.concatenate(rows)
    return table, written
