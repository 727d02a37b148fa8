"""Links from a question's words to names that abbreviate them, which only a model trained so may see."""

from __future__ import annotations

import numpy as np
import pytest

from fastsql.linking.abbreviations import Abbreviations
from fastsql.linking.folding import words
from fastsql.linking.relations import SchemaLinks
from fastsql.schema import Schema

SCHEMA = Schema.from_ddl("CREATE TABLE adm (dept TEXT, dob TEXT, state TEXT)")


def linked(question: str, abbreviations: bool) -> set[str]:
    links = SchemaLinks(SCHEMA, abbreviations=abbreviations)
    offsets = np.array([(word.start, word.end) for word in words(question)], dtype=np.int32).reshape(-1, 2)
    items = np.flatnonzero(links.name_matches(question, offsets).any(axis=0)).tolist()
    return {SCHEMA.columns[item - 1].name if item else SCHEMA.tables[0].name for item in items}


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("admissions by department", {"adm", "dept"}),
        ("the date of birth", {"dob"}),
        ("the state", {"state"}),
        ("statement of costs", set()),
    ],
)
def test_abbreviations_are_linked_where_asked_for(question: str, found: set[str]) -> None:
    assert linked(question, True) == found
    assert linked(question, False) == found & {"state"}


def test_what_the_schema_spells_out_is_no_abbreviation() -> None:
    assert list(Abbreviations(["dept", "department"]).find(["department"])) == []
    assert list(Abbreviations(["dept"]).find(["of", "department"])) == [(1, 2, "dept")]


def test_only_names_shorter_than_the_word_abbreviate_it() -> None:
    assert list(Abbreviations(["admissions"]).find(["adm"])) == []
