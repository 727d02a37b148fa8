"""A profile is written, read, edited and updated; what is wrong in it is told with line and key."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastsql import LimitError, Limits, Schema, SchemaError
from fastsql.profile.derive import derive
from fastsql.profile.reading import checked, read_profile
from fastsql.profile.updating import update_file, updated
from fastsql.profile.writing import profile_text, write_profile

DDL = """
CREATE TABLE patients (id INT PRIMARY KEY, sex ENUM('F', 'M'), TOTALCOST INT);
CREATE TABLE bills (id INT PRIMARY KEY, patient_id INT, status ENUM('open', 'paid'), rank INT);
"""
SCHEMA = Schema.from_ddl(DDL, name="clinic")
TEXT = profile_text(SCHEMA, derive(SCHEMA, declared_values=True))


def test_what_is_written_is_read_again() -> None:
    assert checked("p.toml", TEXT, SCHEMA) == derive(SCHEMA, declared_values=True)


def test_what_a_file_leaves_out_is_as_names_tell_it_and_a_deleted_line_is_meant() -> None:
    read = checked("p.toml", 'format = 1\n[column.patients.TOTALCOST]\nwords = "cost"', SCHEMA)
    derived = SCHEMA.profile
    assert read.columns[:2] == derived.columns[:2]
    assert (read.columns[2].words, read.columns[2].kind, read.columns[2].aggregatable) == (
        "cost",
        "amount",
        False,
    )


WRONG = {
    "[table.patient]": ("line 2, table.patient", "no such table"),
    "[column.patients.sexx]": ("line 2, column.patients.sexx", "no such column"),
    '[table.patients]\n\nlabels = "x"': ("line 4, table.patients.labels", "no such key"),
    'other = "x"': ("line 2, other", "no such key"),
    "[table.patients]\nlabel = 3": ("line 3, table.patients.label", "must be a text"),
    '[table.patients]\nsynonyms = "x"': ("line 3, table.patients.synonyms", "must be a list of texts"),
    '[table.patients]\nrow = ["name"]': ("line 3, table.patients.row", "has no column 'name'"),
    '[table.patients]\nreference = "yes"': ("line 3, table.patients.reference", "must be true or false"),
    '[column.patients.sex]\nkind = "sort"': ("line 3, column.patients.sex.kind", "kind is not known"),
    '[column.patients.sex]\nrefers_to = "bills"': ("line 3, column.patients.sex.refers_to", "no such column"),
    '[column.patients.sex]\nunit_column = "uom"': (
        "line 3, column.patients.sex.unit_column",
        "has no column 'uom'",
    ),
    '[column.patients]\nsex = "F"': ("line 3, column.patients.sex", "must be a section"),
    'table = "x"': ("line 2, table", "must be a section"),
    "[table.patients]\n[table.PATIENTS]": ("line 3, table.PATIENTS", "two sections"),
    '[column.patients.sex.values]\nF = "women"': (
        "line 3, column.patients.sex.values",
        "must have a list of texts",
    ),
    "[column.bills.rank.values]\nhigh = []": ("line 3, column.bills.rank.values", "must be a number"),
    '[column.patients.sex]\nvalues = { F = "women" }': (
        "line 3, column.patients.sex.values",
        "must have a list",
    ),
    "[table.patients": ("", "not TOML"),
    "a = 1\na = 2": ("", "not TOML"),
}


@pytest.mark.parametrize("text", WRONG)
def test_an_error_names_line_and_key(text: str) -> None:
    known = "" if "patients" in text or "table =" in text else "\n[table.patients]"
    with pytest.raises(SchemaError, match=WRONG[text][1]) as raised:
        checked("p.toml", f"format = 1\n{text}{known}", SCHEMA)
    assert raised.value.where == ", ".join(filter(None, ("p.toml", WRONG[text][0])))
    assert "women" not in str(raised.value)
    assert "high" not in str(raised.value)


def test_names_that_are_not_there_are_told_together() -> None:
    text = "format = 1\n[table.patients]\n[table.beds]\n[column.beds.id]\n[column.patients.name]"
    with pytest.raises(
        SchemaError, match=r"2 more: line 4, column\.beds; line 5, column\.patients\.name"
    ) as raised:
        checked("p.toml", text, SCHEMA)
    assert "--update" in raised.value.remedy


def test_a_profile_of_another_schema_is_known_as_such() -> None:
    text = profile_text(other := Schema.from_ddl("CREATE TABLE films (id INT)"), other.profile)
    with pytest.raises(SchemaError, match="another schema: none of its 1 tables"):
        checked("p.toml", text, SCHEMA)


@pytest.mark.parametrize("version", ["0", "2", '"1"', "true", "[]"])
def test_a_file_of_another_format_is_refused(version: str) -> None:
    with pytest.raises(SchemaError, match="format is not 1"):
        checked("p.toml", f"format = {version}", SCHEMA)


def test_labels_synonyms_and_values_of_a_profile_have_limits() -> None:
    limits = Limits(label_characters=5, synonyms=1, values_per_column=1)
    for text in (
        '[table.patients]\nlabel = "persons"',
        '[table.patients]\nsynonyms = ["a", "b"]',
        "[column.patients.sex.values]\nF = []\nM = []",
    ):
        with pytest.raises(LimitError, match=r"line [23]"):
            checked("p.toml", f"format = 1\n{text}", SCHEMA, limits)


EDITED = TEXT.replace(
    'words = "patients"', 'words = "patients"  # as the wards say\nlabel = "people in care"'
).replace("open = []", 'open = ["unpaid"] # money')
GROWN = Schema.from_ddl(
    """
    CREATE TABLE patients (id INT PRIMARY KEY, sex ENUM('F', 'M', 'X'), TOTALCOST INT, born DATE);
    CREATE TABLE bills (id INT PRIMARY KEY, status ENUM('open', 'paid'), rank INT);
    CREATE TABLE wards (id INT PRIMARY KEY, name TEXT);
    """
)


def test_an_update_of_what_has_not_changed_changes_nothing() -> None:
    change = updated("p.toml", EDITED, SCHEMA, derive(SCHEMA, declared_values=True))
    assert (change.text, change.added, change.gone, change.values) == (EDITED, (), (), 0)


def test_an_update_keeps_edits_comments_and_order_and_adds_what_is_new() -> None:
    change = updated("p.toml", EDITED, GROWN, derive(GROWN, declared_values=True))
    assert (change.added, change.gone, change.values) == (
        ("patients.born", "wards"),
        ("bills.patient_id",),
        1,
    )
    lines = [line for line in change.text.splitlines() if line]
    gone = EDITED[EDITED.index("[column.bills.patient_id]") : EDITED.index("[column.bills.status]")]
    kept = [line for line in EDITED.replace(gone, "").splitlines() if line]
    places = [lines.index(line) for line in kept if kept.count(line) == 1 and line in lines]
    assert places == sorted(places)
    assert [line for line in kept if line not in lines] == []
    assert "# gone: [column.bills.patient_id]" in lines
    assert lines.index("[column.patients.born]") < lines.index("[table.bills]") < lines.index("[table.wards]")
    read = checked("p.toml", change.text, GROWN)
    assert read.tables[0].label == "people in care"
    assert read.columns[1].values == {"F": (), "M": (), "X": ()}
    assert read.columns[GROWN.column_index("bills", "status")].values == {"open": ("unpaid",), "paid": ()}
    assert updated("p.toml", change.text, GROWN, derive(GROWN, declared_values=True)).text == change.text


def test_an_update_keeps_the_ends_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(EDITED.replace("\n", "\r\n").encode())
    update_file(path, GROWN, derive(GROWN))
    text = path.read_bytes()
    assert text.count(b"\n") == text.count(b"\r\n") > EDITED.count("\n")


def test_an_update_of_a_file_that_is_wrong_leaves_it(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(EDITED + "[table.wards]\nlabels = 1\n", encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(SchemaError, match=r"table\.wards\.labels"):
        update_file(path, GROWN, derive(GROWN))
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (before, [path])


def test_a_file_that_cannot_be_written_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.toml"
    path.write_text("old", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(SchemaError, match="cannot be written: No space left"):
        write_profile(path, "new")
    assert (path.read_text(encoding="utf-8"), list(tmp_path.iterdir())) == ("old", [path])


@pytest.mark.parametrize("content", [b"\xff\xfe", b"format = 1\n\x00"])
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(content)
    with pytest.raises(SchemaError, match=r"p\.toml"):
        read_profile(path, SCHEMA)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="cannot be read"):
        SCHEMA.with_profile(tmp_path / "none.toml")


def test_many_columns_are_written_and_read() -> None:
    columns = ", ".join(f"col_{number} INT" for number in range(1_530))
    wide = Schema.from_ddl(f"CREATE TABLE wide ({columns})")
    text = profile_text(wide, wide.profile)
    assert checked("p.toml", text, wide) == wide.profile
    assert updated("p.toml", text, wide, wide.profile).text == text


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])  # a first draw, on a busy machine
@given(st.lists(names, min_size=1, max_size=4), st.lists(names, max_size=3))
def test_whatever_the_names_a_profile_comes_back(columns: list[str], values: list[str]) -> None:
    entries = [{"name": name, "type": "text", "values": values} for name in columns]
    schema = Schema.from_dict({"tables": [{"name": columns[0], "columns": entries}]})
    profile = derive(schema, declared_values=True)
    text = profile_text(schema, profile)
    assert [one.values for one in checked("p", text, schema).columns] == [
        one.values for one in profile.columns
    ]
    assert updated("p", text, schema, profile).text == text


def test_an_update_says_how_many_share_a_value_where_the_file_did_not() -> None:
    change = updated("p.toml", TEXT, SCHEMA, SCHEMA.profile, 10)
    assert 'format = 1\nleast = 10\nschema = "clinic"\n' in change.text
    assert updated("p.toml", change.text, SCHEMA, SCHEMA.profile, 10).text == change.text


def test_values_and_their_synonyms_have_limits_and_no_error_says_them() -> None:
    limits = Limits(value_characters=5, label_characters=6, synonyms=1)
    for line in ("secret = []", 'F = ["secretly"]', 'F = ["a", "b"]'):
        with pytest.raises(SchemaError, match="limits allow") as raised:
            checked("p.toml", f"format = 1\n[column.patients.sex.values]\n{line}", SCHEMA, limits)
        assert raised.value.where == "p.toml, line 3, column.patients.sex.values"
        assert "secret" not in str(raised.value)


def test_an_update_counts_lines_as_toml_does() -> None:
    odd = '[table.patients]\nlabel = "two\u2028parts\u0085of it"\n'
    change = updated("p.toml", f"format = 1\n{odd}[column.patients.id]\n", SCHEMA, SCHEMA.profile)
    assert odd in change.text
    assert change.text.index("[column.patients.sex]") > change.text.index("[column.patients.id]")


INLINE = {
    "a table": ("column = { bills = { status = { kind = 'category' } } }", "line 2, column.bills.status"),
    "all columns": (
        "[column]\nbills = { status = {}, id = {}, patient_id = {}, rank = {} }",
        "line 3, column.bills.status",
    ),
    "values": ("[column.bills.status]\nvalues = { open = [] }", "line 3, column.bills.status.values"),
}


@pytest.mark.parametrize("name", INLINE)
def test_what_is_written_inline_cannot_be_added_to(name: str) -> None:
    text, where = INLINE[name]
    with pytest.raises(SchemaError, match="inline") as raised:
        updated("p.toml", f"format = 1\n{text}\n", SCHEMA, derive(SCHEMA, declared_values=True))
    assert raised.value.where.startswith("p.toml, line")
    assert where.partition(",")[0] in raised.value.where


SECRET = {
    "inline": 'format = 1\n[column.patients]\nsex = { kind = "category" }\n',
    "dotted values": "format = 1\n[column.patients.sex]\nvalues.F = []\n",
}


@pytest.mark.parametrize("text", SECRET.values(), ids=SECRET)
def test_an_update_that_does_not_fit_is_refused_without_a_value(text: str) -> None:
    secret = Schema.from_ddl(DDL.replace("'M'", "'secret'"), name="clinic")
    with pytest.raises(SchemaError, match="cannot be added to") as raised:
        updated("p.toml", text, secret, derive(secret, declared_values=True))
    assert raised.value.where == "p.toml, patients.sex"
    assert "secret" not in str(raised.value)


WITH_A_VALUE = {
    "twice": "[column.bills.status.values]\nsecret = []\nsecret = []",
    "no list": "[column.bills.status.values]\nsecret = [",
    "a lost header": "[column.bills.status]\nsecret = []",
    "a section": "[column.bills.status.values.secret]",
}


@pytest.mark.parametrize("text", WITH_A_VALUE.values(), ids=WITH_A_VALUE)
def test_no_error_quotes_a_value(text: str) -> None:
    with pytest.raises(SchemaError, match="line") as raised:
        checked("p.toml", f"format = 1\n{text}\n", SCHEMA)
    assert "secret" not in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize("first", ["id", "patient_id"])
def test_new_values_stay_with_their_column_whatever_section_is_added_there(first: str) -> None:
    ddl = DDL.replace(", rank INT", "")  # the column of values is the last one
    schema = Schema.from_ddl(ddl, name="clinic")
    text = profile_text(schema, derive(schema, declared_values=True))
    start = text.index(f"[column.bills.{first}]")
    text = text[:start] + text[text.index("[", start + 1) :]
    grown = Schema.from_ddl(ddl.replace("'paid'", "'paid', 'void'"), name="clinic")
    profile = derive(grown, declared_values=True)
    change = updated("p.toml", text, grown, profile)
    assert (change.added, change.values) == ((f"bills.{first}",), 1)
    read = checked("p.toml", change.text, grown)
    assert read.columns == profile.columns


def test_a_name_that_is_no_unicode_text_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    with pytest.raises(SchemaError, match="not Unicode"):
        write_profile(path, "\ud800")
    assert list(tmp_path.iterdir()) == []
