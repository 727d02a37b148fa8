from __future__ import annotations

import pytest

from fastsql.linking import column_literals
from fastsql.training.corpus.lexicon import (
    collect_lexicon,
    collect_pools,
    pool_entries,
)
from fastsql.training.corpus.split import Pair

from ...worlds.training_ward import DRUGS, SCHEMA

DRUG, LABEL = ("prescriptions", "drug"), ("items", "label")


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT 1 FROM items WHERE items.label = 'weight'", [(LABEL, "weight")]),
        ("SELECT 1 FROM items AS i WHERE i.label IN ('a b', 'c')", [(LABEL, "a b"), (LABEL, "c")]),
        ("SELECT 1 FROM items WHERE label <> 'weight'", [(LABEL, "weight")]),
        (
            "SELECT 1 FROM admissions WHERE hadm_id IN (SELECT hadm_id FROM prescriptions WHERE drug = 'x')",
            [(DRUG, "x")],
        ),
        ("SELECT 1 FROM items WHERE strftime('%Y', label) = '2100' AND label = '2100-01-01'", []),
        ("SELECT 1 FROM (SELECT label FROM items) AS t WHERE t.label = 'weight'", []),
        ("SELECT 1 FROM WHERE", []),
    ],
)
def test_literals_are_found_with_their_base_column(sql: str, found: list[object]) -> None:
    assert column_literals(sql, SCHEMA) == found


def test_the_lexicon_holds_what_questions_leave_unsaid() -> None:
    weight = "SELECT item_id FROM items WHERE label = 'daily weight'"
    drug = "SELECT 1 FROM prescriptions WHERE drug = 'aspirin'"
    pairs = [
        Pair("1", "the weight", weight, "ward"),
        Pair("2", "how heavy", weight, "ward"),
        Pair("3", "the daily weight", weight, "ward"),
        Pair("4", "Aspirin", drug, "ward"),
        Pair("5", "the blood thinner", drug, "ward"),
    ]
    assert collect_lexicon(pairs, SCHEMA) == {LABEL: ["daily weight"]}
    assert collect_lexicon(pairs, SCHEMA, minimum=1) == {LABEL: ["daily weight"], DRUG: ["aspirin"]}


def test_pools_hold_values_in_the_same_company() -> None:
    literals = {drug: [(LABEL, drug), (("items", "kind"), "input")] for drug in DRUGS}
    pairs = [Pair(drug, f"how much {drug}", drug, "ward") for drug in DRUGS]
    pools = collect_pools(pairs, literals)
    assert pools == {("items", "label", "kind=input"): sorted(DRUGS)}
    assert pool_entries("how much heparin", literals["heparin"]) == [
        (("items", "label", "kind=input"), "heparin")
    ]
