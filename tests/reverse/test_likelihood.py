"""Likelihoods as a parser asks for them: the native core says what the reference says, whatever else is in the call."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from fastsql import backends
from fastsql.errors import LimitError, ModelError
from fastsql.grammar.program import Literal, Program, TableRef
from fastsql.model.tokenizer import Tokenizer
from fastsql.reverse import Likelihood, load_reverse, open_likelihood
from fastsql.reverse import source as source_module
from fastsql.reverse.source import MAX_TOKENS, Source, SourceReader
from fastsql.reverse.weights import read_reverse, save_reverse
from fastsql.schema import Schema

from ..worlds.toy_model import WORDPIECE
from ..worlds.toy_reverse import QUERIES, SCHEMA, make_config, program, random_weights

PROGRAMS = [program(sql) for sql in QUERIES]
TOO_LONG: Program = (TableRef(0), *[Literal("a " * 40)] * 30)
QUESTIONS = (
    "",
    "?",
    "how many patients of gender f?",
    "诊断为 肺炎 的 patients 🩺 🤒 按 编号",
    "ꦱꦶ ꦥꦱ ??? zzz",
    "age of admissions " * 20,
)
SHAPES: tuple[dict[str, int], ...] = (
    {},
    {"d": 8, "heads": 1, "words": 3, "ffn": 5, "encoder_layers": 1, "decoder_layers": 1},
    {"d": 24, "heads": 3, "ffn": 70, "encoder_layers": 1, "decoder_layers": 3},
    {"d": 128, "heads": 4, "words": 40, "ffn": 256},
)
needs_core = pytest.mark.skipif(backends.native() is None, reason="needs the native module: pip install .")


def make_file(folder: Path, seed: int = 0, **sizes: int) -> Path:
    config = make_config(**sizes)
    return save_reverse(folder / "weights.safetensors", config, random_weights(config, seed), WORDPIECE)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_file(tmp_path_factory.mktemp("reverse"))


def native(file: Path, threads: int = 1) -> Likelihood:
    core = backends.native()
    assert core is not None
    return open_likelihood(file, WORDPIECE, core=core, threads=threads)


@pytest.fixture(params=["reference", pytest.param("native", marks=needs_core)])
def likelihood(request: pytest.FixtureRequest, file: Path) -> Likelihood:
    return native(file) if request.param == "native" else open_likelihood(file, WORDPIECE)


@needs_core
@pytest.mark.parametrize("sizes", SHAPES, ids=str)
def test_the_native_core_says_what_the_reference_says(sizes: dict[str, int], tmp_path: Path) -> None:
    path = make_file(tmp_path, seed=5, **sizes)
    reference, core = open_likelihood(path, WORDPIECE), native(path)
    assert reference.digest == core.digest
    for question in QUESTIONS:
        pieces = len(WORDPIECE.tokenize(question).ids) + 1
        np.testing.assert_allclose(
            core(question, PROGRAMS, SCHEMA),
            reference(question, PROGRAMS, SCHEMA),
            rtol=0,
            atol=1e-4 * pieces,
            err_msg=question,
        )


@needs_core
def test_sources_of_any_length_and_all_pieces_agree(file: Path) -> None:
    """Every piece of the tokenizer is asked for: those written, those copied, and those that are neither."""
    stored = read_reverse(file, WORDPIECE)
    network = stored.network()
    core = backends.native()
    assert core is not None
    ours = core.ReverseNetwork({**stored.config.to_dict(), "max_tokens": MAX_TOKENS}, stored.arrays, 1)
    rng = np.random.default_rng(4)
    last = stored.config.pieces + len(stored.config.symbols)
    for lengths in ([1, 70, 2, 33], [MAX_TOKENS], [17] * 16):
        total = sum(lengths)
        ids, kinds, tables = (rng.integers(0, end, total, dtype=np.int32) for end in (last, 9, 9))
        pieces = rng.permutation(stored.config.pieces)[:60].astype(np.int32)
        found = ours.log_probability(ids, kinds, tables, np.array(lengths, dtype=np.int32), pieces)
        start = 0
        for length, one in zip(lengths, found, strict=True):
            part = slice(start, start + length)
            start += length
            source = Source(ids[part], kinds[part], tables[part])
            expected = network.log_probabilities(network.encode([source]), pieces[None]).sum()
            assert one == pytest.approx(expected, abs=1e-4 * len(pieces))


def test_the_likelihood_is_what_the_model_over_a_schema_says(likelihood: Likelihood, file: Path) -> None:
    question = "how many patients of gender f?"
    expected = load_reverse(file, WORDPIECE).over(SCHEMA).log_probability([question] * 4, PROGRAMS)
    found = likelihood(question, PROGRAMS, SCHEMA)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)


def test_a_program_gets_the_same_whatever_is_asked_beside_it(likelihood: Likelihood) -> None:
    for question in QUESTIONS:
        together = likelihood(question, [*PROGRAMS, *reversed(PROGRAMS)] * 2, SCHEMA)
        for number, one in enumerate(PROGRAMS):
            alone = likelihood(question, [one], SCHEMA)[0]
            assert (together.reshape(2, 2, 4)[:, 0, number] == alone).all()
            assert (together.reshape(2, 2, 4)[:, 1, 3 - number] == alone).all()


@needs_core
def test_a_program_gets_the_same_on_any_number_of_threads(file: Path) -> None:
    one = native(file)
    for threads in (2, 3, 8):
        other = native(file, threads)
        for question in QUESTIONS:
            np.testing.assert_array_equal(other(question, PROGRAMS, SCHEMA), one(question, PROGRAMS, SCHEMA))


def test_what_cannot_be_read_has_no_likelihood(likelihood: Likelihood) -> None:
    found = likelihood("age?", [PROGRAMS[0], TOO_LONG, (), PROGRAMS[1]], SCHEMA)
    assert np.isnan(found).tolist() == [False, True, True, False]
    assert found[3] == likelihood("age?", [PROGRAMS[1]], SCHEMA)[0]
    assert np.isnan(likelihood("age?", [TOO_LONG], SCHEMA)).all()


def test_no_programs_have_no_likelihoods(likelihood: Likelihood) -> None:
    found = likelihood("age?", [], SCHEMA)
    assert found.shape == (0,)
    assert found.dtype == np.float64


def test_a_question_that_is_too_long_is_refused_without_its_text(file: Path, likelihood: Likelihood) -> None:
    with pytest.raises(LimitError) as refused:
        likelihood("jane doe " * 1000, PROGRAMS, SCHEMA)
    assert "jane" not in str(refused.value)


def test_a_tokenizer_that_reads_more_than_the_model_is_no_way_around_its_limit(file: Path) -> None:
    longer = Tokenizer(WORDPIECE.json_text, max_tokens=10**6)
    for core in (None, backends.native()):
        likelihood = open_likelihood(file, longer, core=core)
        assert np.isfinite(likelihood("? " * (MAX_TOKENS - 1), PROGRAMS[:1], SCHEMA)).all()
        with pytest.raises(LimitError, match=f"{MAX_TOKENS + 1:,} tokens are more than the {MAX_TOKENS}"):
            likelihood("? " * MAX_TOKENS, PROGRAMS[:1], SCHEMA)


def test_schemas_are_told_apart_and_the_oldest_forgotten(
    likelihood: Likelihood, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    class Counted(SourceReader):
        def __init__(self, *given: object) -> None:
            made.append(given[0])
            super().__init__(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(source_module, "SourceReader", Counted)
    columns = ("age", "gender", "type", *"abcdefgh")
    schemas = [Schema.from_ddl(f"CREATE TABLE t (id INTEGER, {column} TEXT)") for column in columns]
    programs = [
        program(f"SELECT id FROM t ORDER BY {column}", schema)
        for column, schema in zip(columns, schemas, strict=True)
    ]
    first = [likelihood("age of t?", [one], schema)[0] for one, schema in zip(programs, schemas, strict=True)]
    assert len(set(first[:3])) == 3
    likelihood("age?", programs[-1:], schemas[-1])
    assert made == schemas
    assert likelihood("age of t?", programs[:1], schemas[0])[0] == first[0]
    assert len(made) == len(schemas) + 1


def test_threads_may_share_a_likelihood(likelihood: Likelihood) -> None:
    expected = [likelihood(question, PROGRAMS, SCHEMA) for question in QUESTIONS]
    schemas = [Schema.from_ddl(f"CREATE TABLE t{number} (age INTEGER)") for number in range(12)]

    def ask(number: int) -> bool:
        likelihood(
            "age?", [program(f"SELECT age FROM t{number % 12}", schemas[number % 12])], schemas[number % 12]
        )
        found = likelihood(QUESTIONS[number % len(QUESTIONS)], PROGRAMS, SCHEMA)
        return bool((found == expected[number % len(QUESTIONS)]).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(64)))


@needs_core
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
def test_a_forked_process_asks_on(file: Path) -> None:
    likelihood = native(file, 2)
    expected = likelihood("age?", PROGRAMS, SCHEMA)
    child = os.fork()
    if child == 0:
        same = (likelihood("age?", PROGRAMS, SCHEMA) == expected).all()
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    "core", [None, pytest.param(backends.native(), marks=needs_core)], ids=["reference", "native"]
)
def test_a_missing_or_damaged_file_is_named(core: ModuleType | None, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.safetensors.*missing|missing.*nowhere\.safetensors"):
        open_likelihood(tmp_path / "nowhere.safetensors", WORDPIECE, core=core)
    path = make_file(tmp_path)
    content = bytearray(path.read_bytes())
    content[-500] ^= 0x55
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"weights\.safetensors"):
        open_likelihood(path, WORDPIECE, core=core)


@needs_core
def test_the_native_core_refuses_arrays_that_do_not_fit(file: Path) -> None:
    stored = read_reverse(file, WORDPIECE)
    core = backends.native()
    assert core is not None
    sizes = {**stored.config.to_dict(), "max_tokens": MAX_TOKENS}
    network = core.ReverseNetwork(sizes, stored.arrays, 1)
    one, two = np.zeros(1, dtype=np.int32), np.zeros(2, dtype=np.int32)
    for wrong in (
        (one, two, one, one + 1, one),
        (one, one, one, one + 2, one),
        (one, one, one, one + 1, one[:0]),
        (one[None], one, one, one + 1, one),
        (one - 1, one, one, one + 1, one),
    ):
        with pytest.raises(ModelError):
            network.log_probability(*wrong)
    with pytest.raises(TypeError):
        network.log_probability(one.astype(np.int64), one, one, one + 1, one)
    with pytest.raises(ModelError, match="missing"):
        core.ReverseNetwork(
            sizes, {name: stored.arrays[name] for name in stored.arrays if name != "copy.kinds"}, 1
        )
    with pytest.raises(ModelError, match="sizes"):
        core.ReverseNetwork({**sizes, "heads": 5}, stored.arrays, 1)
