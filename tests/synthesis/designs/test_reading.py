"""Designs are read as they are written; what is wrong in one is named by its line."""

from __future__ import annotations

import pytest

from fastsql.synthesis.contents.fillings import Choice, Each, Moments, Numbers
from fastsql.synthesis.designs import DesignError, designs, read_design
from fastsql.synthesis.designs.model import Held, Key, Reference
from fastsql.synthesis.schema.words import plural, singular

TEXT = """
# comment
table ward | unit
ward number: key W###
ward name: each north, south
kind | sort: one of G=general *3, S=surgical
beds: 4..60 -- how many lie there
table? nurse
nurse number: key
ward: ->? ward
pay: 0.5..9.9 EUR falling
hired: begin day ?
on call: flag
"""


def test_a_design_says_names_and_what_columns_hold() -> None:
    ward, nurse = read_design("tiny", TEXT).tables
    assert (ward.names, ward.optional, nurse.optional) == (("ward", "unit"), False, True)
    key, name, kind, beds = (column.holds for column in ward.columns)
    assert key == Key("W###")
    assert isinstance(name, Held)
    assert (name.drawn, name.kind) == (Each(("north", "south")), "name")
    assert isinstance(kind, Held)
    assert (kind.drawn, kind.spoken) == (Choice(("G", "S"), (3.0, 1.0)), {"G": "general", "S": "surgical"})
    assert isinstance(beds, Held)
    assert (beds.drawn, beds.type, ward.columns[3].description) == (
        Numbers(4, 60),
        "integer",
        "how many lie there",
    )
    _, ref, pay, hired, call = (column.holds for column in nurse.columns)
    assert ref == Reference("ward", optional=True)
    assert isinstance(pay, Held)
    assert (pay.drawn, pay.kind, pay.unit) == (Numbers(0.5, 9.9, 1, falling=True), "amount", "EUR")
    assert isinstance(hired, Held)
    assert (hired.drawn, hired.empty) == (Moments("begin", "%Y-%m-%d"), 0.2)
    assert isinstance(call, Held)
    assert call.type == "flag"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: person", "line 1: a column stands before any table"),
        ("table t\nname person", "line 2: it is neither a table nor a column"),
        ("table t\nname: something odd", "line 2: what it holds is not understood"),
        ("table t\nward: -> ward", "table t: there is no table 'ward'"),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(DesignError, match=message):
        read_design("bad", text)


def test_the_package_brings_designs_of_many_parts_of_a_hospital() -> None:
    found = designs()
    assert len(found) >= 20
    assert len({design.name for design in found}) == len(found)
    for design in found:
        assert 6 <= len(design.tables) <= 14
        for table in design.tables:
            assert isinstance(table.columns[0].holds, Key)


def test_tables_are_called_by_one_of_what_they_hold() -> None:
    for design in designs():
        names = [name for table in design.tables for name in table.names]
        assert [name for name in names if singular(name) != name or singular(plural(name)) != name] == []
