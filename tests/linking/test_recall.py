"""By which way a gold literal can be had, which literals of a query count, and the share on ehrsql2024."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from fastsql.linking import (
    GoldLiteral,
    ValueDictionary,
    explain_literal,
    find_candidates,
    gold_literals,
    literal_recall,
    standing_values,
)
from fastsql.linking.recall import verbatim_span
from fastsql.schema import Schema

from ..worlds.valued_hospital import SCHEMA, VALUES

DICTIONARY = ValueDictionary.from_mapping(VALUES, SCHEMA)
CONSTANTS = SCHEMA.with_constants({"sao2_lower": 95.0})
KIND = SCHEMA.column_index("admissions", "kind")
GENDER = SCHEMA.column_index("admissions", "gender")
TITLE = SCHEMA.column_index("diagnoses", "title")


@pytest.mark.parametrize(
    ("literal", "question", "provenance"),
    [
        (50, "patients in their 50s", "number"),
        (59, "patients in their 50s", "number"),
        (118.0, "above 118", "number"),
        ("118", "above 118", "number"),
        ("00451", "report 00451", "number"),
        (451, "report 00451", None),
        ("2100-08", "since 08/2100", "date"),
        ("2100-09", "since 08/2100", None),
        ("07", "in 07/this year", "date"),
        ("07", "in 7 days", None),
        (3, "the third visit", "ordinal"),
        ("heparin flush", 'took "heparin flush"', "quoted"),
        ("Crohn's disease", "patients with crohn's disease", "dictionary"),
        ("URGENT", "urgent visits", "schema"),
        ("f", "female patients", "schema"),
        (95.0, "normal saturation", "constant"),
        (0, "any drugs", "closed"),
        (1, "any drugs", "closed"),
        ("01", "any drugs", None),
        (5, "any drugs", None),
        ("warm milk", "who took warm milk?", "span"),
        ("warm mil", "who took warm milk?", None),
        ("Warm milk", "who took warm milk?", None),
        ("%warm milk%", "who took warm milk?", "span"),
        ("产%", "科室名有产字的科室", "span"),
        ("%", "anything", None),
    ],
)
def test_a_literal_is_explained(literal: str | int | float, question: str, provenance: str | None) -> None:
    candidates = find_candidates(question, CONSTANTS, DICTIONARY)
    assert explain_literal(literal, question, candidates, CONSTANTS, None, DICTIONARY) == provenance


def test_a_schema_value_has_to_be_one_of_the_column() -> None:
    assert explain_literal("f", "women", (), SCHEMA, GENDER) == "schema"
    assert explain_literal("f", "women", (), SCHEMA, KIND) is None


def test_a_span_in_another_case_needs_the_spelling_of_the_column() -> None:
    # The longer match hides the shorter one from the candidates, but the decoder may still point at its words.
    question = "a CHRONIC KIDNEY DISEASE, STAGE 3"
    candidates = find_candidates(question, SCHEMA, DICTIONARY)
    assert (
        explain_literal("chronic kidney disease", question, candidates, SCHEMA, TITLE, DICTIONARY) == "span"
    )
    assert explain_literal("chronic kidney disease", question, candidates, SCHEMA, TITLE) is None
    assert explain_literal("chronic kidney disease", question, candidates, SCHEMA, GENDER, DICTIONARY) is None


@pytest.mark.parametrize(
    ("text", "question", "span"),
    [
        ("iv", "given via iv, iv", (10, 12)),
        ("iv", "five times", None),
        ("iv", "five iv times", (5, 7)),
        ("糖尿病", "患糖尿病的人", (1, 4)),
        ("5%", "took 5%?", (5, 7)),
        ("", "anything", None),
    ],
)
def test_a_verbatim_span_keeps_words_whole(text: str, question: str, span: tuple[int, int] | None) -> None:
    assert verbatim_span(text, question) == span


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("SELECT x FROM t WHERE a = 'b' AND c > 4.5 OR a = 'b'", ["b", 4.5]),
        ("SELECT x FROM t WHERE datetime(d) >= datetime(current_time, '-8 month')", [8]),
        (
            "SELECT x FROM t WHERE datetime(d, 'start of year') = datetime('now', 'start of year', '-0 year')",
            [0],
        ),
        ("SELECT x FROM t WHERE strftime('%Y-%m', d) = '2100-08'", ["2100-08"]),
        ("SELECT 24 * (strftime('%J', current_time) - strftime('%J', d)) FROM t", []),
        ("SELECT 24 * (julianday(current_time) - julianday(d)) FROM t", []),
        ("SELECT x FROM t WHERE strftime('%J', e) - strftime('%J', d) < 1 * 365/4", [3]),
        ("SELECT x FROM t WHERE strftime('%J', e) - strftime('%J', d) < 1 * 365/2", [6]),
        ("SELECT x FROM t WHERE strftime('%J', e) - strftime('%J', d) < (365 * 12 / 12)", [12]),
        ("SELECT x FROM t WHERE strftime('%J', e) - strftime('%J', d) < 365", [365]),
        ("SELECT x * 24 FROM t WHERE y = -3 LIMIT 5", [24, -3, 5]),
        ("SELECT x FROM t WHERE a IN ('b', 'c') AND d LIKE '%e%'", ["b", "c", "%e%"]),
    ],
)
def test_the_literals_of_a_query_are_those_a_parser_has_to_find(
    sql: str, values: list[str | int | float]
) -> None:
    assert Counter(literal.value for literal in gold_literals(sql)) == Counter(values)


def test_a_compared_literal_knows_its_column() -> None:
    sql = "SELECT drug FROM prescriptions WHERE prescriptions.drug = 'a' AND kind IN ('b') AND hadm_id = '7'"
    assert set(gold_literals(sql, SCHEMA)) == {
        GoldLiteral("a", SCHEMA.column_index("prescriptions", "drug")),
        GoldLiteral("b", KIND),
        GoldLiteral("7", SCHEMA.column_index("prescriptions", "hadm_id")),
    }


def test_values_that_questions_do_not_write_are_learned_for_their_column() -> None:
    sql = "SELECT count(*) FROM samples WHERE samples.specimen = '{}'"
    examples = [("How many blood samples?", sql.format("blood culture"))] * 2
    examples += [
        ("How many urine samples?", sql.format("urine sterile")),
        ("How many swab samples?", sql.format("swab")),
    ]
    learned = standing_values(examples, SCHEMA)
    assert learned == {("samples", "specimen"): ("blood culture",)}
    more = SCHEMA.with_values(learned)
    question, gold = examples[0]
    assert (
        literal_recall(gold_literals(gold, more), question, find_candidates(question, more), more).missing
        == ()
    )
    assert standing_values(examples, SCHEMA, least=1, max_values=1) == {}


@pytest.fixture(scope="module")
def mimic(ehrsql2024: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Schema, ValueDictionary]:
    """EHRSQL 2024's schema, and the values of its database."""
    database = tmp_path_factory.mktemp("mimic") / "mimic_iv.sqlite"
    with gzip.open(ehrsql2024 / "mimic_iv.sqlite.gz") as packed, database.open("wb") as unpacked:
        shutil.copyfileobj(packed, unpacked)
    schema = Schema.from_sqlite(database)
    return schema, ValueDictionary.from_database(database, schema)


@pytest.mark.slow
@pytest.mark.parametrize(("split", "step"), [("train", 4), ("valid", 1)])
def test_gold_literals_of_ehrsql2024_can_be_had(
    ehrsql2024: Path, mimic: tuple[Schema, ValueDictionary], split: str, step: int
) -> None:
    schema, dictionary = mimic
    examples = [
        one for one in json.loads((ehrsql2024 / f"{split}.json").read_text(encoding="utf-8")) if one["sql"]
    ][::step]
    total = missing = nodes = 0
    for one in examples:
        candidates = find_candidates(one["question"], schema, dictionary)
        literals = gold_literals(one["sql"], schema)
        recall = literal_recall(literals, one["question"], candidates, schema, dictionary)
        total, missing, nodes = total + len(literals), missing + len(recall.missing), nodes + len(candidates)
    assert missing <= 0.03 * total
    assert nodes <= 4 * len(examples)
