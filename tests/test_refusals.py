"""A refusal says what is missing and what would help: in words, as data, and to nobody but who asked."""

from __future__ import annotations

import io
import json
import logging
import pickle
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fastsql import ExecutionError, Parser, Schema, ValueDictionary, backends, load
from fastsql.demo import REFERENCE
from fastsql.engine.base import Decoded
from fastsql.execution import ReadOnlyExecutor, Rows
from fastsql.parser.audit import Audit
from fastsql.refusal.suggestions import BestGuess, UnknownValue, UnknownWords
from fastsql.reliability.inspection import Inspector, Rule

MISSPELT = "How many patients were prescribed zeftriaxome?"
SURGEON = "Show admissions by surgeon"
ANSWERED = "How many patients were prescribed warfarin?"
SALINE = "What was the total volume of normal saline output that patient 71021037 had?"
DOUBTED = "How many patients died?"
CANARY, HELD = "zyxwaldomycin", "vyxwaldomicim"
"""A word that no value, name or message has, and a value that is like it, but not so near that it is offered for it."""


@pytest.fixture(scope="module")
def schema(demo_hospital: Path) -> Schema:
    return Schema.from_sqlite(demo_hospital, max_values=12)


@pytest.fixture(scope="module")
def values(demo_hospital: Path, schema: Schema) -> ValueDictionary:
    known = ValueDictionary.from_database(demo_hospital, schema)
    assert len(known.whole) > 0
    return known


@pytest.fixture(scope="module", params=["python", "cpu"])
def parser(request: pytest.FixtureRequest) -> Parser:
    """The bundled model on every device that is there."""
    if request.param == "cpu" and backends.native() is None:
        pytest.skip(f"native module {backends.native_status().reason}")
    return load(device=request.param, threads=1)


@pytest.fixture(scope="module")
def fastest() -> Parser:
    return load(threads=1)


# ---------------------------------------------------------------- what is said


def test_a_misspelt_value_is_told_with_the_nearest_and_what_was_meant(
    parser: Parser, schema: Schema, values: ValueDictionary
) -> None:
    result = parser.parse(MISSPELT, schema, values=values)
    assert result.sql is None
    unknown, guess = result.suggestions
    assert isinstance(unknown, UnknownValue)
    assert (unknown.words, unknown.column) == ("zeftriaxome", "prescriptions.drug")
    assert MISSPELT[slice(*unknown.span)] == "zeftriaxome"
    assert unknown.nearest[0].value == "ceftriaxone"
    assert result.reason == unknown.text
    assert result.reason == "No value like 'zeftriaxome' in prescriptions.drug; the nearest is 'ceftriaxone'."
    assert isinstance(guess, BestGuess)
    assert "'ceftriaxone'" in guess.description
    assert guess.text == f"Did you mean: {guess.description}?"


def test_a_word_that_nothing_is_called_is_told(
    parser: Parser, schema: Schema, values: ValueDictionary
) -> None:
    result = parser.parse(SURGEON, schema, values=values)
    assert result.reason == "Nothing in this schema is called 'surgeon'."
    assert result.suggestions == (UnknownWords(result.reason, ("surgeon",), ((19, 26),)),)


def test_a_key_that_no_row_has_is_told_where_the_database_can_be_asked(
    parser: Parser, schema: Schema, values: ValueDictionary, demo_hospital: Path
) -> None:
    question = "What drug was prescribed to patient 999?"
    assert parser.parse(question, schema, values=values, penalty=1).sql is not None
    with ReadOnlyExecutor(demo_hospital) as executor:
        inspector = Inspector(executor)
        result = parser.parse(question, schema, values=values, inspector=inspector, penalty=20)
        there = parser.parse(
            SURGEON.replace("surgeon", "ward"), schema, values=values, inspector=inspector, penalty=1
        )
        silent = parser.parse(question, schema, values=values, inspector=inspector, suggest=False, penalty=20)
    assert result.sql is None
    assert result.reason == "No row of admissions has subject_id = 999."
    (unknown,) = result.suggestions
    assert isinstance(unknown, UnknownValue)
    assert (unknown.words, question[slice(*unknown.span)]) == ("999", "999")
    assert (unknown.column, unknown.nearest) == ("admissions.subject_id", ())
    assert "No row" not in (there.reason or "")
    assert "999" not in (silent.reason or "")


def test_what_contradicts_a_reference_table_is_told_without_a_database(
    parser: Parser, schema: Schema, values: ValueDictionary, demo_hospital: Path
) -> None:
    marked = schema.with_reference_tables(*REFERENCE)
    known = ValueDictionary.from_database(demo_hospital, marked)
    assert parser.parse(SALINE, schema, values=values).sql is not None
    result = parser.parse(SALINE, marked, values=known)
    assert result.sql is None
    assert result.reason == "No row of d_items has label = 'normal saline' and linksto = 'outputevents'."
    (unknown,) = result.suggestions
    assert isinstance(unknown, UnknownValue)
    assert SALINE[slice(*unknown.span)] == unknown.words == "normal saline"
    assert unknown.column == "d_items.label"
    assert "saline" not in (parser.parse(SALINE, marked, values=known, suggest=False).reason or "")
    rightly = SALINE.replace("normal saline", "foley")
    assert parser.parse(rightly, marked, values=known).sql == parser.parse(rightly, schema, values=values).sql


def test_a_database_knows_better_than_an_older_dictionary(
    fastest: Parser, schema: Schema, demo_hospital: Path, tmp_path: Path
) -> None:
    """The dictionary says that there is no such row; since then there is, with what a patient lost of it."""
    marked = schema.with_reference_tables(*REFERENCE)
    known = ValueDictionary.from_database(demo_hospital, marked)
    later = tmp_path / "later.sqlite"
    later.write_bytes(demo_hospital.read_bytes())
    with closing(sqlite3.connect(later)) as connection:
        connection.execute(
            "UPDATE d_items SET linksto = 'outputevents',"
            " label = CASE label WHEN 'foley' THEN 'normal saline' ELSE 'foley' END"
            " WHERE label IN ('foley', 'normal saline')"
        )
        (patient,) = connection.execute(
            "SELECT subject_id FROM outputevents WHERE itemid IN (SELECT itemid FROM d_items WHERE label = 'normal saline')"
        ).fetchone()
        connection.commit()
    question = SALINE.replace("71021037", str(patient))
    assert fastest.parse(question, marked, values=known).sql is None
    with ReadOnlyExecutor(later) as executor:
        result = fastest.parse(question, marked, values=known, inspector=Inspector(executor))
    assert result.sql is not None
    with ReadOnlyExecutor(demo_hospital) as executor:
        still = fastest.parse(question, marked, values=known, inspector=Inspector(executor))
    assert still.reason == "No row of d_items has label = 'normal saline' and linksto = 'outputevents'."


def test_a_doubted_guess_is_told_in_words(parser: Parser, schema: Schema, values: ValueDictionary) -> None:
    result = parser.parse(DOUBTED, schema, values=values)
    assert result.reason is not None
    assert "penalty 10" in result.reason
    (guess,) = result.suggestions
    assert isinstance(guess, BestGuess)
    assert guess.description == "how many patients where date of death is not missing"


def test_an_answer_has_neither_reason_nor_suggestions_and_is_decoded_once(
    parser: Parser, schema: Schema, values: ValueDictionary, monkeypatch: pytest.MonkeyPatch
) -> None:
    decodes: list[int] = []
    decode = parser.engine.decode

    def counted(*arguments: Any) -> Decoded:
        decodes.append(1)
        return decode(*arguments)

    monkeypatch.setattr(parser.engine, "decode", counted)
    result = parser.parse(ANSWERED, schema, values=values)
    assert (bool(result.sql), result.reason, result.suggestions, len(decodes)) == (True, None, (), 1)
    assert "suggest" not in result.timings
    decodes.clear()
    assert "suggest" in parser.parse(MISSPELT, schema, values=values).timings
    assert len(decodes) == 2


def test_a_question_in_chinese_is_refused_in_chinese(fastest: Parser, schema: Schema) -> None:
    result = fastest.parse("昨天住院的女病人有几个？", schema)
    assert result.sql is None
    assert result.reason is not None
    assert "概率" in result.reason or "置信度" in result.reason
    assert fastest.parse("？！", schema).reason == "There is no question in this text."


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("warfarin", "This names a value, but does not say what is asked about it."),
        ("Warfarin?", "This names a value, but does not say what is asked about it."),
        ("阿司匹林", "这里只有一个值，没有说明要问什么。"),
    ],
)
def test_a_value_alone_is_no_question(fastest: Parser, schema: Schema, text: str, reason: str) -> None:
    assert (
        fastest.parse(text, schema, penalty=0).unanswerable < 1
    )  # where a wrong answer costs nothing, the model decides
    result = fastest.parse(text, schema)
    assert (result.sql, result.confidence, result.unanswerable) == (None, 0.0, 1.0)
    assert result.reason == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("What is the median cost?", "No query that could be written computes 'median'."),
        ("standard deviation of the dose", "No query that could be written computes 'standard deviation'."),
        ("费用的中位数是多少？", "能写出的查询都无法计算“中位数”。"),
        (
            "What was the cost in the last fortnight?",
            "No query that was found says 'last fortnight'.",
        ),
        ("上周三的费用", "找到的查询都没有表示“上周三”。"),
    ],
)
def test_what_no_query_computes_is_refused(fastest: Parser, schema: Schema, text: str, reason: str) -> None:
    result = fastest.parse(text, schema)
    assert (result.sql, result.confidence, result.unanswerable, result.reason) == (None, 0.0, 1.0, reason)
    assert fastest.parse(text, schema, penalty=0).reason != reason  # the model decides


def test_a_percentile_is_a_rank(fastest: Parser, schema: Schema) -> None:
    question = "What percentile is the platelet count value of 328 in the same age group as patient 10008454?"
    assert "computes" not in (fastest.parse(question, schema).reason or "")


def test_a_column_that_is_called_a_median_is_asked_for(fastest: Parser) -> None:
    schema = Schema.from_ddl("CREATE TABLE wards (ward_id INT PRIMARY KEY, median_stay REAL);")
    texts = (
        "What is the median stay of ward 3?",
        "the highest median_stay",
        "stays for a median sternotomy",
        "wards of 'median'",
    )
    for text in texts:
        assert "computes" not in (fastest.parse(text, schema).reason or "")


# ---------------------------------------------------------------- what it rests on


def test_without_a_dictionary_a_refusal_says_what_it_can(fastest: Parser, schema: Schema) -> None:
    assert fastest.parse(SURGEON, schema).reason == "Nothing in this schema is called 'surgeon'."
    result = fastest.parse(MISSPELT, schema)
    assert not any(isinstance(one, UnknownValue) for one in result.suggestions)


def test_a_dictionary_of_a_part_or_of_other_values_raises_nothing(fastest: Parser, schema: Schema) -> None:
    for drugs, whole in (
        (["aspirin"], True),
        (["ceftriaxone"], False),
        (["zeftriaxome"], True),
        ([CANARY], True),
    ):
        known = ValueDictionary.from_mapping({("prescriptions", "drug"): drugs}, schema, whole=whole)
        result = fastest.parse(MISSPELT, schema, values=known)
        assert result.sql or result.reason
        for one in result.suggestions:
            assert CANARY not in one.text


def test_a_refusal_gives_the_same_reason_whatever_the_settings(
    fastest: Parser, schema: Schema, values: ValueDictionary
) -> None:
    expected = fastest.parse(MISSPELT, schema, values=values).reason
    for options in (
        {"grounded": False, "penalty": 1e6},
        {"penalty": 1e6},
        {"beam": 1},
        {"dialect": "postgres"},
    ):
        assert fastest.parse(MISSPELT, schema, values=values, **options).reason == expected


class Failing:
    """An executor whose database is gone."""

    dialect = "sqlite"

    def run(self, sql: str) -> Rows:
        raise ExecutionError("is gone", where="query")


def test_where_the_executor_fails_the_refusal_says_that(
    fastest: Parser, schema: Schema, values: ValueDictionary
) -> None:
    inspector = Inspector(Failing(), rule=Rule.REFUSE)
    result = fastest.parse(MISSPELT, schema, values=values, inspector=inspector)
    assert result.reason == "The query could not be run."
    assert isinstance(result.suggestions[0], UnknownValue)


# ---------------------------------------------------------------- off, and on record


def test_suggest_false_gives_the_plain_reason_alone(
    fastest: Parser, schema: Schema, values: ValueDictionary
) -> None:
    quiet = load(threads=1, suggest=False)
    for result in (
        fastest.parse(MISSPELT, schema, values=values, suggest=False),
        quiet.parse(MISSPELT, schema, values=values),
        pickle.loads(pickle.dumps(quiet)).parse(MISSPELT, schema, values=values),
        quiet.ask(MISSPELT, schema, executor=Failing(), values=values).result,  # type: ignore[arg-type]
    ):
        assert result.suggestions == ()
        assert result.reason is not None
        assert "zeftriaxome" not in result.reason
        assert "suggest" not in result.timings
    assert quiet.parse(MISSPELT, schema, values=values, suggest=True).suggestions


def test_suggestions_go_to_json_and_survive_a_pickle(
    fastest: Parser, schema: Schema, values: ValueDictionary
) -> None:
    result = fastest.parse(MISSPELT, schema, values=values)
    content = json.loads(result.to_json())["suggestions"]
    assert [one["kind"] for one in content] == ["unknown value", "best guess"]
    assert content[0] == {
        "kind": "unknown value",
        "text": result.reason,
        "words": "zeftriaxome",
        "span": [34, 45],
        "column": "prescriptions.drug",
        "nearest": [{"value": "ceftriaxone", "columns": ["prescriptions.drug"]}],
    }
    assert pickle.loads(pickle.dumps(result)).suggestions == result.suggestions


def test_views_show_the_reason_once_and_the_suggestions(
    fastest: Parser, schema: Schema, values: ValueDictionary
) -> None:
    result = fastest.parse(MISSPELT, schema, values=values)
    page = io.StringIO()
    result.show(page, width=2_000)
    for shown in (page.getvalue(), result._repr_html_().replace("&#x27;", "'")):
        assert shown.count("No value like 'zeftriaxome'") == 1
        assert shown.count("Did you mean: ") == 1


def test_neither_records_nor_logs_nor_an_answers_repr_hold_what_a_refusal_quotes(
    schema: Schema,
    values: ValueDictionary,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    question = f"How many patients were prescribed {CANARY}?"
    # All that the database says is known, so no query guesses that the word is one of its values.
    held = {
        ("prescriptions", "drug"): [HELD, "aspirin"],
        ("prescriptions", "route"): ["po", "iv"],
        ("prescriptions", "dose_val_rx"): ["20", "40"],
        ("prescriptions", "dose_unit_rx"): ["mg", "ml"],
    }
    others = {
        (table.name, schema.columns[column].name): ["known"]
        for table in schema.tables
        for column in table.columns
    }
    known = ValueDictionary.from_mapping({**others, **held}, schema, whole=True)
    records: list[Any] = []
    parser = load(threads=1, audit=Audit(records.append, sql=True, literals=True, identifiers=True))
    answer = parser.ask(question, schema, executor=Failing(), values=known)  # type: ignore[arg-type]
    assert answer.reason is not None
    assert CANARY in answer.reason
    assert HELD in str(answer.suggestions)
    recorded = repr(answer) + "".join(record.to_json() for record in records)
    assert CANARY not in recorded
    assert HELD not in recorded
    assert records
    streams = capfd.readouterr()
    overheard = caplog.text + streams.out + streams.err
    assert CANARY not in overheard
    assert HELD not in overheard
