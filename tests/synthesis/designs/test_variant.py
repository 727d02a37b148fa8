"""A design becomes many schemas, all of them usable, and none of them one that is reported on."""

from __future__ import annotations

import itertools
import sqlite3

import pytest

from fastsql.schema import Schema
from fastsql.synthesis.contents import MadeDatabase
from fastsql.synthesis.designs import (
    Design,
    DesignError,
    Variant,
    as_designed,
    designs,
    draw_variant,
    read_design,
)
from fastsql.synthesis.designs.naming import CASES, Style
from fastsql.synthesis.designs.variant import MOST_SHARED, shared_names
from fastsql.synthesis.generate import generate_drawn
from fastsql.synthesis.schema import SchemaSource, known_templates
from fastsql.synthesis.schema.chinese.nouns import is_chinese

NAMES = [design.name for design in designs()]
CHINESE = designs("zh")


@pytest.fixture(scope="module")
def variants() -> dict[str, list[Variant]]:
    return {design.name: [draw_variant(design, str(seed)) for seed in range(3)] for design in designs()}


def test_the_same_seed_draws_the_same_variant_and_another_seed_another() -> None:
    for design in designs()[:4]:
        one, again, other = (draw_variant(design, seed).schema for seed in ("1", "1", "2"))
        assert one.fingerprint == again.fingerprint != other.fingerprint


def test_no_two_variants_of_the_designs_have_the_same_schema(variants: dict[str, list[Variant]]) -> None:
    prints = [variant.schema.fingerprint for found in variants.values() for variant in found]
    assert len(set(prints)) == len(prints)
    for found in variants.values():
        sets = [{column.name for column in variant.schema.columns} for variant in found]
        assert any(len(one & other) < 0.5 * len(one) for one, other in itertools.combinations(sets, 2))


def test_no_variant_is_what_is_reported_on(variants: dict[str, list[Variant]]) -> None:
    shared = [shared_names(variant) for found in variants.values() for variant in found]
    assert max(shared) < MOST_SHARED


def test_draws_with_names_that_are_reported_on_are_thrown_away(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "table patient\nfile: key\nbirthdate | born: birth day\nssn | card: pattern ###\nheight: 1..9\nweight: 1..9"
    design = read_design("near", text)
    assert all(shared_names(draw_variant(design, str(seed))) < MOST_SHARED for seed in range(12))
    monkeypatch.setattr("fastsql.synthesis.designs.variant.MOST_SHARED", 0.0)
    with pytest.raises(DesignError, match="reported on"):
        draw_variant(design, "1")


@pytest.mark.parametrize("name", NAMES)
def test_contents_fit_the_schema(name: str, variants: dict[str, list[Variant]]) -> None:
    for variant in variants[name][:2]:
        assert variant.schema.warnings == ()
        assert len(variant.fillings) == len(variant.schema.columns) == len(variant.profile.columns)
        with MadeDatabase(
            variant.schema,
            fillings=variant.fillings,
            profile=variant.profile,
            constraints=variant.constraints,
        ) as made:
            connection = sqlite3.connect(made.path)
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            connection.close()
            assert all(len(rows) >= 3 for rows in made.rows)


def test_names_come_in_all_manners() -> None:
    words = {
        case: (Style(case=case).table("care task"), Style(case=case).column("date of birth", "care task"))
        for case in CASES
    }
    assert words == {
        "snake": ("care_tasks", "date_of_birth"),
        "camel": ("careTasks", "dateOfBirth"),
        "pascal": ("CareTasks", "DateOfBirth"),
        "upper": ("CARE_TASKS", "DATE_OF_BIRTH"),
        "flat": ("caretasks", "dateofbirth"),
        "flat upper": ("CARETASKS", "DATEOFBIRTH"),
    }
    short = Style(short={"date of birth": "dob", "patient": "pt"}, prefix="tbl", plural=False, own="short")
    assert (short.table("patient"), short.column("date of birth", "patient")) == ("tbl_pt", "pat_dob")


def test_people_are_asked_by_words_that_the_schema_may_not_tell(variants: dict[str, list[Variant]]) -> None:
    capitals = [
        variant for found in variants.values() for variant in found if variant.schema.tables[0].name.isupper()
    ]
    assert capitals
    for variant in capitals:
        called = [column.words for column in variant.profile.columns]
        assert all(words and "_" not in words for words in called)
        assert any(" " in words for words in called)


def test_no_two_columns_of_a_table_are_called_alike(variants: dict[str, list[Variant]]) -> None:
    for variant in (variant for found in variants.values() for variant in found):
        for table in variant.schema.tables:
            called = [variant.profile.columns[column].words for column in table.columns]
            assert len(set(called)) == len(called)


def test_pairs_are_found_over_made_contents(variants: dict[str, list[Variant]]) -> None:
    for name in ("laboratory", "omop"):
        variant = variants[name][0]
        with MadeDatabase(
            variant.schema,
            fillings=variant.fillings,
            profile=variant.profile,
            constraints=variant.constraints,
        ) as made:
            source = SchemaSource(variant.schema, made.executor, known_templates(), profile=variant.profile)
            assert len(generate_drawn(source, 5)) == 5


def test_a_design_whose_keys_are_not_declared_still_names_them() -> None:
    design = Design(
        "two",
        read_design(
            "two", "table a\na number: key\nx: 1..9\ntable b\nb number: key\na: -> a\ny: 1..9"
        ).tables,
    )
    schemas: list[Schema] = [draw_variant(design, str(seed)).schema for seed in range(30)]
    assert {len(schema.foreign_keys) for schema in schemas} == {0, 1}


@pytest.mark.parametrize("name", [design.name for design in CHINESE])
def test_chinese_designs_become_schemas_with_chinese_names_that_are_asked_in_chinese(name: str) -> None:
    (design,) = (one for one in CHINESE if one.name == name)
    variant = draw_variant(design, "1")
    assert shared_names(variant) < MOST_SHARED
    assert not [table.name for table in variant.schema.tables if not is_chinese(table.name)]
    assert not [column.name for column in variant.schema.columns if " " in column.name]
    with MadeDatabase(
        variant.schema,
        "1",
        fillings=variant.fillings,
        profile=variant.profile,
        constraints=variant.constraints,
    ) as made:
        source = SchemaSource(
            variant.schema, made.executor, known_templates(), db_id="1", profile=variant.profile
        )
        found = generate_drawn(source, 3, 1, report=lambda _: None)
    assert len(found) == 3
    assert all(is_chinese(example.question) for example in found)


def test_a_chinese_design_as_it_stands_keeps_its_usual_names() -> None:
    text = "table 病人 | 患者\n病人号 | 编号: key\n姓名: person\ntable 住院\n住院号: key\n病人: -> 病人\n费用: 1..9 元"
    schema = as_designed(read_design("小医院", text)).schema
    assert [table.name for table in schema.tables] == ["病人", "住院"]
    assert [column.name for column in schema.columns] == ["病人号", "姓名", "住院号", "病人id", "费用"]
