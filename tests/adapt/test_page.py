"""The page on an adaptation: what it brought, what no pair touches, and pairs whose ticks come out as seeds."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra adapt: pip install 'fastsql[adapt]'")

from fastsql.adapt.adapting import Adapted
from fastsql.adapt.comparison import (
    Comparison,
    Verdict,
    compare,
    constructs_of,
    recommended_penalty,
    tables_of,
)
from fastsql.adapt.page import MOST, judged_by, report_page, write_report
from fastsql.adapt.seeds import Seeds, read_seeds
from fastsql.datasets import Example
from fastsql.execution import open_executor
from fastsql.grammar import sql_to_program
from fastsql.schema import Schema

from ..worlds.database import write_database

SCHEMA = Schema.from_dict(
    {
        "db_id": "clinic",
        "tables": [
            {
                "name": "patients",
                "columns": [
                    {"name": "id", "type": "INTEGER", "primary_key": True},
                    {"name": "sex", "type": "TEXT", "values": ["f", "m"]},
                    {"name": "weight", "type": "REAL"},
                ],
            },
            {
                "name": "visits",
                "columns": [
                    {"name": "id", "type": "INTEGER", "primary_key": True},
                    {"name": "patient", "type": "INTEGER"},
                    {"name": "day", "type": "DATE"},
                ],
            },
        ],
        "foreign_keys": [["visits.patient", "patients.id"]],
    }
)
PAIRS = [
    Example("1", "clinic", "How many <b>women</b> & men?", "SELECT COUNT(*) FROM patients WHERE sex = 'f'"),
    Example("2", "clinic", "Which visits </script>?", "SELECT visits.id FROM visits"),
    Example("3", "clinic", "Nothing?", None),
]


def verdict(right: bool, confidence: float, **more: object) -> Verdict:
    settings = {
        "by_hand": True,
        "answerable": True,
        "tables": ("patients",),
        "constructs": ("plain",),
        **more,
    }
    return Verdict(right=right, confidence=confidence, **settings)  # type: ignore[arg-type]


def adapted(comparison: Comparison) -> Adapted:
    told = {"base": "ehr-en", "seed": 1, "updates": 12, "pairs": 3, "seeds": 0}
    return Adapted(Path("own"), 12, 90.0, {}, {}, Seeds(), comparison, told)


def page(before: list[Verdict] | None = None, after: list[Verdict] | None = None) -> str:
    found = [verdict(n % 2 == 0, 0.5) for n in range(20)]
    return report_page(adapted(compare(tuple(before or found), tuple(after or found), PAIRS, SCHEMA, 1)))


def test_what_no_pair_touches_is_named() -> None:
    found = compare((), (), PAIRS, SCHEMA, 1)
    assert found.columns == ("patients.id", "patients.weight", "visits.patient", "visits.day")
    assert found.values == (("patients.sex", ("m",)),)
    assert "patients.weight, visits.patient" in page()


def test_the_ticked_pairs_are_a_file_of_seeds(tmp_path: Path) -> None:
    text = page()
    (held,) = re.findall(r'<script type="application/json" id="pairs">(.*?)</script>', text, re.DOTALL)
    assert {one["question"] for one in json.loads(held)} == {PAIRS[0].question, PAIRS[1].question}
    assert text.count("type=checkbox") == 2
    file, database = tmp_path / "seeds.json", tmp_path / "clinic.sqlite"
    file.write_text(held, encoding="utf-8")
    with open_executor(write_database(database, SCHEMA.to_ddl()), schema=SCHEMA) as executor:
        seeds = read_seeds(file, SCHEMA, executor)
    assert len(seeds.usable) == 2
    assert not seeds.left_out


def test_nothing_on_the_page_is_markup_of_the_data_and_no_other_script_runs() -> None:
    text = page()
    assert "<b>women" not in text
    assert "&lt;b&gt;women" in text
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text


@pytest.mark.parametrize(
    ("confident", "penalty"),
    [
        ([(0.9, True)] * 19 + [(0.8, True)] + [(0.5, False)] * 5, 0.8 / 0.2),
        ([(0.9, False)] * 10, None),
        ([(0.5, True)] * 40, 1.0),
    ],
)
def test_the_penalty_is_the_least_with_enough_right(
    confident: list[tuple[float, bool]], penalty: float | None
) -> None:
    found = recommended_penalty([verdict(right, p) for p, right in confident])
    assert found == (None if penalty is None else pytest.approx(penalty))
    text = page(after=[verdict(right, p) for p, right in confident])
    assert ("At no penalty" in text) == (penalty is None)


def test_people_s_questions_decide_where_there_are_enough() -> None:
    made = [verdict(True, 0.9, by_hand=False)] * 30
    assert judged_by([verdict(True, 0.9)] * 3 + made) == [verdict(True, 0.9)] * 3 + made
    assert judged_by([verdict(True, 0.9)] * 10 + made) == [verdict(True, 0.9)] * 10


@pytest.mark.parametrize(
    ("sql", "constructs", "tables"),
    [
        ("SELECT patients.id FROM patients", {"plain"}, ("patients",)),
        (
            "SELECT COUNT(DISTINCT patients.sex) FROM patients WHERE patients.id IN (SELECT visits.patient FROM visits)",
            {"aggregates", "subqueries", "different values"},
            ("patients", "visits"),
        ),
        (
            "SELECT visits.patient FROM visits WHERE STRFTIME('%Y', visits.day) = '2023' ORDER BY visits.day LIMIT 1",
            {"order or limit", "times"},
            ("visits",),
        ),
        (
            "SELECT patients.sex, COUNT(*) FROM patients GROUP BY patients.sex",
            {"grouping", "aggregates"},
            ("patients",),
        ),
        (
            "SELECT patients.id FROM patients EXCEPT SELECT visits.patient FROM visits",
            {"set operations"},
            ("patients", "visits"),
        ),
    ],
)
def test_queries_are_told_apart_by_what_they_have(
    sql: str, constructs: set[str], tables: tuple[str, ...]
) -> None:
    program = sql_to_program(sql, SCHEMA)
    assert set(constructs_of(program)) == constructs
    assert tables_of(program, SCHEMA) == tables


def test_the_page_says_where_no_question_is_by_people() -> None:
    made = [verdict(True, 0.9, by_hand=False)] * 5
    assert "None of these questions is by people" in page(after=made)
    assert "None of these questions is by people" not in page(after=[*made, verdict(True, 0.9)])


def test_long_lists_are_cut() -> None:
    columns = tuple(f"t.c{n}" for n in range(MOST + 7))
    text = report_page(adapted(Comparison((), (), (), columns)))
    assert "t.c39, and 7 more" in text
    assert "t.c40" not in text


def test_the_page_is_its_owner_s_alone_to_read(tmp_path: Path) -> None:
    path = tmp_path / "adapted.html"
    write_report(path, adapted(compare((), (), PAIRS, SCHEMA, 1)), "fastsql adapt x")
    assert path.stat().st_mode & 0o077 == 0
