"""Questions written by hand over the demo hospital run there, and the grammar says them."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot import exp, parse_one

from fastsql import Schema
from fastsql.demo import NOW
from fastsql.execution import Executor, open_executor
from fastsql.grammar.convert import sql_to_program
from fastsql.synthesis.designs.written import Asked, Written
from fastsql.synthesis.hospital.everyday import everyday_questions, everyday_set

EVENTS_OF_ADMISSIONS = {
    *("diagnoses_icd", "procedures_icd", "prescriptions", "labevents"),
    *("microbiologyevents", "transfers", "icustays", "cost"),
}
EVENTS = {*EVENTS_OF_ADMISSIONS, "chartevents", "inputevents", "outputevents"}
"""Tables of what happened to a patient in an admission, and those of intensive care beside them."""


@pytest.fixture(scope="module")
def written() -> Written:
    return everyday_questions()


def queries(written: Written) -> list[Asked]:
    return [*written.single, *(turn for talk in written.talks for turn in talk)]


def test_every_query_runs_and_the_grammar_says_it(demo_hospital: Path, written: Written) -> None:
    schema = Schema.from_sqlite(demo_hospital)
    empty = []
    with open_executor(demo_hospital) as executor:
        for one in queries(written):
            sql_to_program(one.sql, schema)
            if not rows_of(executor, one.sql):
                empty.append(one.question)
    assert len(empty) <= len(queries(written)) // 10


def test_what_equal_queries_could_say_is_said_in_the_form_of_ehrsql(written: Written) -> None:
    """A probability that is split between two forms of one query refuses both."""
    for one in queries(written):
        tree = parse_one(one.sql, read="sqlite")
        assert not finds_patients_without_admissions(tree), one.sql
        for select in tree.find_all(exp.Select):
            if table_of(select) in EVENTS:
                assert not any(names_a_patient(part) for part in conditions(select)), one.sql
        assert not any(takes_one_title_for_many(part) for part in tree.find_all(exp.In)), one.sql


def test_no_question_stands_twice_on_its_own(written: Written) -> None:
    asked = [one.question.casefold() for one in written.single]
    assert len(set(asked)) == len(asked)


def test_the_set_has_every_question_once_and_the_turns_in_their_order(written: Written) -> None:
    found = everyday_set()
    assert [one.question for one in found.pairs if one.sql] == [one.question for one in written.single]
    assert [one.question for one in found.pairs if not one.sql] == list(written.unanswerable)
    assert [one.question for one in found.turns] == [turn.question for talk in written.talks for turn in talk]
    assert [one.extra["turn"] for one in found.turns[: len(written.talks[0])]] == list(
        range(len(written.talks[0]))
    )
    assert found.values[found.schemas[0].name]["prescriptions"]["drug"]


def table_of(select: exp.Select) -> str | None:
    """The table that it reads, where it is one without another name."""
    clause = select.args.get("from_")
    if clause is None or select.args.get("joins"):
        return None
    source = clause.this
    return source.name if isinstance(source, exp.Table) and not source.alias else None


def conditions(select: exp.Select) -> list[exp.Expr]:
    where = select.args.get("where")
    if where is None:
        return []
    return list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]


def finds_patients_without_admissions(tree: exp.Expr) -> bool:
    if not isinstance(tree, exp.Select) or table_of(tree) not in EVENTS_OF_ADMISSIONS:
        return False
    plain = not any(tree.args.get(part) for part in ("group", "order", "limit"))
    asked = [one.sql() for one in tree.expressions]
    listed = asked == ["subject_id"] and bool(tree.args.get("distinct"))
    return plain and (listed or asked == ["COUNT(DISTINCT subject_id)"])


def names_a_patient(condition: exp.Expr) -> bool:
    equal = isinstance(condition, exp.EQ) and isinstance(condition.expression, exp.Literal)
    return equal and condition.this.name == "subject_id"


def takes_one_title_for_many(condition: exp.In) -> bool:
    if condition.this.name != "icd_code":
        return False
    query = condition.args["query"].this
    found = conditions(query)
    return len(found) == 1 and isinstance(found[0], exp.EQ) and found[0].this.name == "long_title"


def rows_of(executor: Executor, sql: str) -> list[tuple[object, ...]]:
    return list(executor.run(sql.replace("'now'", f"'{NOW}'")).rows)
