"""Identifiers are known by the form that a key's values have, and no identifier is kept."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

from fastsql.errors import ModelError, SchemaError
from fastsql.linking import ValueDictionary, find_candidates
from fastsql.linking.identifiers import MOST_FORMS, Identifiers, forms_of
from fastsql.schema import Schema

from ..worlds.database import inserted, write_database


@pytest.mark.parametrize(
    ("values", "forms"),
    [
        (["R0172", "R0173"], ("R9999",)),
        (["P1", "P2", "P10", "P11", "P12"], ("P9", "P99")),
        (["ab-12/x", "ab-77/x"], ("ab-99/x",)),
        (["门诊001", "门诊002"], ("门诊999",)),
        (["R0172", "R0173", None, 5, "R0174"], ("R9999",)),
        ([], ()),
        (["R0172"], ()),  # one value's form would be that value, but for its digits
        (["0172", "0173"], ()),  # a number like any other
        (["meier", "huber"], ()),
        (["2024-01", "2024-02"], ()),
        (["R0172", "R0173", "meier", "huber", "kunz"], ()),  # most are made otherwise
        ([" R1", " R2"], ()),
        (["R1\0", "R2\0"], ()),
        (["R" + "1" * 60, "R" + "2" * 60], ()),
    ],
)
def test_forms_are_what_values_share(values: Sequence[object], forms: tuple[str, ...]) -> None:
    assert forms_of(values) == forms


def test_a_key_whose_letters_mean_something_has_no_forms() -> None:
    pairs = [f"{letter}{number}" for letter in "ABCDEFGHI" for number in (1, 2)]
    assert forms_of(pairs) == ()
    assert len(forms_of(pairs[: 2 * MOST_FORMS])) == MOST_FORMS


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Who signed up for R0172?", [("R0172", (1, 4))]),
        ("r0172 and\tR0173.", [("R0172", (1, 4)), ("R0173", (1, 4))]),
        ("谁报名了R0172课程?", [("R0172", (1, 4))]),
        ("谁报名了Ｒ０１７２？", [("R0172", (1, 4))]),
        ("门诊003的病人", [("门诊003", (2,))]),
        ("R01722", []),
        ("XR0172", []),
        ("R0172-3", []),
        ("R0172-R0173", [("R0172", (1, 4)), ("R0173", (1, 4))]),
        ("R172", []),
        ("", []),
    ],
)
def test_what_is_written_in_a_form_is_found(question: str, found: list[tuple[str, tuple[int, ...]]]) -> None:
    forms = {1: ("R9999",), 2: ("门诊999",), 4: ("R9999", "R99999x")}
    assert [value for match in Identifiers(forms).said(question) for value in match.values] == found
    for match in Identifiers(forms).said(question):
        assert match.end - match.start == len(match.values[0][0])


def test_each_key_has_its_own_letter_case() -> None:
    (match,) = Identifiers({0: ("R9999",), 1: ("r9999",)}).said("R0172")
    assert match.values == (("R0172", (0,)), ("r0172", (1,)))


def test_without_forms_nothing_is_found() -> None:
    assert list(Identifiers({}).said("R0172")) == []


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Courses and who signed up for them; people are counted, courses have letters."""
    ddl = (
        "CREATE TABLE course (course_id TEXT PRIMARY KEY, title TEXT);"
        "CREATE TABLE learner (learner_id TEXT PRIMARY KEY, learner_name TEXT);"
        "CREATE TABLE enrolment (enrolment_id INTEGER PRIMARY KEY, course_id TEXT REFERENCES course(course_id),"
        " learner_id TEXT REFERENCES learner(learner_id), badge TEXT);"
    )
    courses = [(f"R{number:04}", title) for number, title in enumerate(("Hygiene", "First aid"))]
    learners = [(f"ST{number:03}", name) for number, name in enumerate(("Ines", "Marek", "Aylin"))]
    enrolments = [(number, f"R{number % 2:04}", f"ST{number % 3:03}", f"B{number}") for number in range(6)]
    rows = inserted("course", courses) + inserted("learner", learners) + inserted("enrolment", enrolments)
    return write_database(tmp_path / "training.sqlite", ddl + rows)


@pytest.fixture
def schema(database: Path) -> Schema:
    return Schema.from_sqlite(database, max_values=0)


def named(schema: Schema, dictionary: ValueDictionary) -> dict[str, tuple[str, ...]]:
    return {schema.qualified_name(column): forms for column, forms in dictionary.forms.items()}


FORMS = {
    "course.course_id": ("R9999",),
    "learner.learner_id": ("ST999",),
    "enrolment.course_id": ("R9999",),
    "enrolment.learner_id": ("ST999",),
}


def test_of_text_keys_forms_are_read_and_no_identifier_is(database: Path, schema: Schema) -> None:
    dictionary = ValueDictionary.from_database(database, schema)
    assert named(schema, dictionary) == FORMS
    assert not {"R0000", "ST001"}.intersection(dictionary)
    assert {schema.qualified_name(column) for column in dictionary.columns} == {
        "course.title",
        "learner.learner_name",
        "enrolment.badge",
    }


def test_an_identifier_that_no_row_has_is_a_candidate_of_the_keys_of_its_form(
    database: Path, schema: Schema
) -> None:
    dictionary = ValueDictionary.from_database(database, schema)
    (found,) = find_candidates("Who signed up for r0172?", schema, dictionary)
    assert (found.value, found.kind, found.source, found.span) == ("R0172", "text", "dictionary", (18, 23))
    assert [schema.qualified_name(column) for column in found.columns] == [
        "course.course_id",
        "enrolment.course_id",
    ]


def test_a_value_that_is_written_like_an_identifier_has_both_columns(schema: Schema) -> None:
    badge, course = schema.column_index("enrolment", "badge"), schema.column_index("course", "course_id")
    dictionary = ValueDictionary({"R0172": (badge,)}, schema, forms={course: ("R9999",)})
    (found,) = find_candidates("R0172?", schema, dictionary)
    assert found.columns == tuple(sorted((badge, course)))


def test_only_columns_that_are_asked_for_are_read(database: Path, schema: Schema) -> None:
    dictionary = ValueDictionary.from_database(database, schema, [("course", "title")])
    assert dictionary.forms == {}


def test_forms_outlive_saving_binding_and_pickling(database: Path, schema: Schema, tmp_path: Path) -> None:
    dictionary = ValueDictionary.from_database(database, schema)
    list(dictionary.identifiers("R0001"))
    dictionary.save(tmp_path / "values")
    wider = Schema.from_dict({**schema.to_dict(), "tables": schema.to_dict()["tables"][::-1]})
    for kept, of in (
        (ValueDictionary.load(tmp_path / "values", schema), schema),
        (ValueDictionary.load(tmp_path / "values", wider), wider),
        (dictionary.bound_to(wider), wider),
        (pickle.loads(pickle.dumps(dictionary)), schema),
    ):
        assert named(of, kept) == FORMS
        assert [match.start for match in kept.identifiers("of R0001")] == [3]
        kept.check(of)
    assert b"R0000" not in (tmp_path / "values").read_bytes()


def test_a_dictionary_of_forms_does_not_fit_a_schema_without_the_key(database: Path, schema: Schema) -> None:
    course = schema.column_index("course", "course_id")
    dictionary = ValueDictionary({}, schema, forms={course: ("R9999",)})
    fewer = Schema.from_dict({"tables": [{"name": "course", "columns": [{"name": "title", "type": "text"}]}]})
    with pytest.raises(SchemaError):
        dictionary.bound_to(fewer)
    with pytest.raises(SchemaError):
        dictionary.check(fewer)


def test_forms_are_read_again_with_the_database(database: Path, schema: Schema) -> None:
    dictionary = ValueDictionary.from_database(database, schema)
    assert dictionary.refresh() is dictionary
    write_database(database, inserted("course", [("K1", "Lifting"), ("K2", "Wounds")]))
    assert named(schema, dictionary.refresh())["course.course_id"] == ("K9", "R9999")


@pytest.mark.parametrize("forms", [[[99, ["R9999"]]], [["a", ["R9999"]]], [[0]], 5])
def test_forms_of_no_column_are_damage(schema: Schema, tmp_path: Path, forms: object) -> None:
    ValueDictionary({"Hygiene": (1,)}, schema).save(tmp_path / "values")
    head, _, rest = (tmp_path / "values").read_bytes().partition(b"\n")
    header = json.loads(head)
    line, _, checksums = rest[: header["bytes"]].partition(b"\n")
    directory = json.dumps({**json.loads(line), "forms": forms}).encode() + b"\n" + checksums
    header |= {"bytes": len(directory), "sha256": hashlib.sha256(directory).hexdigest()}
    written = json.dumps(header).encode() + b"\n" + directory
    (tmp_path / "values").write_bytes(written + b"\0" * (-len(written) % 4096) + rest[-4096:])
    with pytest.raises(ModelError, match=r"directory|does not list"):
        ValueDictionary.load(tmp_path / "values", schema)
