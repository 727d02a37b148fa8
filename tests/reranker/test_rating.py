"""Log-odds as a parser asks for them: the native core says what the reference says, whatever else is in the call."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fastsql import backends
from fastsql.errors import ModelError
from fastsql.grammar.program import Literal, Program, TableRef
from fastsql.reranker import Rater, open_rater
from fastsql.reranker import rating as rating_module
from fastsql.reranker.reading import KINDS, MAX_TOKENS, PROGRAM_TOKENS, Row
from fastsql.reranker.weights import StoredReranker, read_reranker, save_reranker
from fastsql.reverse import source as source_module
from fastsql.reverse.source import MAX_TOKENS as SOURCE_TOKENS
from fastsql.reverse.source import TABLE_MARKS, SourceReader
from fastsql.schema import Schema

from ..worlds.toy_model import WORDPIECE
from ..worlds.toy_reranker import make_config, random_weights
from ..worlds.toy_reverse import QUERIES, SCHEMA, program

PROGRAMS = [program(sql) for sql in QUERIES]
LONGER_THAN_IS_READ: Program = (TableRef(0), *[Literal("a " * 32)] * 5)
TOO_LONG: Program = (TableRef(0), *[Literal("a " * 32)] * 30)
QUESTIONS = (
    "",
    "?",
    "how many patients of gender f?",
    "诊断为 肺炎 的 patients 🩺 🤒 按 编号",
    "ꦱꦶ ꦥꦱ ??? zzz",
    "age of admissions " * 20,
)
EARLIER = ("list all admissions", "诊断为 肺炎 的", "only those of gender m")
SHAPES: tuple[dict[str, int], ...] = (
    {},
    {"hidden": 5, "heads": 1, "ffn": 3, "layers": 1},
    {"hidden": 24, "heads": 3, "ffn": 70, "layers": 3},
    {"hidden": 128, "heads": 4, "ffn": 256},
)
PARTS = ("ids", "kinds", "tables", "shared")
needs_core = pytest.mark.skipif(backends.native() is None, reason="needs the native module: pip install .")


def make_file(folder: Path, seed: int = 0, **sizes: int) -> Path:
    config = make_config(**sizes)
    return save_reranker(folder / "weights.safetensors", config, random_weights(config, seed), WORDPIECE)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_file(tmp_path_factory.mktemp("reranker"))


def native(file: Path, threads: int = 1) -> Rater:
    core = backends.native()
    assert core is not None
    return open_rater(file, WORDPIECE, core=core, threads=threads)


@pytest.fixture(params=["reference", pytest.param("native", marks=needs_core)])
def rater(request: pytest.FixtureRequest, file: Path) -> Rater:
    return native(file) if request.param == "native" else open_rater(file, WORDPIECE)


@needs_core
@pytest.mark.parametrize("sizes", SHAPES, ids=str)
def test_the_native_core_says_what_the_reference_says(sizes: dict[str, int], tmp_path: Path) -> None:
    path = make_file(tmp_path, seed=5, **sizes)
    reference, core = open_rater(path, WORDPIECE), native(path)
    assert reference.digest == core.digest
    rounding = 1e-6 * make_config(**sizes).hidden
    for question in QUESTIONS:
        for earlier in ((), EARLIER):
            expected = reference(question, earlier, PROGRAMS, SCHEMA)
            assert len(set(expected)) == len(PROGRAMS)
            found = core(question, earlier, PROGRAMS, SCHEMA)
            np.testing.assert_allclose(found, expected, rtol=0, atol=rounding, err_msg=question)


@needs_core
def test_rows_of_any_length_and_all_tokens_agree(file: Path) -> None:
    stored = read_reranker(file, WORDPIECE)
    network, ours = stored.network(), native_network(stored)
    for lengths in ([1, 70, 2, 33], [MAX_TOKENS], [17] * 16, [200] * 11):
        rows = random_rows(stored, lengths)
        expected = [network.log_odds(one) for one in rows]
        np.testing.assert_allclose(packed(ours, rows), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", PARTS)
def test_all_of_a_token_shows_in_the_log_odds(file: Path, name: str) -> None:
    stored = read_reranker(file, WORDPIECE)
    (one,) = random_rows(stored, [9])
    numbers = {part: getattr(one, part).copy() for part in PARTS}
    numbers[name][4] ^= 1
    other = Row(**numbers)
    network = stored.network()
    assert network.log_odds(other) != pytest.approx(network.log_odds(one), abs=1e-4)


def test_where_a_token_stands_shows_in_the_log_odds(file: Path) -> None:
    stored = read_reranker(file, WORDPIECE)
    (one,) = random_rows(stored, [9])
    order = [0, 2, 1, *range(3, 9)]
    other = Row(*(getattr(one, part)[order] for part in PARTS))
    network = stored.network()
    assert network.log_odds(other) != pytest.approx(network.log_odds(one), abs=1e-4)


def test_a_program_gets_the_same_whatever_is_asked_beside_it(rater: Rater) -> None:
    for question in QUESTIONS:
        together = rater(question, EARLIER, [*PROGRAMS, *reversed(PROGRAMS)] * 2, SCHEMA).reshape(2, 2, 4)
        for number, one in enumerate(PROGRAMS):
            alone = rater(question, EARLIER, [one], SCHEMA)[0]
            assert (together[:, 0, number] == alone).all()
            assert (together[:, 1, 3 - number] == alone).all()


@needs_core
def test_a_program_gets_the_same_among_more_than_go_through_the_network_together(file: Path) -> None:
    rater = native(file)
    alone = [rater(QUESTIONS[2], EARLIER, [one], SCHEMA)[0] for one in PROGRAMS]
    many = rater(QUESTIONS[2], EARLIER, PROGRAMS * 50, SCHEMA)
    assert (many.reshape(50, 4) == alone).all()


@needs_core
def test_a_program_gets_the_same_on_any_number_of_threads(file: Path) -> None:
    one = native(file)
    for threads in (2, 3, 8):
        other = native(file, threads)
        for question in QUESTIONS:
            np.testing.assert_array_equal(
                other(question, EARLIER, PROGRAMS, SCHEMA), one(question, EARLIER, PROGRAMS, SCHEMA)
            )


def test_what_cannot_be_read_has_no_log_odds(rater: Rater) -> None:
    programs = [PROGRAMS[0], TOO_LONG, (), LONGER_THAN_IS_READ, PROGRAMS[1]]
    found = rater("age?", (), programs, SCHEMA)
    assert np.isnan(found).tolist() == [False, True, True, True, False]
    assert found[4] == rater("age?", (), [PROGRAMS[1]], SCHEMA)[0]
    assert np.isnan(rater("age?", (), [TOO_LONG], SCHEMA)).all()


def test_programs_are_read_up_to_the_limit(rater: Rater, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = SourceReader(SCHEMA, WORDPIECE, make_config().numbers)
    assert PROGRAM_TOKENS < len(reader.read(LONGER_THAN_IS_READ).ids) < SOURCE_TOKENS
    lengths = [len(reader.read(one).ids) for one in PROGRAMS]
    expected = rater("age?", (), PROGRAMS, SCHEMA)
    for limit in (max(lengths), max(lengths) - 1, min(lengths)):
        monkeypatch.setattr(rating_module, "PROGRAM_TOKENS", limit)
        found = rater("age?", (), PROGRAMS, SCHEMA)
        within = np.array(lengths) <= limit
        assert (found[within] == expected[within]).all()
        assert np.isnan(found[~within]).all()
    assert within.any()
    assert not within.all()


def test_no_programs_have_no_log_odds(rater: Rater) -> None:
    found = rater("age?", EARLIER, [], SCHEMA)
    assert found.shape == (0,)
    assert found.dtype == np.float64


def test_what_is_asked_and_what_was_asked_before_changes_the_log_odds(rater: Rater) -> None:
    alone = rater("age?", (), PROGRAMS, SCHEMA)
    assert alone.dtype == np.float64
    assert np.isfinite(alone).all()
    after = rater("age?", EARLIER, PROGRAMS, SCHEMA)
    for other in (rater("gender?", (), PROGRAMS, SCHEMA), after):
        assert (abs(other - alone) > 1e-4).all()
    assert (abs(rater("age?", EARLIER[::-1], PROGRAMS, SCHEMA) - after) > 1e-5).all()
    assert (rater("age?", ["how many?", *EARLIER], PROGRAMS, SCHEMA) == after).all()


def test_long_questions_are_read_as_far_as_the_network_goes(rater: Rater) -> None:
    longest = "a " * 400
    found = rater(longest, [longest] * 3, PROGRAMS, SCHEMA)
    assert np.isfinite(found).all()
    assert (found == rater("a " * 300, [longest], PROGRAMS, SCHEMA)).all()


def test_schemas_are_told_apart_and_the_oldest_forgotten(
    rater: Rater, monkeypatch: pytest.MonkeyPatch
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
    first = [rater("age of t?", (), [one], schema)[0] for one, schema in zip(programs, schemas, strict=True)]
    assert len(set(first[:3])) == 3
    rater("age?", (), programs[-1:], schemas[-1])
    assert made == schemas
    assert rater("age of t?", (), programs[:1], schemas[0])[0] == first[0]
    assert len(made) == len(schemas) + 1


def test_threads_may_share_a_rater(rater: Rater) -> None:
    expected = [rater(question, EARLIER, PROGRAMS, SCHEMA) for question in QUESTIONS]
    schemas = [Schema.from_ddl(f"CREATE TABLE t{number} (age INTEGER)") for number in range(12)]

    def ask(number: int) -> bool:
        schema = schemas[number % 12]
        rater("age?", (), [program(f"SELECT age FROM t{number % 12}", schema)], schema)
        found = rater(QUESTIONS[number % len(QUESTIONS)], EARLIER, PROGRAMS, SCHEMA)
        return bool((found == expected[number % len(QUESTIONS)]).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(64)))


@needs_core
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
def test_a_forked_process_asks_on(file: Path) -> None:
    rater = native(file, 2)
    expected = rater("age?", (), PROGRAMS, SCHEMA)
    child = os.fork()
    if child == 0:
        same = (rater("age?", (), PROGRAMS, SCHEMA) == expected).all()
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    "core", [None, pytest.param(backends.native(), marks=needs_core)], ids=["reference", "native"]
)
def test_a_missing_or_damaged_file_is_named(core: ModuleType | None, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.safetensors.*missing|missing.*nowhere\.safetensors"):
        open_rater(tmp_path / "nowhere.safetensors", WORDPIECE, core=core)
    path = make_file(tmp_path)
    content = bytearray(path.read_bytes())
    content[-500] ^= 0x55
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"weights\.safetensors"):
        open_rater(path, WORDPIECE, core=core)


@needs_core
def test_the_native_core_refuses_arrays_that_do_not_fit(file: Path) -> None:
    stored = read_reranker(file, WORDPIECE)
    core = backends.native()
    assert core is not None
    network = native_network(stored)
    one, two = np.zeros(1, dtype=np.int32), np.zeros(2, dtype=np.int32)
    assert np.isfinite(network.log_odds(one, one, one, one, one + 1)).all()
    for wrong in (
        (one, two, one, one, one + 1),
        (one, one, two, one, one + 1),
        (one, one, one, two, one + 1),
        (one, one, one, one, one + 2),
        (one, one, one, one, one),
        (one[None], one, one, one, one + 1),
        (one, one, one, one, one[None] + 1),
        (one - 1, one, one, one, one + 1),
        (one, one, one, one + 2, one + 1),
    ):
        with pytest.raises(ModelError):
            network.log_odds(*wrong)
    with pytest.raises(TypeError):
        network.log_odds(one.astype(np.int64), one, one, one, one + 1)
    sizes = {**stored.config.to_dict(), "max_tokens": MAX_TOKENS}
    with pytest.raises(ModelError, match="missing"):
        core.RerankerNetwork(
            sizes, {name: stored.arrays[name] for name in stored.arrays if name != "shared.weight"}, 1
        )
    with pytest.raises(ModelError, match="sizes"):
        core.RerankerNetwork({**sizes, "heads": 5}, stored.arrays, 1)


def random_rows(stored: StoredReranker, lengths: Iterable[int]) -> list[Row]:
    """Rows of any tokens that the reranker knows."""
    rng = np.random.default_rng(4)
    ends = (stored.config.pieces + len(stored.config.symbols), KINDS, TABLE_MARKS + 1, 2)
    return [Row(*(rng.integers(0, end, length, dtype=np.int32) for end in ends)) for length in lengths]


def native_network(stored: StoredReranker) -> Any:
    core = backends.native()
    assert core is not None
    return core.RerankerNetwork({**stored.config.to_dict(), "max_tokens": MAX_TOKENS}, stored.arrays, 1)


def packed(network: Any, rows: Sequence[Row]) -> NDArray[np.float64]:
    """The log-odds of rows in one call."""
    parts = (np.concatenate([getattr(one, name) for one in rows]) for name in PARTS)
    found: NDArray[np.float64] = network.log_odds(
        *parts, np.array([len(one.ids) for one in rows], dtype=np.int32)
    )
    return found
