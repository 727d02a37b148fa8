"""The native linking finds the values and builds the relations that the Python reference does, on any question."""

from __future__ import annotations

import pickle
import random
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastsql.datasets import Example, read_examples, read_schemas, read_values, with_known_values
from fastsql.errors import ModelError
from fastsql.linking import Candidate, ValueDictionary, dictionary_file, find_candidates
from fastsql.linking.folding import words
from fastsql.linking.grounds import find_grounds
from fastsql.linking.prepare import prepare
from fastsql.linking.relations import RELATIONS, SchemaLinks
from fastsql.linking.value_index import ValueIndex, ValueMatch
from fastsql.linking.value_table import ValueTable
from fastsql.schema import Schema

from ..linking.test_relations import SCHEMA as WARD
from ..linking.test_value_index import HELD, SAID, index_of, texts, values
from ..worlds.toy_model import WORDPIECE
from ..worlds.valued_hospital import SCHEMA as HOSPITAL
from ..worlds.valued_hospital import VALUES

DICTIONARY = ValueDictionary.from_mapping(VALUES, HOSPITAL)
EVERY = {
    "ehrsql2024": ("valid.json", 9), "css": ("examples.json", 97), "spider": ("dev.json", 17), "bird": ("dev.json", 31),
    "mimicsql": ("dev.json", 29), "beaver": ("dev.json", 7),
}  # fmt: skip
"""How many of a data set's questions are linked: one in so many."""
QUESTIONS = (
    "Which patients of the emergency room had swabs and Dextrose 5%, or chronic kidney disease, stage 3?",
    "诊断为2型糖尿病的患者在就诊时做过心电图检查吗",
    "Subject ids of hospital admissions by dept: aspirin (low-dose), Café au Lait, code 4019 on 12/05/2100",
    "ＡＳＰＩＲＩＮ ﷺ \u0130stanbul ß x\u0301 \U0001f600 1.2.3",
    "",
)
differential = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def offsets_of(text: str) -> np.ndarray:
    """Tokens as a tokenizer might cut them: words, the long ones in two."""
    spans = [
        (begin, end)
        for word in words(text)
        for begin, end in (
            [(word.start, word.end)]
            if word.end - word.start < 6
            else [(word.start, word.start + 4), (word.start + 4, word.end)]
        )
    ]
    return np.array(spans, dtype=np.int32).reshape(-1, 2)


def expect_same_relations(
    core: ModuleType, schema: Schema, text: str, candidates: Sequence[Candidate], abbreviations: bool = False
) -> None:
    reference = SchemaLinks(schema, abbreviations=abbreviations)
    native = SchemaLinks(schema, abbreviations=abbreviations, core=core)
    offsets = offsets_of(text)
    found = native.relations(text, offsets, candidates)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, reference.relations(text, offsets, candidates))


@pytest.mark.parametrize("abbreviations", [False, True])
@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize("schema", [WARD, HOSPITAL], ids=["ward", "hospital"])
def test_fixtures_are_linked_alike(core: ModuleType, schema: Schema, text: str, abbreviations: bool) -> None:
    candidates = find_candidates(text, schema, DICTIONARY if schema is HOSPITAL else None)
    assert candidates == find_candidates(text, schema, DICTIONARY if schema is HOSPITAL else None, core=core)
    expect_same_relations(core, schema, text, candidates, abbreviations)


@differential
@given(
    st.text(max_size=50) | texts,
    st.lists(
        st.tuples(
            st.integers(0, 50), st.integers(0, 9), st.sampled_from(["number", "date", "text", "other"]),
            st.lists(st.integers(0, len(WARD.columns) - 1), max_size=3, unique=True),
        ),
        max_size=5,
    ),
    st.booleans(),
)  # fmt: skip
def test_any_text_and_any_candidates_are_linked_alike(
    core: ModuleType, text: str, drawn: list[tuple[int, int, str, list[int]]], abbreviations: bool
) -> None:
    candidates = [
        Candidate(1, kind, (start, start + width), "number", columns=tuple(columns))
        for start, width, kind, columns in drawn
    ]
    expect_same_relations(core, WARD, text, candidates, abbreviations)


@differential
@given(values, texts | st.text(max_size=30))
def test_any_values_are_found_alike(core: ModuleType, held: list[str], text: str) -> None:
    index = index_of(*held)
    for question in (text, " ".join([*held[:2], text, *held[2:4]])):
        assert index.match(question, core) == index.match(question)


def examples_of(name: str, folder: Path) -> Iterator[tuple[Example, Schema, ValueDictionary | None]]:
    file, every = EVERY[name]
    schemas = read_schemas(folder / "schemas.json")
    excerpt = folder / "values.json.gz"
    excerpts = read_values(excerpt) if excerpt.is_file() else {}
    known: dict[str, tuple[Schema, ValueDictionary | None]] = {}
    path = next(path for path in (folder / file, folder / f"{file}.gz") if path.is_file())
    for example in read_examples(path)[::every]:
        if example.db_id not in known:
            schema = schemas[example.db_id]
            known[example.db_id] = with_known_values(schema, None, excerpts.get(example.db_id))
        yield example, *known[example.db_id]


@pytest.mark.parametrize("name", EVERY)
def test_questions_of_the_data_sets_are_linked_alike(core: ModuleType, name: str, fastsql_data: Path) -> None:
    if not (fastsql_data / name).is_dir():
        pytest.skip(f"put {name} into the folder that FASTSQL_DATA names to run this")
    links: dict[int, tuple[SchemaLinks, SchemaLinks]] = {}
    count = 0
    for example, schema, dictionary in examples_of(name, fastsql_data / name):
        reference, native = links.setdefault(
            id(schema), (SchemaLinks(schema), SchemaLinks(schema, core=core))
        )
        text = example.question
        candidates = find_candidates(text, schema, dictionary)
        assert find_candidates(text, schema, dictionary, core=core) == candidates
        offsets = offsets_of(text)
        found = native.relations(text, offsets, candidates)
        np.testing.assert_array_equal(found, reference.relations(text, offsets, candidates))
        count += 1
    assert count > 5


def test_a_mapped_file_is_read_alike(
    core: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = {("prescriptions", "drug"): [f"substance {number:05}" for number in range(4000)]}
    path = tmp_path / "values.fsv"
    ValueDictionary.from_mapping({**VALUES, **many}, HOSPITAL).save(path)
    loaded = ValueDictionary.load(path, HOSPITAL)
    for text in (*QUESTIONS, "substance 03999 and substance 02000s"):
        assert loaded.match(text, core) == loaded.match(text)
    content = bytearray(path.read_bytes())
    content[content.index(b"substance 02000")] ^= 1
    path.write_bytes(content)
    monkeypatch.setattr(dictionary_file, "_CHECKED_AT_ONCE", 0)
    harmed = ValueDictionary.load(path, HOSPITAL)
    assert [match.values[0][0] for match in harmed.match("swab", core)] == ["swab"]
    with pytest.raises(ModelError, match="damaged") as caught:
        harmed.match("substance 02000", core)
    assert str(path) in str(caught.value)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 4))
def test_nonsense_in_a_table_never_leaves_its_bounds(
    core: ModuleType, chance: random.Random, changes: int
) -> None:
    table = index_of(*HELD).table
    body = bytearray(table.body)
    for _ in range(changes):
        body[chance.randrange(len(body))] = chance.choice((0, 1, 127, 255))
    # One may stop where the other does not look; what both find is the same.
    one, other = (answer(bytes(body), table.bounds, module) for module in (None, core))
    assert one is None or other is None or one == other


def answer(body: bytes, bounds: Sequence[int], core: ModuleType | None) -> tuple[ValueMatch, ...] | None:
    """The matches of a table's bytes; None where they are refused."""
    try:
        index = ValueIndex.of(ValueTable(memoryview(body), bounds), [(0,)] * len(HELD))
        return index.match(SAID, core)
    except ModelError:
        return None


def test_threads_share_an_index_and_its_links(core: ModuleType) -> None:
    links = SchemaLinks(HOSPITAL, core=core)
    offsets = [offsets_of(text) for text in QUESTIONS]

    def link(number: int) -> tuple[tuple[Candidate, ...], bytes]:
        candidates = find_candidates(QUESTIONS[number], HOSPITAL, DICTIONARY, core=core)
        return candidates, links.relations(QUESTIONS[number], offsets[number], candidates).tobytes()

    expected = [link(number) for number in range(len(QUESTIONS))]
    wrong: list[int] = []

    def work() -> None:
        for turn in range(40):
            number = turn % len(QUESTIONS)
            if link(number) != expected[number]:
                wrong.append(number)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_native_links_are_pickled_as_python_ones(core: ModuleType) -> None:
    links = SchemaLinks(WARD, core=core)
    moved = pickle.loads(pickle.dumps(links))
    assert moved.core is None
    offsets = offsets_of(QUESTIONS[0])
    np.testing.assert_array_equal(
        moved.relations(QUESTIONS[0], offsets, ()), links.relations(QUESTIONS[0], offsets, ())
    )


NONE = (np.zeros(1, np.int32), np.zeros(0, np.int32))
SIZES = {
    "grams": (np.array([0, 1], np.int32), np.array([0], np.int32)),
    "parts": (np.array([0, 1], np.int32), np.array([1], np.int32)),
    "wholes": (np.array([0, 0], np.int32), np.zeros(0, np.int32)),
    "numbers": {name: number for number, name in enumerate(RELATIONS)},
    "within": np.zeros((2, 2), np.uint8),
    "table_of": np.zeros(1, np.int32),
    "fits": np.zeros((1, 1), np.uint8),
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parts": NONE}, "parts has another number of lists"),
        ({"parts": (np.array([0, 2], np.int32), np.array([1], np.int32))}, "does not use all its entries"),
        ({"wholes": (np.array([0, 1], np.int32), np.array([2], np.int32))}, "wholes has an entry"),
        ({"within": np.zeros((2, 3), np.uint8)}, r"block has shape \[2, 3\]"),
        ({"table_of": np.ones(1, np.int32)}, "column 0 is in a table that is not there"),
        ({"fits": np.zeros((1, 2), np.uint8)}, r"types have shape \[1, 2\]"),
    ],
)
def test_a_schema_that_does_not_fit_together_is_refused(
    core: ModuleType, changes: dict[str, object], message: str
) -> None:
    core.SchemaLinks(**SIZES)
    with pytest.raises(ModelError, match=message):
        core.SchemaLinks(**{**SIZES, **changes})


QUESTION = {
    "words": [0], "word_spans": [0, 3], "shortened": [], "offsets": np.array([[0, 3]], np.int32),
    "spans": [0, 3], "kinds": [0], "held": [[0]],
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"word_spans": [0]}, "one span for each word"),
        ({"spans": []}, "one span and one list of columns"),
        ({"held": [[1]]}, "column 1 is not there"),
        ({"held": [[-1]]}, "column -1 is not there"),
        ({"kinds": [1]}, "kind 1 is not known"),
        ({"shortened": [0, 2, 0]}, "abbreviation is of no words"),
        ({"shortened": [0]}, "abbreviation is no triple"),
        ({"offsets": np.zeros((1, 3), np.int32)}, r"offsets have shape \[1, 3\]"),
    ],
)
def test_a_question_that_does_not_fit_together_is_refused(
    core: ModuleType, changes: dict[str, object], message: str
) -> None:
    links = core.SchemaLinks(**SIZES)
    assert links.relations(**QUESTION).shape == (4, 4)
    with pytest.raises(ModelError, match=message):
        links.relations(**{**QUESTION, **changes})


def test_a_column_that_is_not_there_is_refused(core: ModuleType) -> None:
    (candidate,) = find_candidates("swab", HOSPITAL, DICTIONARY)
    beyond = replace(candidate, columns=(len(HOSPITAL.columns),))
    with pytest.raises(ModelError, match="is not there"):
        SchemaLinks(HOSPITAL, core=core).relations("swab", offsets_of("swab"), [beyond])


@pytest.mark.parametrize(
    "question", ["诊断为糖尿病", "heparin and 5% dextrose", "", "a" * 50, "aspirin (low-dose)"]
)
def test_literals_that_exist_are_those_of_the_reference(question: str, core: ModuleType) -> None:
    dictionary = ValueDictionary.from_mapping(VALUES, HOSPITAL)
    dictionary.whole = frozenset(range(len(HOSPITAL.columns)))
    prepared = prepare(question, SchemaLinks(HOSPITAL), WORDPIECE, dictionary=dictionary)
    assert find_grounds(prepared, dictionary, core) == find_grounds(prepared, dictionary)
