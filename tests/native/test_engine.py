"""The native engine computes what `fastsql.model.Model` and `fastsql.decode` compute."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fastsql.datasets import read_examples, read_schemas
from fastsql.decode import Hypothesis, Search, beam_search
from fastsql.engine import Decoded
from fastsql.engine.native import NativeEngine
from fastsql.errors import ModelError
from fastsql.grammar import ActionSpace
from fastsql.limits import Limits
from fastsql.linking.prepare import Prepared, prepare
from fastsql.linking.relations import SchemaLinks, span_weights
from fastsql.model import Model, SchemaState, open_bundle
from fastsql.model.config import features_of
from fastsql.model.schema_inputs import SchemaInputs
from fastsql.parser import BUNDLED
from fastsql.schema import Schema

from ..worlds import toy_bundle
from ..worlds.toy_bundle import load_toy
from ..worlds.toy_model import CONFIG_OF, QUESTIONS, SCHEMA, WORDPIECE, link, make_config, write_bundle
from .automata import native_space
from .searches import expect_same

THREADS = (1, 2, 8)
CLOSE = {"rtol": 1e-4, "atol": 1e-4}


@dataclass(frozen=True, eq=False)
class Both:
    """One bundle in the reference and in the native core, and a schema that both have read."""

    core: ModuleType
    reference: Model
    natives: dict[int, Any]  # engines by number of threads
    schema: SchemaState
    states: dict[int, Any]  # the schema in each engine

    @classmethod
    def load(cls, core: ModuleType, folder: Path, schema: Schema) -> Both:
        bundle = open_bundle(folder)
        reference = bundle.model("numpy")
        natives = {threads: make_engine(core, folder, threads) for threads in THREADS}
        state = reference.encode_schema(schema)
        states = {threads: engine.encode_schema(state.inputs) for threads, engine in natives.items()}
        return cls(core, reference, natives, state, states)

    def graph_rows(self, prepared: Prepared, threads: int = 1) -> NDArray[np.float32]:
        rows: NDArray[np.float32] = self.natives[threads].graph_rows(
            self.states[threads], *arguments(prepared)
        )
        return rows

    def parse(self, prepared: Prepared, beam: int, threads: int = 1, **options: Any) -> tuple[Search, Any]:
        """What the native search found, and the mean state of the tokens."""
        reading = self.natives[threads].read(self.states[threads], *arguments(prepared), **options)
        return self.search(reading, prepared, beam, threads)

    def search(
        self, reading: Any, prepared: Prepared, beam: int, threads: int = 1, patience: float = 0.0
    ) -> tuple[Search, Any]:
        """What is found in a question that was read, and the mean state of the tokens."""
        space = native_space(self.core, self.space(prepared))
        found, unfinished, steps, state, _, _ = self.natives[threads].search(reading, space, beam, patience)
        hypotheses = tuple(Hypothesis(*(tuple(part.tolist()) for part in parts)) for parts in found)
        return Search(hypotheses, unfinished, steps), state

    def space(self, prepared: Prepared) -> ActionSpace:
        return ActionSpace.for_question(
            self.schema.links.schema,
            prepared.text,
            prepared.offsets,
            prepared.candidates,
            limits=toy_bundle.LIMITS if self.schema.links.schema is SCHEMA else Limits(),
        )


def make_engine(core: ModuleType, folder: Path, threads: int) -> Any:
    bundle = open_bundle(folder)
    tokenizer = bundle.tokenizer()
    weights = bundle.weights().stored()
    return core.Engine(bundle.config.model.to_dict(), weights, tokenizer.cls, tokenizer.sep, threads)


def arguments(prepared: Prepared) -> tuple[Any, ...]:
    """Token ids, span weights, features, relations and no earlier turns, as the engine takes them."""
    weights = span_weights(prepared.offsets, prepared.candidates)
    return prepared.token_ids, weights, features_of(prepared.candidates), prepared.relations, None


@pytest.fixture(scope="module", params=CONFIG_OF.values(), ids=CONFIG_OF.keys())
def layers(
    core: ModuleType, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Both:
    """Models of every kind of graph, with random weights, over a schema in English and Chinese."""
    folder = write_bundle(tmp_path_factory.mktemp("bundle") / "toy", make_config(*request.param), seed=1)
    return Both.load(core, folder, SCHEMA)


@pytest.fixture(scope="module")
def searching(core: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """A model with random weights that knows the whole grammar."""
    return Both.load(core, toy_bundle.write_bundle(tmp_path_factory.mktemp("bundle") / "toy"), SCHEMA)


@pytest.fixture(scope="module")
def bundled(core: ModuleType, ehrsql2024: Path) -> Both:
    """The bundled model over the schema of MIMIC-IV."""
    schema = next(iter(read_schemas(ehrsql2024 / "schemas.json").values()))
    return Both.load(core, BUNDLED / "ehr-en", schema)


def hospital_questions(ehrsql2024: Path, count: int) -> list[str]:
    examples = read_examples(ehrsql2024 / "train.json")
    return [example.question for example in examples][:: len(examples) // count][:count]


# ---------------------------------------------------------------- the same as the reference


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (3, 7), (40, 4), (2, 33), (1, 80)])
def test_texts_are_encoded_as_the_reference_encodes_them(layers: Both, shape: tuple[int, int]) -> None:
    ids = np.random.default_rng(0).integers(0, WORDPIECE.vocabulary, shape).astype(np.int32)
    expected = layers.reference.encoder.encode(ids)
    np.testing.assert_allclose(layers.natives[1].encode_texts(ids), expected, **CLOSE)


@pytest.mark.parametrize("question", [*QUESTIONS, ""])
def test_the_graph_comes_to_the_rows_of_the_reference(layers: Both, question: str) -> None:
    prepared = link(question)
    rows = layers.reference.encode_question(prepared, layers.schema).memory.rows
    expected = rows[: len(prepared.relations)]
    np.testing.assert_allclose(layers.graph_rows(prepared), expected, **CLOSE)


@pytest.mark.parametrize("beam", [1, 4])
def test_a_parse_finds_what_the_reference_finds(searching: Both, beam: int) -> None:
    for question in toy_bundle.QUESTIONS:
        prepared = prepare(question, searching.schema.links, searching.reference.tokenizer)
        encoded = searching.reference.encode_question(prepared, searching.schema)
        expected = beam_search(searching.reference, encoded, searching.space(prepared), beam=beam)
        found, state = searching.parse(prepared, beam)
        expect_same(found, expected)
        np.testing.assert_allclose(state, encoded.memory.rows[: len(prepared.offsets)].mean(axis=0), **CLOSE)


def test_the_bundled_model_parses_as_the_reference_does(bundled: Both, ehrsql2024: Path) -> None:
    for question in hospital_questions(ehrsql2024, 12):
        prepared = prepare(question, bundled.schema.links, bundled.reference.tokenizer)
        encoded = bundled.reference.encode_question(prepared, bundled.schema)
        expected = beam_search(bundled.reference, encoded, bundled.space(prepared), beam=4)
        found, _ = bundled.parse(prepared, 4)
        expect_same(found, expected)


def test_token_states_of_another_encoder_can_be_given(searching: Both) -> None:
    prepared = prepare(toy_bundle.QUESTIONS[0], searching.schema.links, searching.reference.tokenizer)
    tokenizer = searching.reference.tokenizer
    ids = np.array([[tokenizer.cls, *prepared.token_ids, tokenizer.sep]], np.int32)
    states = searching.reference.encoder.encode(ids)[0, 1:-1]
    own, _ = searching.parse(prepared, 4)
    given, _ = searching.parse(prepared, 4, token_states=np.ascontiguousarray(states))
    expect_same(given, own)
    changed, _ = searching.parse(prepared, 4, token_states=np.zeros_like(states))
    assert changed.finished[0].log_probabilities != own.finished[0].log_probabilities


def test_a_question_that_was_read_is_searched_as_often_as_is_asked(searching: Both) -> None:
    links, tokenizer = searching.schema.links, searching.reference.tokenizer
    one, other = (prepare(question, links, tokenizer) for question in toy_bundle.QUESTIONS[:2])
    engine, state = searching.natives[1], searching.states[1]
    reading = engine.read(state, *arguments(one))
    alone = [searching.search(reading, one, beam)[0] for beam in (4, 12)]
    beside = engine.read(state, *arguments(other))  # has a workspace of its own
    assert searching.search(beside, other, 4)[0] == searching.parse(other, 4)[0]
    assert [searching.search(reading, one, beam)[0] for beam in (4, 12)] == alone
    encoded = searching.reference.encode_question(one, searching.schema)
    for beam, found in zip((4, 12), alone, strict=True):
        expect_same(found, beam_search(searching.reference, encoded, searching.space(one), beam=beam))


def test_a_reading_outlives_whoever_made_it(core: ModuleType, tmp_path: Path) -> None:
    both = Both.load(core, toy_bundle.write_bundle(tmp_path / "toy"), SCHEMA)
    prepared = prepare(toy_bundle.QUESTIONS[0], both.schema.links, both.reference.tokenizer)
    expected = both.parse(prepared, 4)[0]
    engine = make_engine(core, tmp_path / "toy", 1)
    reading = engine.read(
        engine.encode_schema(both.schema.inputs), *arguments(prepared)
    )  # the schema's only owner
    gc.collect()
    both.natives[1] = engine
    assert both.search(reading, prepared, 4)[0] == expected
    del engine, both
    gc.collect()
    del reading  # gives its workspace back to an engine that nobody else has


class Counting:
    """The native core, whose readings are counted."""

    def __init__(self, core: Any) -> None:
        self.core, self.readings = core, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.core, name)

    def read(self, *arguments: Any) -> Any:
        self.readings += 1
        return self.core.read(*arguments)


def test_a_question_that_is_searched_again_is_not_read_again(core: ModuleType, tmp_path: Path) -> None:
    parser = load_toy(toy_bundle.write_bundle(tmp_path / "toy"), device="cpu")
    engine = parser.engine
    assert isinstance(engine, NativeEngine)
    counted = engine._engine = Counting(engine._engine)
    schema = engine.encode_schema(SCHEMA)
    one, other = (engine.link(question, schema, None) for question in toy_bundle.QUESTIONS[:2])

    def decoded(prepared: Any, beam: int) -> Decoded:
        space = ActionSpace.for_question(
            SCHEMA, prepared.text, prepared.offsets, prepared.candidates, limits=toy_bundle.LIMITS
        )
        return engine.decode(prepared, schema, space, beam)

    first, wider = decoded(one, 2), decoded(one, 4)
    assert counted.readings == 1
    assert first.milliseconds["graph"] > 0
    assert wider.milliseconds["graph"] == 0
    assert (wider.pooled == first.pooled).all()
    decoded(other, 2)
    again = decoded(one, 4)
    assert counted.readings == 3
    assert again.search == wider.search


# ---------------------------------------------------------------- the same whoever computes


def test_threads_do_not_change_a_bit(layers: Both) -> None:
    ids = np.random.default_rng(2).integers(0, WORDPIECE.vocabulary, (5, 19)).astype(np.int32)
    alone = layers.natives[1].encode_texts(ids)
    for threads in THREADS[1:]:
        assert (layers.natives[threads].encode_texts(ids) == alone).all()
        for question in QUESTIONS:
            prepared = link(question)
            assert (layers.graph_rows(prepared, threads) == layers.graph_rows(prepared)).all()


def test_threads_do_not_change_a_bit_of_a_large_model(bundled: Both, ehrsql2024: Path) -> None:
    """Large enough for the work to be shared, which that of the toy model is not."""
    for question in hospital_questions(ehrsql2024, 3):
        prepared = prepare(question, bundled.schema.links, bundled.reference.tokenizer)
        alone, state = bundled.parse(prepared, 4)
        for threads in THREADS[1:]:
            shared, its_state = bundled.parse(prepared, 4, threads)
            assert shared == alone
            assert (its_state == state).all()


def test_a_text_is_encoded_the_same_alone_and_among_others(layers: Both) -> None:
    ids = np.random.default_rng(3).integers(0, WORDPIECE.vocabulary, (9, 11)).astype(np.int32)
    engine = layers.natives[1]
    together = engine.encode_texts(ids)
    for index in range(len(ids)):
        assert (engine.encode_texts(ids[index : index + 1])[0] == together[index]).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_callers_on_several_threads_get_what_one_gets(searching: Both, threads: int) -> None:
    prepared = [
        prepare(question, searching.schema.links, searching.reference.tokenizer)
        for question in toy_bundle.QUESTIONS
    ]
    alone = [searching.parse(question, 4)[0] for question in prepared]
    with ThreadPoolExecutor(8) as callers:
        found = list(callers.map(lambda question: searching.parse(question, 4, threads)[0], prepared * 6))
    assert found == alone * 6


# ---------------------------------------------------------------- what does not fit


def test_a_state_says_what_it_is_of(layers: Both) -> None:
    state = layers.states[1]
    assert (state.n_tables, state.n_columns, state.n_values) == (3, 8, 4)
    assert state.nbytes > 0


def test_ids_out_of_range_are_refused(layers: Both) -> None:
    engine = layers.natives[1]
    for token in (-1, WORDPIECE.vocabulary):
        with pytest.raises(ModelError, match=rf"is {token}; the model knows {WORDPIECE.vocabulary}"):
            engine.encode_texts(np.array([[2, token, 3]], np.int32))
    with pytest.raises(ModelError, match="81 tokens; it takes from 1 to 80"):
        engine.encode_texts(np.full((1, 81), 2, np.int32))
    with pytest.raises(ModelError, match="0 tokens"):
        engine.encode_texts(np.zeros((1, 0), np.int32))
    with pytest.raises(ModelError, match="1 axes"):
        engine.encode_texts(np.zeros(3, np.int32))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_tables": 0, "n_columns": 11}, "without tables"),
        ({"item_text": np.full(11, 99)}, r"item_text\[0\] is 99"),
        ({"item_type": np.full(11, -1)}, r"item_type\[0\] is -1"),
        ({"column_table": np.full(8, 3)}, r"column_table\[0\] is 3; there are 3"),
        ({"value_column": np.array([0, 8, 1, 1])}, r"value_column\[1\] is 8"),
        ({"value_text": np.array([0, 1, 2])}, r"value_column has shape \[4\], not \[3\]"),
        ({"relations": np.zeros((10, 11), np.uint8)}, r"relations has shape \[10, 11\], not \[11, 11\]"),
        ({"relations": np.full((11, 11), 255, np.uint8)}, "relations"),
    ],
)
def test_a_schema_that_does_not_fit_is_refused(layers: Both, change: dict[str, Any], message: str) -> None:
    if "n_tables" in change:
        change = {**change, "column_table": np.zeros(11, np.int64)}
    inputs = replace(SchemaInputs.build(SchemaLinks(SCHEMA), WORDPIECE), **change)
    with pytest.raises(ModelError, match=message):
        layers.natives[1].encode_schema(inputs)


def test_a_question_that_does_not_fit_is_refused(layers: Both) -> None:
    engine, state = layers.natives[1], layers.states[1]
    ids, inside, features, relations, _ = arguments(link(QUESTIONS[1]))

    def refused(message: str, *given: NDArray[Any], **options: Any) -> None:
        with pytest.raises(ModelError, match=message):
            engine.graph_rows(state, *given, None, **options)

    refused("inside has shape", ids[:-1], inside, features, relations)
    refused("relations has shape", ids, inside, features, relations[:-1, :-1])
    refused("features has shape", ids, inside, features[:, :3], relations)
    refused("feature is 999", ids, inside, np.full_like(features, 999), relations)
    refused("relations", ids, inside, features, np.full_like(relations, 255))
    refused(
        "token_states has shape", ids, inside, features, relations, token_states=np.zeros((1, 24), np.float32)
    )
    refused("token's id is -5", np.full_like(ids, -5), inside, features, relations)
    with pytest.raises(TypeError):
        engine.graph_rows(state, ids, inside.astype(np.float64), features, relations, None)


def test_a_space_of_another_question_is_refused(searching: Both) -> None:
    links, tokenizer = searching.schema.links, searching.reference.tokenizer
    one, other = (prepare(question, links, tokenizer) for question in ("how many patients?", "how many?"))
    space = native_space(searching.core, searching.space(other))
    reading = searching.natives[1].read(searching.states[1], *arguments(one))
    with pytest.raises(ModelError):
        searching.natives[1].search(reading, space, 4)


@pytest.mark.parametrize("name", ["encoder.layers.1.qkv.bias", "graph.0.relation_key", "candidate.2.weight"])
def test_a_weight_that_is_missing_or_misshapen_is_named(core: ModuleType, tmp_path: Path, name: str) -> None:
    bundle = open_bundle(write_bundle(tmp_path / "toy", make_config()))
    weights = bundle.weights().stored()
    sizes = bundle.config.model.to_dict()
    for changed in (
        {**weights, name: weights[name][..., :-1].copy()},
        {k: w for k, w in weights.items() if k != name},
    ):
        if name.endswith("bias") and name not in changed:
            continue  # a linear map may be without
        with pytest.raises(ModelError, match=name):
            core.Engine(sizes, changed, 2, 3, 1)
