"""Names are cut into words, and what is abbreviated is spelled out where it can mean one thing only."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from fastsql.linking.word_match import stem
from fastsql.profile.cutting import cut
from fastsql.profile.words import Names
from fastsql.schema.names import label_from_name

SPELLED = {
    # cut where nothing separates the words
    "TOTALCOST": "total cost",
    "BODYSITE_CODE": "body site code",
    "birthDate": "birth date",
    "itemid": "item id",
    "encounterclass": "encounter class",
    "patienthealthsystemstayid": "patient health system stay id",
    "address2": "address 2",
    "DIAGNOSIS1": "diagnosis 1",
    # one word, however much it looks like two
    "therapist": "therapist",
    "windstorm": "windstorm",
    "browser": "browser",
    "playlist": "playlist",
    "overstory": "overstory",
    # abbreviations
    "dept_desc": "department description",
    "EMP_LNAME": "employee last name",
    "num_of_rooms": "number of rooms",
    "room_no": "room number",
    "yes_no": "yes no",
    "spo2": "spo2",
    "icd_code": "icd code",
    # nothing to do
    "id": "id",
    "患者姓名": "患者姓名",
    "größe": "größe",
    "select": "select",
    "x": "x",
    " ": "unnamed",
}


@pytest.mark.parametrize(("name", "words"), SPELLED.items())
def test_a_name_is_read(name: str, words: str) -> None:
    assert Names(["rooms"], list(SPELLED)).read(name).spelled == words


def test_medical_abbreviations_count_where_a_schema_speaks_of_patients() -> None:
    clinic = Names(["patients", "admissions"], ["pt_id", "dx_code", "adm_dt"])
    shop = Names(["customers", "orders"], ["pt_id", "dx_code", "adm_dt"])
    read = [names.read(name).spelled for names in (clinic, shop) for name in ("pt_id", "dx_code", "adm_dt")]
    assert read[:3] == ["patient id", "diagnosis code", "admission date"]
    assert read[3:] == ["pt id", "dx code", "administration date"]


def test_what_the_schema_spells_out_once_explains_what_it_cuts_elsewhere() -> None:
    names = Names(["vegetation_plots"], ["canopy_cover", "canop_height", "cnpy_class", "cover"])
    assert names.read("canop_height").spelled == "canopy height"
    assert names.read("cnpy_class").spelled == "canopy class"


def test_what_may_stand_for_two_words_stays() -> None:
    names = Names(["visits"], ["transport_mode", "transplant_date", "transp_code"])
    assert names.read("transp_code").spelled == "transp code"


def test_a_table_lends_its_name_to_shorter_beginnings() -> None:
    assert Names(["student"], ["stu_gpa"]).read("stu_gpa").spelled == "student gpa"
    assert Names(["campus"], ["stu_gpa", "student_count"]).read("stu_gpa").spelled == "stu gpa"


@pytest.mark.parametrize("name", ["tbl_patients", "d_patients", "tblPatients", "vw_patients"])
def test_what_only_says_that_it_is_a_table_is_left_out(name: str) -> None:
    assert Names([name], []).read(name, table=True).spelled == "patients"


def test_a_table_that_is_called_as_a_prefix_keeps_its_name() -> None:
    assert Names(["ref"], []).read("ref", table=True).spelled == "reference"


def test_comments_explain_abbreviations() -> None:
    assert (
        Names([], ["thrmb_flag"], ["whether a thrombosis was found"])
        .read("thrmb_flag")
        .spelled.startswith("thr")
    )


JOINED = {
    "livesalone": "lives alone",
    "kindoftask": "kind of task",
    "plannedminutes": "planned minutes",
    "arrivedat": "arrived at",
    "hascar": "has car",
    "carelvl": "care level",
    "validfrom": "valid from",
    # one word, or more than one reading
    "numeric": "numeric",
    "creatinine": "creatinine",
    "hemoglobin": "hemoglobin",
    "routeadmin": "routeadmin",
}


def test_a_schema_that_joins_its_words_everywhere_is_cut_everywhere() -> None:
    names = Names(["homevisits"], list(JOINED))
    assert {name: names.read(name).spelled for name in JOINED} == JOINED
    assert names.read("homevisits", table=True).spelled == "home visits"


def test_where_some_names_have_gaps_the_others_are_words() -> None:
    names = Names(["home_visits"], [*JOINED, "visit_date"])
    assert names.read("livesalone").spelled == "livesalone"
    assert names.read("windstorm").spelled == "windstorm"


def test_few_joined_names_are_no_habit() -> None:
    plain = ["age", "ward", "town", "weight", "windstorm", "evergreen", "overstory"]
    names = Names(["patients"], plain)
    assert [names.read(name).spelled for name in plain] == plain


def test_a_run_of_letters_without_end_costs_no_time() -> None:
    run = "patientcost" * 5_000
    assert cut(run, frozenset(), {}) == (run,)


def test_words_that_are_added_to_real_names_are_right(fastsql_data: Path) -> None:
    """Precision on SNAILS, against its natural names; by database, at least as much as when the list was made."""
    schemas = fastsql_data / "snails" / "schemas.json"
    if not schemas.is_file():
        pytest.skip("put snails into the folder that FASTSQL_DATA names to run this")
    added, right = Counter[str](), Counter[str]()
    for entry in json.loads(schemas.read_text(encoding="utf-8")):
        columns = [(one["name"], one["label"]) for table in entry["tables"] for one in table["columns"]]
        names = Names([table["name"] for table in entry["tables"]], [name for name, _ in columns])
        for name, natural in dict(columns).items():
            new = bag(names.read(name).spelled) - bag(label_from_name(name))
            spelled_out = Counter({word: count for word, count in new.items() if word not in name.lower()})
            added[entry["db_id"]] += spelled_out.total()
            right[entry["db_id"]] += (spelled_out & bag(natural)).total()
    assert right.total() / added.total() > 0.75
    assert right["NYSED_SRC2022"] / added["NYSED_SRC2022"] > 0.75


def bag(text: str) -> Counter[str]:
    """Words without their endings."""
    return Counter(stem(word) for word in re.findall("[a-z]+", text.lower()))
