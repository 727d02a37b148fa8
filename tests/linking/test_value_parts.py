"""Which words of a question are a part of some value of columns that are known whole; SQLite's LIKE is the oracle."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from types import ModuleType

import pytest

from fastsql import backends
from fastsql.grammar.matching import ANYWHERE, EVERY, LIKE, Patterns
from fastsql.linking import ValueDictionary, dictionary, value_parts
from fastsql.linking.grounds import find_grounds
from fastsql.linking.prepare import Prepared, prepare
from fastsql.linking.relations import SchemaLinks

from ..worlds.toy_model import WORDPIECE
from ..worlds.valued_hospital import SCHEMA, VALUES

DRUG = SCHEMA.column_index("prescriptions", "drug")
DOSE = SCHEMA.column_index("prescriptions", "dose")
TITLE = SCHEMA.column_index("diagnoses", "title")
DIAGNOSIS = SCHEMA.column_index("就诊", "诊断")
KNOWN = ValueDictionary.from_mapping(VALUES, SCHEMA, whole=True)
WORDS = [
    "Acute",
    "chronic",
    "kidney",
    "ney",
    "disease",
    "heart-rate",
    "rate",
    "5",
    "mg",
    "aspirin",
    "spir",
    "(oral)",
]


def ask(question: str, known: ValueDictionary | None = None) -> Prepared:
    """The question, linked."""
    return prepare(question, SchemaLinks(SCHEMA), WORDPIECE, dictionary=known)


def found(question: str, known: ValueDictionary = KNOWN, core: ModuleType | None = None) -> Patterns:
    patterns = find_grounds(ask(question, known), known, core).patterns
    assert patterns is not None
    return patterns


def said(question: str, column: int, rows: frozenset[tuple[int, int, int]]) -> set[str]:
    """The longest runs of one column, as they are written."""
    offsets = ask(question).offsets
    return {
        question[int(offsets[min(fixed, far), 0]) : int(offsets[max(fixed, far), 1])]
        for of, fixed, far in rows
        if of == column
    }


def test_words_within_a_value_reach_as_far_as_it_says_them() -> None:
    question = "any Kidney Disease, stage four"
    patterns = found(question)
    assert said(question, TITLE, patterns.within) == {"Kidney Disease, stage", "Disease, stage", "stage"}
    assert said(question, DRUG, patterns.within) == set()


def test_beginnings_and_ends_are_told_apart() -> None:
    question = "chronic kidney disease"
    patterns = found(question)
    assert said(question, TITLE, patterns.begun) == {"chronic kidney disease"}
    assert said(question, TITLE, patterns.ended) == {"chronic kidney disease"}
    question = "tract infection of"
    patterns = found(question)
    assert said(question, TITLE, patterns.begun) == set()
    assert said(question, TITLE, patterns.ended) == {"tract infection"}


def test_a_part_of_a_word_is_a_part_of_a_value() -> None:
    question = "drugs with extro"
    assert said(question, DRUG, found(question).within) == {"extro"}


def test_words_joined_by_a_hyphen_are_each_a_part_of_a_value() -> None:
    assert said("kidney-disease", TITLE, found("kidney-disease").within) == {"kidney", "disease"}


def test_chinese_is_found_character_by_character() -> None:
    question = "有尿病的"
    assert said(question, DIAGNOSIS, found(question).within) == {"尿病", "病"}


def test_words_without_letters_enough_are_taken_to_be_everywhere() -> None:
    question = "of 5 kidney"
    patterns = found(question)
    assert said(question, EVERY, patterns.within) == {"of 5", "5"}
    assert said(question, TITLE, patterns.within) == {"kidney"}


def test_candidates_say_what_of_a_value_they_are() -> None:
    prepared = ask('drugs like "trose" or "5% Dextrose" or "%" or 4019', KNOWN)
    patterns = find_grounds(prepared, KNOWN).patterns
    assert patterns is not None
    ways = {
        (column, str(prepared.candidates[number].value)): bits
        for (column, number), bits in patterns.ways.items()
    }
    assert ways[DRUG, "trose"] == 0b101  # within "dextrose 5%", and "5% dextrose" ends with it
    assert ways[EVERY, "%"] == ANYWHERE
    assert ways[DOSE, "4019"] & LIKE
    assert (TITLE, "trose") not in ways


def test_only_columns_that_are_known_whole_count() -> None:
    some = ValueDictionary.from_mapping(VALUES, SCHEMA)
    some.whole = frozenset({DRUG})
    patterns = found("kidney disease or aspirin", some)
    assert {row[0] for rows in (patterns.within, patterns.begun, patterns.ended) for row in rows} <= {
        DRUG,
        EVERY,
    }


def offers(patterns: Patterns, way: int, column: int, first: int, last: int) -> bool:
    """Whether the tokens from first to last are known to match."""
    if way == 2:
        return patterns.reach[way].get((column, last), first + 1) <= first
    return patterns.reach[way].get((column, first), -1) >= last


@pytest.mark.parametrize("seed", range(8))
def test_what_is_passed_over_is_what_like_does_not_find(seed: int) -> None:
    chance = random.Random(seed)
    values = sorted({" ".join(chance.choices(WORDS, k=chance.randint(1, 4))) for _ in range(30)})
    known = ValueDictionary.from_mapping({("prescriptions", "drug"): values}, SCHEMA, whole=True)
    question = " ".join(chance.choices([*WORDS, "which", "patients"], k=9))
    patterns, prepared = found(question, known), ask(question)
    cut = value_parts.Said.of(question).words
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (v TEXT)")
        connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
        compared = 0
        for first in range(len(cut)):
            for last in range(first, len(cut)):
                text = question[cut[first].start : cut[last].end]
                start = prepared.offsets[:, 0].tolist().index(cut[first].start)
                end = prepared.offsets[:, 1].tolist().index(cut[last].end)
                for way, pattern in enumerate((f"%{text}%", f"{text}%", f"%{text}")):
                    held = connection.execute("SELECT 1 FROM t WHERE v LIKE ? LIMIT 1", (pattern,)).fetchone()
                    if held:
                        assert offers(patterns, way, DRUG, start, end) or offers(
                            patterns, way, EVERY, start, end
                        ), (pattern, values)
                    else:
                        assert not offers(patterns, way, DRUG, start, end), (pattern, values)
                    compared += 1
        assert compared > 80


def test_where_too_many_values_come_into_question_nothing_is_barred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_parts, "CHECKED", 1)
    question = "urinary kidney disease"
    patterns = found(question)
    tokens = len(ask(question).offsets)
    assert {row[0] for row in patterns.begun} == {TITLE}  # the first word was looked up
    assert (EVERY, tokens - 1) in {(row[0], row[2]) for row in patterns.within}
    assert (EVERY, tokens - 1, 0) in patterns.ended
    monkeypatch.setattr(value_parts, "COMMON", 0)
    assert {row[0] for row in found(question).within} == {EVERY}


def test_no_question_waits_for_an_index_by_letters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(dictionary, "SMALL", 3)
    fresh = ValueDictionary.from_mapping(VALUES, SCHEMA, whole=True)
    assert find_grounds(ask("kidney"), fresh).patterns is None
    fresh.save(tmp_path / "values")
    assert find_grounds(ask("kidney"), ValueDictionary.load(tmp_path / "values", SCHEMA)).patterns is not None


@pytest.mark.skipif(backends.native() is None, reason="needs the native module: pip install .")
def test_an_empty_question_gives_no_patterns() -> None:
    assert found("") == found("", core=backends.native()) == Patterns()
