"""A notebook shows a schema's tables, whatever their number, and whatever they are called."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fastsql import Schema
from fastsql.demo import create_hospital

from ..worlds.ward import ward_schema
from ..worlds.wide import numbered_tables
from .results import HOSTILE

WARD = ward_schema("patients", "admissions").annotated(
    {
        "admissions": {"description": "One row a stay."},
        "admissions.admittime": {"label": "time of admission", "synonyms": ["arrival"]},
        "admissions.ward": {"values": [f"ward {n}" for n in range(9)]},
    }
)


class Text(HTMLParser):
    """The text of a page, its tags counted; raises for a tag that no view of ours has."""

    KNOWN = "section style p strong bdi details summary code table thead tbody tr th td span"

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.open: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.KNOWN.split()
        assert {name for name, _ in attrs} <= {"class", "aria-label", "open", "scope"}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] != "style":
            self.text += data


def test_a_schema_shows_tables_columns_keys_labels_and_values() -> None:
    text = Text(WARD._repr_html_()).text
    assert "2 tables, 9 columns, sqlite" in text
    assert "patients 3 columns" in text
    assert "admissions 6 columns: One row a stay." in text
    assert "subject_idINTEGERprimary key" in text
    assert "subject_idINTEGER→ patients.subject_id" in text
    assert "admittimeTIMESTAMPtime of admission, arrival" in text
    assert "wardTEXTward 0, ward 1, ward 2, ward 3, ward 4, ward 5 and 3 more" in text
    assert "warning" not in text


def test_a_schema_of_many_tables_is_folded_and_one_of_very_many_cut() -> None:
    assert WARD._repr_html_().count("<details open>") == 2
    wide = Schema.from_dict(numbered_tables(500, 2))
    page = wide._repr_html_()
    assert page.count("<details>") == 100
    assert "and 400 tables more" in page
    assert len(page) < 10**5
    deep = Schema.from_dict(numbered_tables(1, 2_000))
    assert "and 1,900 columns more" in deep._repr_html_()
    assert len(deep._repr_html_()) < 10**5


def test_the_view_of_a_schema_tells_its_warnings() -> None:
    schema = Schema.from_dict({"t": {"c": "INT", "C": "TEXT", "d": "INT"}})
    assert schema.warnings
    text = Text(schema._repr_html_()).text
    assert "1 warning" in text
    assert schema.warnings[0] in text


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_names_labels_and_values_are_they_are_shown_as_text(text: str) -> None:
    name = re.sub(r"[\x00-\x1f]", " ", text)[:60]
    schema = Schema.from_dict(
        {f"{name} one": {f"{name} a": "TEXT", f"{name} b": "INT"}, f"{name} two": {"c": "TEXT"}}
    ).annotated(
        {
            f"{name} one": {"label": text[:50], "description": text[:2_000], "synonyms": [text[:30]]},
            f"{name} two.c": {"label": text[:50], "description": text[:2_000], "values": [text[:200]]},
        }
    )
    shown = Text(schema._repr_html_()).text
    for character in "\u202e\u202c\u2066\u2069\x1b\x07\r":
        assert character not in shown
    told = "".join(c for c in re.sub(r"\[U\+\w{4}\]", "", shown) if c.isalnum())
    assert told.count("".join(c for c in name if c.isalnum())) >= 4


def test_the_demo_hospital_is_shown_in_full(tmp_path: Path) -> None:
    create_hospital(tmp_path / "hospital.sqlite", patients=4)
    schema = Schema.from_sqlite(tmp_path / "hospital.sqlite")
    text = Text(schema._repr_html_()).text
    assert all(table.name in text for table in schema.tables)
    assert all(column.name in text for column in schema.columns)
