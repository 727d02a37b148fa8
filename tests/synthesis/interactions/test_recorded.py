"""Conversations whose queries stand alone are said by what they share with the turns before them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fastsql.cli.main import main
from fastsql.datasets import Example
from fastsql.datasets.interactions import as_interactions, read_interactions
from fastsql.grammar import render, sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.interactions import Converted, convert_conversations

from .clinic import CLINIC, shape, uniform

WOMEN = "SELECT patients.name FROM patients WHERE patients.sex = 'F'"


def talk(*queries: str | None, db_id: str = "clinic", name: str = "t") -> list[Example]:
    return [
        Example(f"{name}-{n}", db_id, f"question {n}", sql, extra={"interaction": name, "turn": n})
        for n, sql in enumerate(queries)
    ]


def converted(*queries: str | None, schema: Schema = CLINIC) -> Converted:
    recorded = as_interactions(talk(*queries), "talks.json")
    return convert_conversations(recorded, {"clinic": schema}, report=lambda _line: None)


def said(*queries: str) -> str:
    """The last turn's program."""
    (one,) = converted(*queries).interactions
    assert len(one.turns) == len(queries)
    for turn, sql in zip(one.turns, queries, strict=True):
        alone = render(sql_to_program(sql, CLINIC), CLINIC)
        assert sorted(turn.sql.split()) == sorted(alone.split()) or "T1" in turn.sql
    return shape(one.turns[-1].program)


@pytest.mark.parametrize(
    ("query", "program"),
    [
        (WOMEN + " AND patients.weight > 60", "extend @0 gt . 60 keep"),
        (WOMEN + " ORDER BY patients.weight DESC LIMIT 1", "extend @0 sort_rows desc . limit 1 end"),
        ("SELECT COUNT(*) FROM patients WHERE patients.sex = 'F'", "extend @0 count_all end"),
        ("SELECT patients.name FROM patients WHERE patients.sex = 'M'", "extend_from @0 eq . 'M' keep"),
        (
            "SELECT name, reason FROM patients AS p JOIN visits AS v ON p.patient_id = v.patient_id WHERE p.sex = 'F'",
            "extend @0 along table table . . . . end",
        ),
        (
            "SELECT reason FROM visits WHERE cost > 3 AND patient_id IN (SELECT patients.patient_id FROM patients)",
            "table in . table . end gt . 3 . end",
        ),
        (
            f"{WOMEN} EXCEPT SELECT patients.name FROM patients WHERE patients.weight > 60",
            "except previous @0 * end table gt . 60 . end",
        ),
    ],
)
def test_a_turn_is_said_the_shortest_way(query: str, program: str) -> None:
    assert said(WOMEN, query) == program


def test_a_turn_s_result_is_a_set_or_a_value() -> None:
    ids = "SELECT patients.patient_id FROM patients WHERE patients.sex = 'F'"
    assert said(ids, f"SELECT visits.reason FROM visits WHERE visits.patient_id IN ({ids})") == (
        "table in_previous @0 . . end"
    )
    most = "SELECT MAX(visits.cost) FROM visits"
    assert said(most, f"SELECT visits.reason FROM visits WHERE visits.cost = ({most})") == (
        "table eq . previous_value @0 . end"
    )


def test_of_turns_that_serve_as_well_the_last_is_meant() -> None:
    assert said(WOMEN, WOMEN, f"{WOMEN} AND patients.weight > 60") == "extend @1 gt . 60 keep"


def test_an_extension_of_an_extension_counts_from_what_it_is() -> None:
    heavy = f"{WOMEN} AND patients.weight > 60"
    assert said(WOMEN, heavy, f"{heavy} AND patients.name LIKE 'A%'") == "extend @1 begins . 'A' keep"


def test_groups_are_filtered_and_sorted() -> None:
    reasons = "SELECT visits.reason, COUNT(*) FROM visits GROUP BY visits.reason"
    assert said(reasons, f"{reasons} ORDER BY COUNT(*) DESC LIMIT 1") == (
        "extend @0 sort_groups desc count_all limit 1 end"
    )
    assert said(reasons, f"{reasons} HAVING COUNT(*) > 2") == "extend @0 and_having gt count_all 2 keep"


def test_what_has_nothing_in_common_stands_alone() -> None:
    found = converted(WOMEN, "SELECT visits.reason FROM visits")
    assert found.ways == {"independent": 1}
    assert found.first == 1


def test_turns_that_cannot_be_used_are_counted_and_not_referred_to() -> None:
    found = converted(None, WOMEN, "SELECT hair FROM patients", f"{WOMEN} AND patients.weight > 60")
    assert found.skipped == {"no SQL": 1, "its query is beyond the grammar": 1}
    (one,) = found.interactions
    assert [shape(turn.program) for turn in one.turns][1] == "extend @0 gt . 60 keep"


def test_schemas_without_keys_and_in_other_scripts_will_do() -> None:
    schema = Schema.from_dict(
        {
            "name": "clinic",
            "tables": [
                {
                    "name": "病人",
                    "columns": [{"name": "姓名", "type": "text"}, {"name": "年龄", "type": "number"}],
                }
            ],
        }
    )
    found = converted("select 姓名 from 病人", "select 姓名 from 病人 where 年龄 > 60", schema=schema)
    assert shape(found.interactions[0].turns[1].program) == "extend @0 gt . 60 keep"


def test_the_command_tells_how_turns_are_said_and_leaves_held_out_databases_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = [*talk(WOMEN, f"{WOMEN} AND patients.weight > 60"), *talk(WOMEN, db_id="kept", name="other")]
    rows = [
        {"id": one.id, "db_id": one.db_id, "question": one.question, "sql": one.sql, **one.extra}
        for one in examples
    ]
    (tmp_path / "talks.json").write_text(json.dumps(rows))
    schemas = [uniform(name) for name in ("clinic", "kept")]
    (tmp_path / "schemas.json").write_text(json.dumps(schemas))
    held_out = {"templates": [], "examples": [], "databases": ["kept"]}
    (tmp_path / "held_out.json").write_text(json.dumps(held_out))
    output = tmp_path / "out.json"
    arguments = ["--schemas", "schemas.json", "--held-out", "held_out.json", "-o", "out.json"]
    paths = [str(tmp_path / part) if part.endswith(".json") else part for part in arguments]
    assert main(["conversations", str(tmp_path / "talks.json"), *paths]) == 0
    told = capsys.readouterr().err
    assert "turns: 1 first, 0 independent, 1 extend, 0 extend_from, 0 result" in told
    assert "left out: 1 conversations over databases that are held out" in told
    assert [one.db_id for one in read_interactions(output)] == ["clinic"]
    for more in (["--split", "random"], ["--databases", str(tmp_path)], ["--now", "2100-12-31"]):
        assert main(["conversations", str(tmp_path / "talks.json"), *paths, *more]) == 2
        assert "neither run nor split. Leave --split" in capsys.readouterr().err
    single = [{**row, "interaction": None} for row in rows]
    (tmp_path / "talks.json").write_text(json.dumps(single))
    assert main(["conversations", str(tmp_path / "talks.json"), *paths]) == 2
