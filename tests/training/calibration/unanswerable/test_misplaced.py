"""Questions of the wrong database, and for what the right one lacks."""

from __future__ import annotations

import random

from fastsql.grammar import sql_to_program
from fastsql.reliability.names import schema_names
from fastsql.schema import Schema
from fastsql.training.calibration.unanswerable.made import general_wordings, write_refusals
from fastsql.training.calibration.unanswerable.misplaced import (
    ANOTHER,
    LACKING,
    Asking,
    ask_elsewhere,
    ask_for_others,
    column_labels,
    table_labels,
    unrelated,
)

CONCERTS = Schema.from_dict(
    {
        "name": "concerts",
        "tables": [
            {
                "name": "singer",
                "columns": [
                    {"name": "singer_id", "label": "singer id", "type": "number", "primary_key": True},
                    {"name": "home_town", "label": "home town", "type": "text"},
                    {"name": "age", "label": "age", "type": "number"},
                ],
            },
            {"name": "ward", "columns": [{"name": "beds", "label": "beds", "type": "number"}]},
        ],
    }
)
CLINIC = Schema.from_dict(
    {
        "name": "clinic",
        "tables": [
            {
                "name": "patient",
                "columns": [
                    {"name": "patient_id", "label": "patient id", "type": "number", "primary_key": True},
                    {"name": "blood_type", "label": "blood type", "type": "text"},
                    {"name": "age", "label": "age", "type": "number"},
                ],
            },
            {"name": "ward", "columns": [{"name": "beds", "label": "beds", "type": "number"}]},
        ],
    }
)


def asking(question: str, sql: str, schema: Schema = CONCERTS) -> Asking:
    return Asking(question, sql_to_program(sql, schema), schema)


TOWN = asking("What is the home town of each singer?", "SELECT singer.home_town FROM singer")
BEDS = asking("How many beds has each ward?", "SELECT ward.beds FROM ward")
OLDEST = asking("Who is the oldest?", "SELECT singer.singer_id FROM singer ORDER BY singer.age DESC LIMIT 1")


def test_a_question_is_asked_where_its_tables_have_no_name() -> None:
    found = ask_elsewhere([TOWN, BEDS, OLDEST], CLINIC, 5, random.Random(0))
    assert [one.question for one in found] == [TOWN.question], (
        "a ward is known, and the oldest might be a patient"
    )
    assert (found[0].kind, found[0].removed) == ("elsewhere", frozenset())
    assert ask_elsewhere([TOWN], CLINIC, 0, random.Random(0)) == ()


def test_a_question_asks_for_a_column_that_only_others_have() -> None:
    labels = column_labels({"clinic": CLINIC})
    assert labels == ["age", "beds", "blood type"], "no keys"
    found = ask_for_others(LACKING, [TOWN, BEDS, OLDEST], labels, 5, random.Random(0))
    assert {one.question for one in found} == {
        "What is the blood type of each singer?",
        "How many blood types has each ward?",
    }, "not of the oldest: no word of that question names the column"
    assert {one.kind for one in found} == {"lacking"}


def test_a_question_asks_about_a_table_that_only_others_have() -> None:
    asked = asking("How old is the oldest patient?", "SELECT MAX(patient.age) FROM patient", CLINIC)
    assert table_labels([TOWN, BEDS, OLDEST]) == ["singer", "ward"], "what questions mention, and no other"
    found = ask_for_others(ANOTHER, [asked, TOWN], ["singer", "ward", "stadium"], 5, random.Random(0))
    assert {one.question for one in found} <= {
        "How old is the oldest singer?",
        "How old is the oldest stadium?",
        "What is the home town of each stadium?",
    }, "each schema has wards"
    assert [one.kind for one in found] == ["another"] * 2


def test_a_label_is_put_in_the_plural_of_what_it_stands_for() -> None:
    asked = asking("Count the patients.", "SELECT COUNT(*) FROM patient", CLINIC)
    for label in ("gallery", "galleries"):
        (made,) = ask_for_others(ANOTHER, [asked], [label], 1, random.Random(0))
        assert made.question == "Count the galleries."


def test_words_that_a_schema_is_asked_with_are_not_strange_to_it() -> None:
    said = frozenset({"singer", "blood"})
    patients = asking("Count the patients.", "SELECT COUNT(*) FROM patient", CLINIC)
    assert ask_elsewhere([TOWN], CLINIC, 5, random.Random(0), said) == ()
    assert ask_for_others(LACKING, [TOWN], ["blood type"], 5, random.Random(0), said) == ()
    assert ask_for_others(ANOTHER, [patients], ["singer"], 5, random.Random(0), said) == ()


def test_schemas_are_unrelated_where_no_table_has_a_known_name() -> None:
    assert unrelated(CLINIC, {"concerts": CONCERTS}) == {}, "both have wards"
    singers = Schema.from_ddl("CREATE TABLE singer (age INTEGER, home_town TEXT)")
    assert unrelated(CLINIC, {"singers": singers}) == {"singers": singers}, "columns may be shared"


def test_numbers_and_abbreviations_are_no_labels() -> None:
    assert ask_for_others(LACKING, [TOWN], ["x", "id 2", "qq7"], 5, random.Random(0)) == ()


def test_what_is_put_in_place_is_not_in_the_schema() -> None:
    names = schema_names(CONCERTS).words
    for one in ask_for_others(
        LACKING, [TOWN] * 3, ["blood type", "town hall", "fur colour"], 3, random.Random(1)
    ):
        said = one.question.removeprefix("What is the ").removesuffix(" of each singer?")
        assert not names & set(said.split())


# ---------------------------------------------------------------- what no database answers


def test_wordings_are_shared_out_without_overlap() -> None:
    for language in ("en", "zh"):
        parts = [{wording.text for wording in general_wordings(language, part, 5)} for part in range(5)]
        whole = {wording.text for wording in general_wordings(language, 0, 1)}
        assert set().union(*parts) == whole
        assert sum(map(len, parts)) == len(whole)


def test_general_questions_speak_of_the_schema_at_hand() -> None:
    labels = {"item": ["singer"], "part": ["home town"]}
    made = write_refusals(
        [TOWN.question, BEDS.question], ["Mali"], 60, random.Random(0), general_wordings("en", 0, 1), labels
    )
    assert {one.kind for one in made} == {"vague", "outside", "writing"}
    assert not [one for one in made if set("{}[]|") & set(one.question)]
    for word in ("singer", "home town", "Mali"):
        assert any(word in one.question for one in made)
    chinese = write_refusals(
        ["有多少歌手？"],
        ["马里"],
        20,
        random.Random(0),
        general_wordings("zh", 0, 1),
        {"item": ["歌手"], "part": ["年龄"]},
    )
    assert any("歌手" in one.question for one in chinese)
    assert not [one for one in chinese if set("{}[]|") & set(one.question)]


def test_where_no_wording_is_left_nothing_is_made() -> None:
    assert write_refusals([TOWN.question], ["Mali"], 5, random.Random(0), ()) == ()
