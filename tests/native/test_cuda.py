"""The CUDA core finds what the C++ core finds: whole parses through the package, on a GPU or a simulated one."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import fastsql
from fastsql import ModelError, Parser, backends
from fastsql.datasets import read_examples, read_schemas
from fastsql.decode import Search
from fastsql.engine import Decoded, Engine
from fastsql.engine.cuda import CudaEngine
from fastsql.engine.native import NativeEngine, decoded
from fastsql.grammar import ActionSpace
from fastsql.grammar.grounding import Grounds
from fastsql.grammar.matching import Patterns
from fastsql.grammar.tables import question_table
from fastsql.limits import Limits
from fastsql.linking.prepare import Prepared
from fastsql.schema import Schema

from ..worlds import toy_conversation
from ..worlds.own_encoder import give_own_encoder
from ..worlds.toy_bundle import LIMITS, QUESTIONS, load_toy, make_gpu_config, outcome, write_bundle
from ..worlds.toy_conversation import count_pointers, earlier_turns, space_of
from ..worlds.toy_model import SCHEMA

TOLERANCE = 2e-2
"""How far log-probabilities may differ from the processor's: attention in the graph rounds to bfloat16, by 0.4 % a time."""
SMALL = replace(LIMITS, actions=14)
"""The simulated GPU is slow."""


@pytest.fixture(scope="module", autouse=True)
def gpu(core: ModuleType) -> str:
    """The GPU's name."""
    status = backends.cuda_status()
    if not status.gpus:
        pytest.skip(
            f"{status.reason}; without a GPU, build the native module with FASTSQL_CUDA=SIMULATED to run this "
            "(docs/HACKING.md, The CUDA core)"
        )
    return status.gpus[0]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy whose heads the kernels take."""
    return write_bundle(tmp_path_factory.mktemp("bundle") / "toy", config=make_gpu_config())


@pytest.fixture(scope="module")
def cuda(bundle: Path) -> Parser:
    return load_toy(bundle, device="cuda", limits=SMALL)


@pytest.fixture(scope="module")
def cpu(bundle: Path) -> Parser:
    return load_toy(bundle, device="cpu", limits=SMALL)


@pytest.fixture(scope="module")
def alone(cuda: Parser) -> list[dict[str, Any]]:
    """What questions get that are asked one by one."""
    return [outcome(cuda.parse(question, SCHEMA, beam=2)) for question in QUESTIONS]


def linked(
    engine: Engine, texts: Sequence[str], schema: Schema, limits: Limits, whole: Sequence[int] = ()
) -> tuple[Any, list[tuple[Prepared, ActionSpace]]]:
    """A schema and questions over it, as an engine decodes them; of the columns in `whole`, every third word is a value."""
    encoded = engine.encode_schema(schema)
    prepared = [engine.link(text, encoded, None) for text in texts]
    spaces = []
    for one in prepared:
        spans = {
            (column, place, place) for column in whole for place in range(column % 3, len(one.offsets), 3)
        }
        patterns = Patterns(within=frozenset(spans), begun=frozenset(spans), ended=frozenset(spans))
        grounds = Grounds(frozenset(whole), spans=frozenset(spans), patterns=patterns)
        spaces.append(
            ActionSpace.for_question(
                schema, one.text, one.offsets, one.candidates, limits=limits, grounds=grounds
            )
        )
    return encoded, list(zip(prepared, spaces, strict=True))


def expect_close(found: Decoded, expected: Decoded) -> None:
    """Raises AssertionError unless both found the same queries, with scores that rounding explains."""
    ours, theirs = found.search, expected.search
    assert [one.path for one in ours.finished] == [one.path for one in theirs.finished]
    assert [one.actions for one in ours.finished] == [one.actions for one in theirs.finished]
    for one, other in zip(ours.finished, theirs.finished, strict=True):
        np.testing.assert_allclose(one.log_probabilities, other.log_probabilities, rtol=0, atol=TOLERANCE)
        np.testing.assert_allclose(one.kept, other.kept, rtol=0, atol=TOLERANCE)
    assert ours.steps == theirs.steps
    assert ours.unfinished == pytest.approx(theirs.unfinished, abs=TOLERANCE)
    np.testing.assert_allclose(found.state, expected.state, rtol=0, atol=TOLERANCE)


def compare(
    cuda: Parser,
    cpu: Parser,
    texts: Sequence[str],
    schema: Schema,
    limits: Limits,
    beam: int,
    whole: Sequence[int] = (),
) -> list[Search]:
    """Decodes questions on both, on the GPU in one batch and one with patience, and returns what the batch found.

    Raises AssertionError as above.
    """
    assert isinstance(cuda.engine, CudaEngine)
    assert isinstance(cpu.engine, NativeEngine)
    encoded, asked = linked(cuda.engine, texts, schema, limits, whole)
    found = cuda.engine.decode_batch(asked, encoded, beam)
    encoded, asked = linked(cpu.engine, texts, schema, limits, whole)
    for one, (prepared, space) in zip(found, asked, strict=True):
        expect_close(one, cpu.engine.decode(prepared, encoded, space, beam))
    (on_gpu, (first, *_)), (on_cpu, (second, *_)) = (
        linked(parser.engine, texts[:1], schema, limits, whole) for parser in (cuda, cpu)
    )
    patient = cuda.engine.decode(first[0], on_gpu, first[1], beam, patience=2.0)
    expect_close(patient, cpu.engine.decode(second[0], on_cpu, second[1], beam, patience=2.0))
    return [one.search for one in found]


# ---------------------------------------------------------------- the same as the processor


@pytest.mark.parametrize("whose", ["the bundle's", "somebody's own"])
def test_an_encoder_in_onnx_runtime_leaves_its_states_where_the_gpu_reads_them(
    tmp_path: Path, whose: str
) -> None:
    pytest.importorskip("onnxruntime", reason="pip install '.[cpu]' runs this")
    pytest.importorskip("onnx", reason="pip install '.[train]' runs this")
    folder = write_bundle(tmp_path / "toy", seed=1, config=make_gpu_config())
    if whose == "somebody's own":
        give_own_encoder(folder)
    cuda, cpu = (
        load_toy(folder, device=device, encoder="onnxruntime", limits=SMALL) for device in ("cuda", "cpu")
    )
    assert (cuda.engine.encoder, cpu.engine.encoder) == ("onnxruntime", "onnxruntime")
    found = compare(cuda, cpu, (*QUESTIONS, "", "?", QUESTIONS[0]), SCHEMA, SMALL, 2)
    assert all(search.finished for search in found)


@pytest.mark.parametrize("joint", [0, 1, 3])
def test_searches_find_what_the_processor_finds(tmp_path: Path, joint: int) -> None:
    folder = write_bundle(
        tmp_path / "toy", seed=1, config=make_gpu_config(cached_layers=2, joint_layers=joint)
    )
    cuda, cpu = (load_toy(folder, device=device, limits=SMALL) for device in ("cuda", "cpu"))
    found = compare(cuda, cpu, (*QUESTIONS, "", "?"), SCHEMA, SMALL, 2)
    assert all(search.finished for search in found)


def paths(searches: Sequence[Search]) -> list[tuple[int, ...]]:
    return [one.path for search in searches for one in search.finished]


def test_literals_that_exist_are_those_of_the_processor(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "toy", seed=36, config=make_gpu_config())  # it compares with literals
    cuda, cpu = (load_toy(folder, device=device, limits=SMALL) for device in ("cuda", "cpu"))
    free = compare(cuda, cpu, QUESTIONS, SCHEMA, SMALL, 2)
    bound = compare(cuda, cpu, QUESTIONS, SCHEMA, SMALL, 2, range(len(SCHEMA.columns)))
    assert paths(bound) != paths(free)


def test_results_are_those_of_the_processor(cpu: Parser, alone: list[dict[str, Any]]) -> None:
    expected = [outcome(cpu.parse(question, SCHEMA, beam=2), digits=2) for question in QUESTIONS]
    for ours, theirs in zip(alone, expected, strict=True):
        assert ours["best"] == theirs["best"]
        assert (ours["links"], ours["values"]) == (theirs["links"], theirs["values"])
        assert ours["confidence"] == pytest.approx(theirs["confidence"], abs=0.02)


@pytest.mark.slow
def test_the_bundled_model_finds_what_it_finds_on_the_processor(ehr_en: Parser, ehrsql2024: Path) -> None:
    schema = next(iter(read_schemas(ehrsql2024 / "schemas.json").values()))
    question = read_examples(ehrsql2024 / "train.json")[0].question
    (search,) = compare(fastsql.load("ehr-en", device="cuda"), ehr_en, [question], schema, Limits(), 1)
    assert search.finished


# ---------------------------------------------------------------- the same however it is asked for


def test_a_batch_and_a_stream_give_what_questions_alone_give(
    cuda: Parser, alone: list[dict[str, Any]]
) -> None:
    assert [outcome(result) for result in cuda.parse_batch(QUESTIONS, SCHEMA, beam=2)] == alone
    pairs = ((question, SCHEMA) for question in QUESTIONS)
    assert [outcome(result) for result in cuda.pipe(pairs, batch_size=3, beam=2)] == alone


def test_threads_share_a_parser(cuda: Parser, alone: list[dict[str, Any]]) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: cuda.parse(QUESTIONS[i % 4], SCHEMA, beam=2), range(8)))
    assert [outcome(result) for result in found] == alone * 2


# ---------------------------------------------------------------- what does not fit


@pytest.mark.parametrize(
    "layers", [(2, 1), (0, 2), (2, 0)], ids=["one joint layer", "two joint layers", "everything cached"]
)
def test_earlier_turns_are_read_as_the_processor_reads_them(tmp_path: Path, layers: tuple[int, int]) -> None:
    """One batch holds questions with three turns, one and none."""
    config = make_gpu_config(cached_layers=layers[0], joint_layers=layers[1])
    folder = toy_conversation.write_bundle(tmp_path / "toy", config=config, seed=0)
    gpu, processor = (load_toy(folder, device=device).engine for device in ("cuda", "cpu"))
    assert isinstance(gpu, CudaEngine)
    assert isinstance(processor, NativeEngine)
    turns = earlier_turns(config.d)

    def asked(engine: Engine) -> tuple[Any, list[tuple[Prepared, ActionSpace]]]:
        encoded = engine.encode_schema(SCHEMA)
        prepared = [
            engine.link(text, encoded, None, turns[:count])
            for text, count in zip(QUESTIONS[:3], (3, 0, 1), strict=True)
        ]
        return encoded, [(one, space_of(one)) for one in prepared]

    encoded, questions = asked(gpu)
    found = gpu.decode_batch(questions, encoded, 2)
    encoded, questions = asked(processor)
    pointed = np.zeros(2, dtype=int)
    for one, (prepared, space) in zip(found, questions, strict=True):
        expected = processor.decode(prepared, encoded, space, 2)
        expect_close(one, expected)
        np.testing.assert_allclose(one.pooled, expected.pooled, rtol=0, atol=TOLERANCE)
        for hypothesis in one.search.finished:
            pointed += count_pointers(space, hypothesis.actions)
    assert (pointed > 0).all(), "turns, and what they offer, were pointed at"


def test_a_question_that_fails_does_so_alone(cuda: Parser) -> None:
    """A space that no query fits into, which the package would not make."""
    engine = cuda.engine
    assert isinstance(engine, CudaEngine)
    encoded, asked = linked(engine, QUESTIONS[:2], SCHEMA, SMALL)
    table = question_table(asked[0][1])
    assert table[6] == SMALL.actions
    table[6] = 1
    first, good = (engine.arguments(prepared, encoded, space) for prepared, space in asked)
    narrow = (engine._core.ActionSpace(encoded.items, table), *first[1:])
    failure, found = engine._engine.parse(encoded.state, [narrow, good], 2)
    assert isinstance(failure, ModelError)
    assert "dead end" in str(failure)
    assert decoded(found, {}).search == engine.decode(asked[1][0], encoded, asked[1][1], 2).search


def test_arrays_of_another_form_are_refused(cuda: Parser) -> None:
    engine = cuda.engine
    assert isinstance(engine, CudaEngine)
    encoded, ((prepared, space), *_) = linked(engine, QUESTIONS[:1], SCHEMA, SMALL)
    good = engine.arguments(prepared, encoded, space)

    def refused(place: int, changed: Any, message: str) -> None:
        wrong = (*good[:place], changed, *good[place + 1 :])
        with pytest.raises(ModelError, match=message):
            engine._engine.parse(encoded.state, [good, wrong], 2)

    refused(1, good[1][:-1], "inside has shape")
    refused(1, np.full_like(good[1], -1), "token's id is -1")
    refused(2, good[2][:, :-1].copy(), "inside has shape")
    refused(3, good[3][:, :3].copy(), "features has shape")
    refused(3, np.full_like(good[3], 999), "feature is 999")
    refused(4, good[4][:-1, :-1].copy(), "relations has shape")
    refused(4, np.full_like(good[4], 255), "relation is 255")
    with pytest.raises(TypeError):
        engine._engine.parse(encoded.state, [(*good[:2], good[2].astype(np.float64), *good[3:])], 2)
    with pytest.raises(ModelError, match="a beam of 65"):
        engine._engine.parse(encoded.state, [good], 65)
    assert engine._engine.parse(encoded.state, [], 2) == []


def test_the_state_of_a_schema_says_what_it_is_of(cuda: Parser, cpu: Parser) -> None:
    ours, theirs = (parser.engine.encode_schema(SCHEMA).state for parser in (cuda, cpu))  # type: ignore[attr-defined]
    for name in ("n_tables", "n_columns", "n_values"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.nbytes > 0


def test_models_that_the_kernels_do_not_take_are_refused(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "toy", config=make_gpu_config(d=16, heads=1))
    with pytest.raises(ModelError, match="heads of"):
        load_toy(folder, device="cuda")
