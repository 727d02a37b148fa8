"""From corpus samples to batches: augment, link, trace, pad."""

from __future__ import annotations

import random
from collections.abc import Sequence

from fastsql.grammar import ActionSpace, GroundingError, trace_program
from fastsql.grammar.inlining import turns_of
from fastsql.linking.candidate import Candidate
from fastsql.linking.candidates import find_candidates
from fastsql.linking.prepare import prepare
from fastsql.model.config import ModelConfig
from fastsql.model.tokenizer import Tokenizer
from fastsql.training.batches.batch import Batch, Instance, collate
from fastsql.training.batches.conversations import earlier_turns
from fastsql.training.batches.parts import query_parts
from fastsql.training.batches.stream import BatchMaker, Size
from fastsql.training.config import AugmentSettings
from fastsql.training.corpus.corpus import Corpus
from fastsql.training.corpus.sample import Sample
from fastsql.training.variation.augmenter import Augmenter, Version
from fastsql.training.variation.edits import drop_candidates
from fastsql.training.variation.schema_views import SchemaView, draw_view


class ExampleMaker(BatchMaker):
    """Makes batches of a corpus's samples. Pickles, so that the loader process can run it."""

    def __init__(
        self,
        corpus: Corpus,
        samples: Sequence[Sample],
        tokenizer: Tokenizer,
        config: ModelConfig,
        *,
        candidates: int,
        augment: AugmentSettings | None = None,
        seed: int = 0,
        parts: bool = False,
        lengths: Sequence[int] | None = None,
    ) -> None:
        """`parts`: whether batches say what auxiliary objectives ask; `lengths`: the samples' (see `sizes`), if known."""
        self.samples = samples
        self._lengths = lengths
        self.tokenizer = tokenizer
        self.config = config
        self.candidates = candidates
        self.seed = seed
        self.parts = parts
        self.augmenter = None if augment is None else Augmenter(corpus, augment)
        self.domains = corpus.domains
        self._views: dict[str, SchemaView] = {}

    def sizes(self) -> list[Size]:
        """Tokens of the question and those before it, and terminals of the program, before augmentation."""
        schemas = {name: domain.schema for name, domain in self.domains.items()}
        items = {name: len(schema.tables) + len(schema.columns) for name, schema in schemas.items()}
        if self._lengths is None:
            self._lengths = lengths_of(self.samples, self.tokenizer)
        return [
            Size(sample.pair.db_id, length, sample.weight, items[sample.pair.db_id])
            for sample, length in zip(self.samples, self._lengths, strict=True)
        ]

    def whole(self, db_id: str) -> SchemaView:
        """A domain's whole schema as the model reads it."""
        if db_id not in self._views:
            schema = self.config.as_read(self.domains[db_id].schema)
            self._views[db_id] = SchemaView.whole(schema, self.tokenizer)
        return self._views[db_id]

    def make(self, numbers: Sequence[int], epoch: int) -> tuple[Batch | None, int]:
        """The batch of these samples as `epoch` shows them, and how many could not be traced."""
        rngs = [random.Random(f"{self.seed}/{epoch}/{number}") for number in numbers]
        versions = [self._draw(number, rng) for number, rng in zip(numbers, rngs, strict=True)]
        view = self.whole(self.samples[numbers[0]].pair.db_id)
        if self.augmenter is not None:
            programs = [version.program for drawn in versions for version in drawn]
            programs += [program for number in numbers for _, program in self.samples[number].earlier]
            rng = random.Random(f"{self.seed}/{epoch}/{numbers[0]}/schema")
            drawn_view = draw_view(view.schema, programs, self.augmenter.settings, self.tokenizer, rng)
            view = drawn_view or view
        made = [
            self._first(number, drawn, view, rng)
            for number, drawn, rng in zip(numbers, versions, rngs, strict=True)
        ]
        instances = [instance for instance in made if instance is not None]
        left_out = len(numbers) - len(instances)
        if not instances:
            return None, left_out
        special = (self.tokenizer.cls, self.tokenizer.sep)
        return collate(instances, view.inputs, self.config, special), left_out

    def instance(self, number: int, rng: random.Random) -> Instance | None:
        """One example over its whole schema, augmented if the maker augments; None if it cannot be traced at all."""
        view = self.whole(self.samples[number].pair.db_id)
        return self._first(number, self._draw(number, rng), view, rng)

    def _draw(self, number: int, rng: random.Random) -> list[Version]:
        """The versions to try, one after the other: an augmented one if the maker augments, then the plain one.

        Turns of conversations stay as they are: others refer to what they say.
        """
        sample = self.samples[number]
        plain = Version(sample.pair.question, sample.program)
        if self.augmenter is None or sample.pair.interaction:
            return [plain]
        return [self.augmenter.draw(sample, rng), plain]

    def _first(
        self, number: int, versions: Sequence[Version], view: SchemaView, rng: random.Random
    ) -> Instance | None:
        """The first version that can be traced; None if its literals cannot be had even unchanged."""
        sample = self.samples[number]
        if self.augmenter is not None:
            made = self._ground(versions[0], sample, view, self.augmenter.settings, rng)
            if made is not None:
                return made
        # A literal that only the dropped matches offered: show the version with them, else the plain example.
        for version in versions:
            made = self._ground(version, sample, view, None, rng)
            if made is not None:
                return made
        return None

    def _ground(
        self,
        version: Version,
        sample: Sample,
        view: SchemaView,
        drop: AugmentSettings | None,
        rng: random.Random,
    ) -> Instance | None:
        domain = self.domains[sample.pair.db_id]
        earlier = [(question, view.program(program)) for question, program in sample.earlier]
        turns = earlier_turns([program for _, program in earlier], view.schema)

        def candidates(text: str) -> Sequence[Candidate]:
            found = find_candidates(text, domain.schema, domain.dictionary, limit=self.candidates)
            seen = view.candidates(found)
            return seen if drop is None else drop_candidates(seen, drop, rng)

        prepared = prepare(
            version.question,
            view.links,
            self.tokenizer,
            candidates=candidates,
            turns=turns,
            turn_values=self.config.turn_values,
        )
        space = ActionSpace.for_question(
            view.schema,
            prepared.text,
            prepared.offsets,
            prepared.candidates,
            turns=[one.turn for one in turns],
        )
        program = view.program(version.program)
        try:
            trace = trace_program(program, space)
        except GroundingError:
            return None
        # What a query takes from an earlier turn stands in none of its own parts.
        parts = query_parts(program, prepared, view.schema) if self.parts and not turns_of(program) else None
        return Instance(
            prepared, trace, tuple(self.tokenizer.tokenize(question).ids for question, _ in earlier), parts
        )


def lengths_of(samples: Sequence[Sample], tokenizer: Tokenizer) -> list[int]:
    """Tokens and decisions of each sample, as `ExampleMaker.sizes` tells them."""
    return [
        sum(len(tokenizer.tokenize(text).ids) for text in _texts(sample)) + len(sample.program)
        for sample in samples
    ]


def _texts(sample: Sample) -> list[str]:
    """The questions that are read for a sample: its own, and those before it."""
    return [sample.pair.question, *(question for question, _ in sample.earlier)]
