"""The relation graph says what a person would: who owns what, what is named where, which value lies where."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsql.linking.candidate import Candidate
from fastsql.linking.relations import RELATIONS, SchemaLinks, span_weights, split_words
from fastsql.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "db_id": "ward",
        "tables": [
            {
                "name": "patients",
                "label": "patients",
                "columns": [
                    {"name": "subject_id", "label": "subject id", "type": "number", "primary_key": True},
                    {"name": "gender", "label": "gender", "type": "text", "primary_key": False},
                ],
            },
            {
                "name": "admissions",
                "label": "hospital admissions",
                "columns": [
                    {"name": "hadm_id", "label": "hadm id", "type": "number", "primary_key": True},
                    {"name": "subject_id", "label": "subject id", "type": "number", "primary_key": False},
                    {"name": "admittime", "label": "admission time", "type": "time", "primary_key": False},
                ],
            },
            {
                "name": "诊断记录",
                "label": "诊断记录",
                "columns": [{"name": "诊断", "label": "诊断", "type": "text", "primary_key": False}],
            },
        ],
        "foreign_keys": [["admissions.subject_id", "patients.subject_id"]],
    }
)
LINKS = SchemaLinks(SCHEMA)
ITEMS = [
    "patients",
    "admissions",
    "诊断记录",
    "p.subject_id",
    "gender",
    "hadm_id",
    "a.subject_id",
    "admittime",
    "诊断",
]


def tokens_of(text: str) -> list[tuple[str, int, int]]:
    return [(match.group(), *match.span()) for match in re.finditer(r"[\u4e00-\u9fff]|[a-zA-Z0-9]+", text)]


class Graph:
    """A linked question whose edges are asked for by name."""

    def __init__(self, text: str, candidates: tuple[Candidate, ...] = ()) -> None:
        words = tokens_of(text)
        offsets = np.array([span for _, *span in words], dtype=np.int32).reshape(-1, 2)
        self.names = [word for word, _, _ in words] + [str(c.value) + "*" for c in candidates] + ITEMS
        self.relations = LINKS.relations(text, offsets, candidates)

    def __call__(self, row: str, column: str) -> str:
        return RELATIONS[self.relations[self.names.index(row), self.names.index(column)]]


def test_there_are_fewer_relations_than_a_byte_holds_and_no_two_alike() -> None:
    assert len(set(RELATIONS)) == len(RELATIONS) <= 256


def test_tokens_know_their_distance() -> None:
    graph = Graph("one two three four five")
    assert graph("one", "one") == "token-self"
    assert graph("one", "two") == "token-after-1"
    assert graph("three", "one") == "token-before-2"
    assert graph("one", "five") == "token-after-far"
    assert graph("five", "one") == "token-before-far"


@pytest.mark.parametrize(
    ("text", "word", "item", "expected"),
    [
        ("the Patients here", "Patients", "patients", "token-table-name"),
        ("one patient", "patient", "patients", "token-table-name"),
        ("the subject id", "subject", "p.subject_id", "token-column-name"),
        ("the subject", "subject", "a.subject_id", "token-column-part"),
        ("time of admission", "admission", "admissions", "token-table-name"),
        ("time of admission", "admission", "admittime", "token-column-part"),
        ("hospital stay", "hospital", "admissions", "token-table-part"),
        ("nothing here", "nothing", "gender", "token-column"),
        ("他的诊断是什么", "诊", "诊断", "token-column-name"),
        ("他的诊断是什么", "断", "诊断记录", "token-table-part"),
        ("会诊", "诊", "诊断", "token-column"),
    ],
)
def test_names_are_found_whole_and_in_part(text: str, word: str, item: str, expected: str) -> None:
    graph = Graph(text)
    assert graph(word, item) == expected
    parts = expected.split("-")
    assert graph(item, word) == "-".join([parts[1], *parts[2:], parts[0]])


def test_values_are_linked_to_their_words_and_columns() -> None:
    female = Candidate("f", "text", (14, 20), "dictionary", columns=(1,))
    year = Candidate("2100", "date", (24, 28), "date", format="%Y")
    graph = Graph("patients with female in 2100", (female, year))
    assert graph("female", "f*") == "token-in-candidate"
    assert graph("f*", "female") == "candidate-covers-token"
    assert graph("with", "f*") == "token-beside-candidate"
    assert graph("patients", "f*") == "token-candidate"
    assert graph("f*", "gender") == "candidate-column-value"
    assert graph("gender", "f*") == "column-value-candidate"
    assert graph("female", "gender") == "token-column-value"
    assert graph("f*", "patients") == "candidate-table-value" or graph.names.count("patients") > 1
    assert graph("2100*", "admittime") == "candidate-column-type"
    assert graph("2100*", "gender") == "candidate-column"
    assert graph("f*", "f*") == "candidate-self"
    assert graph("f*", "2100*") == "candidate-candidate"


def test_candidates_of_one_span_overlap() -> None:
    graph = Graph(
        "in the 50s", (Candidate(50, "number", (7, 10), "number"), Candidate(59, "number", (7, 10), "number"))
    )
    assert graph("50*", "59*") == "candidate-overlap"


def test_the_schema_knows_owners_keys_and_references() -> None:
    graph = Graph("?")
    assert graph("patients", "p.subject_id") == "table-own-key"
    assert graph("gender", "patients") == "column-own-table"
    assert graph("hadm_id", "patients") == "column-table"
    assert graph("a.subject_id", "p.subject_id") == "column-references"
    assert graph("p.subject_id", "a.subject_id") == "column-referenced"
    assert graph("admissions", "patients") == "table-references"
    assert graph("patients", "admissions") == "table-referenced"
    assert graph("hadm_id", "admittime") == "column-same-table"
    assert graph("gender", "gender") == "column-self"


@given(st.text(max_size=60), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=5))
def test_every_question_has_a_graph(text: str, spans: list[tuple[int, int]]) -> None:
    candidates = tuple(Candidate(1, "number", (start, start + width), "number") for start, width in spans)
    words = tokens_of(text)
    offsets = np.array([span for _, *span in words], dtype=np.int32).reshape(-1, 2)
    relations = LINKS.relations(text, offsets, candidates)
    size = len(words) + len(candidates) + len(ITEMS)
    assert relations.shape == (size, size)
    assert relations.min() > 0
    assert relations.max() < len(RELATIONS)
    weights = span_weights(offsets, candidates)
    assert weights.shape == (len(candidates), len(words))
    assert np.isin(weights.sum(axis=1).round(5), [0, 1]).all()


def test_a_candidate_averages_over_the_tokens_of_its_span() -> None:
    offsets = np.array([[0, 3], [4, 7], [8, 11]], dtype=np.int32)
    weights = span_weights(offsets, [Candidate("b c", "text", (4, 11), "quoted")])
    assert weights.tolist() == [[0, 0.5, 0.5]]


def test_words_lose_their_plural_and_chinese_is_cut_into_characters() -> None:
    assert [word for word, _, _ in split_words("Biopsies of drug_doses, diagnosis 就诊2")] == [
        "biopsy",
        "of",
        "drug",
        "dose",
        "diagnosis",
        "就",
        "诊",
        "2",
    ]


WORDS = (
    "patient",
    "patients",
    "subject",
    "id",
    "gender",
    "hospital admission",
    "admissions",
    "admission",
    "time",
    "诊断",
    "记录",
    "female",
)


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join),
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(1, 20), st.sets(st.integers(0, 5), max_size=3)), max_size=3
    ),
)
def test_what_is_named_can_be_read_from_the_relations_also_where_a_value_hides_it(
    text: str, values: list[tuple[int, int, set[int]]]
) -> None:
    offsets = np.array([(start, end) for _, start, end in tokens_of(text)], dtype=np.int32)
    candidates = [
        Candidate("x", "text", (start, min(start + length, len(text))), "dictionary", tuple(columns))
        for start, length, columns in values
        if start < len(text)
    ]
    relations = LINKS.relations(text, offsets, candidates)
    items = [*range(len(ITEMS)), 3, 0]
    read = LINKS.read_matches(items, text, offsets, relations)
    assert np.array_equal(read, LINKS.name_matches(text, offsets)[:, items])
