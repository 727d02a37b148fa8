"""Free spans take the letter case of the value that they mean."""

from __future__ import annotations

import pytest

from fastsql.grammar import ColumnRef, Literal, Production, Program, TableRef
from fastsql.linking.canonical import canonical_literals, compared_columns
from fastsql.linking.dictionary import ValueDictionary
from fastsql.schema import Schema

SCHEMA = Schema.from_dict({"p": {"id": "INT", "kind": "TEXT", "drug": "TEXT"}}).with_values(
    {("p", "kind"): ["URGENT", "Elective", "elective"]}
)
DICTIONARY = ValueDictionary.from_mapping({("p", "drug"): ["Aspirin", "ASPIRIN", "Café"]}, SCHEMA)
KIND, DRUG = ColumnRef(1, 0), ColumnRef(2, 0)


def span(text: str) -> Literal:
    return Literal(text, provenance="span", span=(0, len(text)))


def where(production: str, column: ColumnRef, *values: Literal) -> Program:
    more = [terminal for value in values[1:] for terminal in (Production("also"), value)]
    return (TableRef(0), Production(production), column, *values[:1], *more)


def literals(program: Program) -> list[object]:
    return [terminal.value for terminal in program if isinstance(terminal, Literal)]


@pytest.mark.parametrize(
    ("column", "text", "written"),
    [
        (KIND, "urgent", "URGENT"),
        (KIND, "elective", "elective"),
        (KIND, "ELECTIVE", "Elective"),
        (KIND, "Aspirin", "Aspirin"),
        (KIND, "planned", "planned"),
        (DRUG, "aspirin", "Aspirin"),
        (DRUG, "ASPIRIN", "ASPIRIN"),
        (DRUG, "CAFÉ", "Café"),
        (DRUG, "urgent", "urgent"),
    ],
)
def test_an_exact_value_comes_first_then_one_that_equals_it_but_for_case(
    column: ColumnRef, text: str, written: str
) -> None:
    assert literals(canonical_literals(where("eq", column, span(text)), SCHEMA, DICTIONARY)) == [written]


def test_without_a_dictionary_the_schema_alone_is_asked() -> None:
    assert literals(canonical_literals(where("eq", DRUG, span("aspirin")), SCHEMA, None)) == ["aspirin"]
    assert literals(canonical_literals(where("ne", KIND, span("urgent")), SCHEMA, None)) == ["URGENT"]


def test_every_value_of_a_list_is_looked_at() -> None:
    program = where("in_list", KIND, span("urgent"), span("ELECTIVE"), span("other"))
    assert literals(canonical_literals(program, SCHEMA, None)) == ["URGENT", "Elective", "other"]


def test_what_comes_from_elsewhere_stays_as_it_is() -> None:
    given = Literal("urgent", provenance="quoted", span=(0, 6))
    assert literals(canonical_literals(where("eq", KIND, given), SCHEMA, DICTIONARY)) == ["urgent"]


def test_text_that_is_compared_with_no_column_stays_as_it_is() -> None:
    program = (TableRef(0), Production("contains"), KIND, span("urgent"))
    assert literals(canonical_literals(program, SCHEMA, DICTIONARY)) == ["urgent"]
    assert compared_columns(program) == (None,) * 4


def test_a_comparison_ends_where_the_next_one_begins() -> None:
    program = (
        *where("eq", KIND, span("urgent")),
        Production("eq"),
        Production("count"),
        DRUG,
        span("aspirin"),
    )
    assert compared_columns(program)[3] == KIND.column
    assert compared_columns(program)[-1] is None
