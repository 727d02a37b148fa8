"""Templates keep a query's form, and nothing else of it."""

from __future__ import annotations

import json

import pytest

from fastsql.grammar import sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.schema import Template, TemplateError, known_templates, read_template
from fastsql.synthesis.schema.templates import ColumnHole, LiteralHole, TableHole

_FORMS = (
    ("SELECT name FROM patients WHERE weight > 61.5", "SELECT reason FROM visits WHERE cost > 14.25"),
    (
        "SELECT p.name FROM patients p JOIN visits v ON p.patient_id = v.patient_id WHERE v.reason = 'cough'",
        "SELECT w.name FROM wards w JOIN patients p ON w.ward_id = p.ward_id WHERE p.sex = 'F'",
    ),
    (
        "SELECT name, COUNT(*) FROM patients GROUP BY name ORDER BY COUNT(*) DESC LIMIT 3",
        "SELECT name, COUNT(*) FROM wards GROUP BY name ORDER BY COUNT(*) DESC LIMIT 3",
    ),
)


def template_of(sql: str, schema: Schema) -> Template:
    return read_template(sql_to_program(sql, schema), schema)


@pytest.mark.parametrize(("one", "other"), _FORMS[2:])
def test_queries_of_one_form_have_one_template(one: str, other: str, clinic: Schema) -> None:
    assert template_of(one, clinic) == template_of(other, clinic)


def test_a_way_of_keys_is_as_long_as_the_schema_makes_it(clinic: Schema) -> None:
    near = "SELECT p.sex FROM patients p JOIN visits v ON p.patient_id = v.patient_id WHERE v.cost > 61.5"
    far = (
        "SELECT p.sex FROM patients p JOIN visits v ON p.patient_id = v.patient_id "
        "JOIN drugs d ON v.visit_id = d.visit_id WHERE d.dose > 61.5"
    )
    assert template_of(near, clinic) == template_of(far, clinic)


def test_equal_leaves_are_at_one_position(clinic: Schema) -> None:
    leaves = template_of("SELECT name FROM patients WHERE weight > 60.5 OR weight < 60.5", clinic).leaves
    assert {leaf for leaf in leaves if isinstance(leaf, TableHole)} == {TableHole(0)}
    assert len({leaf.position for leaf in leaves if isinstance(leaf, ColumnHole)}) == 2
    assert {leaf for leaf in leaves if isinstance(leaf, LiteralHole)} == {LiteralHole(0)}


@pytest.mark.parametrize("literal", ["'Ada Moss'", "61.5", "40021", "'2023-05-05'"])
def test_no_literal_or_name_stays(literal: str, clinic: Schema) -> None:
    text = json.dumps(template_of(f"SELECT name FROM patients WHERE name = {literal}", clinic).dump())
    for told in (literal.strip("'"), "patients", "weight"):
        assert told not in text


def test_what_is_dumped_is_read_again(clinic: Schema) -> None:
    for pair in _FORMS:
        template = template_of(pair[0], clinic)
        assert Template.load(json.loads(json.dumps(template.dump()))) == template


@pytest.mark.parametrize("content", [None, [], [[1], []], [[["t", "x"]], []], [["end"], [3]], "end"])
def test_damaged_templates_are_no_templates(content: object) -> None:
    with pytest.raises(ValueError, match="template"):
        Template.load(content)


def test_columns_on_the_way_between_two_tables_have_no_place(clinic: Schema) -> None:
    sql = (
        "SELECT v.reason FROM patients p JOIN visits v ON p.patient_id = v.patient_id "
        "JOIN drugs d ON v.visit_id = d.visit_id WHERE d.drug = 'aspirin' AND p.sex = 'F'"
    )
    program = sql_to_program(sql, clinic)
    with pytest.raises(TemplateError, match="on the way"):
        read_template(program, clinic)


def test_the_package_brings_templates_of_every_level() -> None:
    templates = known_templates()
    assert len(templates) > 2000
    assert {one.level for one in templates} == {"easy", "medium", "hard", "extra", "beyond"}
    assert [one.count for one in templates] == sorted((one.count for one in templates), reverse=True)


def test_keys_are_not_reckoned_with(clinic: Schema) -> None:
    program = sql_to_program("SELECT AVG(patient_id) FROM visits", clinic)
    with pytest.raises(TemplateError, match="key"):
        read_template(program, clinic)
