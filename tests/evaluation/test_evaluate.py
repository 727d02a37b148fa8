"""An evaluation counts what the EHRSQL scorer counts."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from fastsql.datasets import DatabaseFiles, Example, read_examples, read_schemas
from fastsql.errors import FastSQLError
from fastsql.evaluation import Options, Prediction, Report, evaluate
from fastsql.evaluation.evaluate import training_skeletons
from fastsql.evaluation.judge import Task, Verdict, judge
from fastsql.evaluation.judged import Judged
from fastsql.evaluation.scores import percentile, reliability, reliability_scores
from fastsql.result import Result
from fastsql.schema import Schema

from .test_canonical import nested_aliases

NOW = "2100-12-31 23:59:00"


def run(
    examples: Sequence[Example],
    predictions: Iterable[Prediction],
    schema: Schema,
    database: Path | None,
    **options: Any,
) -> Report:
    given = {prediction.id: prediction for prediction in predictions}
    with DatabaseFiles(database, {"ward"}) as files:
        return evaluate(given, examples, {"ward": schema}, files, Options(now=NOW, **options))


def gold(examples: Sequence[Example]) -> list[Prediction]:
    return [Prediction(example.id, example.sql, abstained=example.sql is None) for example in examples]


def test_gold_itself_scores_a_hundred(examples: Sequence[Example], schema: Schema, database: Path) -> None:
    figures = run(examples, gold(examples), schema, database).to_json()
    assert list(figures) == [
        *("n", "ex", "em", "em_values", "rs", "wrong", "abstained", "valid_sql", "latency_ms", "details"),
    ]
    assert (figures["n"], figures["wrong"], figures["abstained"]) == (6, 0, 2)
    assert figures["ex"] == figures["em"] == figures["em_values"] == figures["valid_sql"] == 100
    assert figures["rs"] == {"0": 100, "5": 100, "10": 100, "N": 100}
    assert figures["details"]["gold_published"] == 100


def test_two_processes_come_to_the_same_figures(
    examples: Sequence[Example], schema: Schema, database: Path
) -> None:
    one, two = (run(examples, gold(examples), schema, database, jobs=jobs) for jobs in (1, 2))
    assert one == two


def test_every_kind_of_outcome_is_scored_as_the_shared_task_does(
    examples: Sequence[Example], schema: Schema, database: Path
) -> None:
    predictions = [
        Prediction("count", "SELECT COUNT(subject_id) FROM patients"),  # right by its rows
        Prediction("women", "SELECT subject_id FROM patients WHERE gender = 'm'"),  # wrong value
        Prediction("now", "SELECT nothing FROM patients", abstained=True),  # does not run, but refused
        Prediction(
            "nobody", "SELECT hadm_id FROM admissions WHERE age = 300"
        ),  # right by accident: both empty
        Prediction("phone", None, abstained=True),  # rightly refused
        Prediction("nurse", "SELECT gender FROM patients"),  # answered what cannot be
    ]
    figures = run(examples, predictions, schema, database).to_json()
    assert figures["ex"] == 50
    assert (figures["em"], figures["em_values"]) == (50, 0)
    assert (figures["wrong"], figures["abstained"]) == (2, 2)
    assert figures["valid_sql"] == 80
    right, wrong, n = 3, 2, 6
    expected = {
        name: round(100 * (right - c * wrong) / n, 4)
        for name, c in (("0", 0), ("5", 5), ("10", 10), ("N", n))
    }
    assert figures["rs"] == expected
    assert figures["details"]["gold_empty"] == 2
    assert figures["details"]["ex_gold_not_empty"] == 50


def test_accuracy_is_of_the_best_hypothesis_even_if_it_was_refused(
    examples: Sequence[Example], schema: Schema, database: Path
) -> None:
    refused = [Prediction(example.id, example.sql, 0.1, abstained=True) for example in examples]
    figures = run(examples, refused, schema, database).to_json()
    assert figures["ex"] == 100
    assert figures["rs"]["0"] == pytest.approx(100 * 2 / 6, abs=1e-4)


def test_without_a_database_there_is_no_accuracy_but_exact_match(
    examples: Sequence[Example], schema: Schema
) -> None:
    figures = run(examples, gold(examples), schema, None).to_json()
    assert figures["ex"] is None
    assert figures["wrong"] is None
    assert figures["rs"] == {"0": None, "5": None, "10": None, "N": None}
    assert (figures["em"], figures["valid_sql"]) == (100, 100)


def test_seen_and_unseen_skeletons_are_told_apart(
    examples: Sequence[Example], schema: Schema, database: Path
) -> None:
    trained = training_skeletons(
        [Example("x", "ward", "?", "SELECT hadm_id FROM admissions WHERE age = 3"), examples[-1]]
    )
    details = run(examples, gold(examples), schema, database, seen=trained).to_json()["details"]
    assert (details["seen"]["n"], details["unseen"]["n"]) == (1, 3)
    assert details["seen"]["ex"] == 100


def test_a_query_that_does_not_end_is_stopped_and_counted(schema: Schema, database: Path) -> None:
    endless = "SELECT COUNT(*) FROM patients a, patients b, patients c, patients d, patients e, patients f, patients g"
    task = Task("ward", "SELECT 1", endless, database=str(database), time_limit=0.05)
    verdict = judge(task, schema)
    assert (verdict.correct, verdict.runs, verdict.timed_out) == (False, False, True)


def test_gold_that_fails_is_counted_and_its_answer_matched_by_nothing(schema: Schema, database: Path) -> None:
    verdict = judge(
        Task("ward", "SELECT broken", "SELECT gender FROM patients", database=str(database)), schema
    )
    assert verdict == Verdict(correct=False, runs=True, gold_failed=True, hardness="beyond")


def test_gold_without_a_form_is_matched_by_its_own_text(schema: Schema) -> None:
    own, other = (
        judge(Task("ward", "SELECT a  FROM b", sql), schema) for sql in ("SELECT a FROM b", "SELECT a FROM c")
    )
    assert (own.em, own.em_values, other.em, other.em_values) == (True, True, False, False)
    assert other.differences is None


def test_a_form_beyond_the_bound_is_no_match(schema: Schema, database: Path) -> None:
    huge = nested_aliases(30)
    verdict = judge(Task("ward", "SELECT age FROM admissions", huge, database=str(database)), schema)
    assert (verdict.em, verdict.em_values, verdict.differences) == (False, False, None)
    assert verdict.correct is not None


def test_what_differs_is_told_of_wrong_predictions_only(schema: Schema, database: Path) -> None:
    gold = "SELECT COUNT(*) FROM patients"
    right, wrong = (
        judge(Task("ward", gold, sql, database=str(database)), schema)
        for sql in ("SELECT COUNT(subject_id) FROM patients", "SELECT COUNT(*) FROM admissions")
    )
    assert (right.correct, right.differences) == (True, None)
    assert (wrong.correct, wrong.differences, wrong.hardness) == (False, ("sources",), "easy")


def test_a_wrong_published_answer_is_noticed(schema: Schema, database: Path) -> None:
    task = Task("ward", "SELECT COUNT(*) FROM patients", None, answer="[['21']]", database=str(database))
    assert judge(task, schema).published is False


def test_a_parser_is_asked_with_the_database_and_the_time(
    examples: Sequence[Example], schema: Schema, database: Path, parser: Any
) -> None:
    with DatabaseFiles(database, {"ward"}) as files:
        report = evaluate(parser, examples, {"ward": schema}, files, Options(now=NOW))
    assert [call["question"] for call in parser.asked[1:]] == [example.question for example in examples]
    assert {(call["values"], call["now"]) for call in parser.asked} == {(database, NOW)}
    figures = report.to_json()
    assert figures["ex"] == 100
    assert figures["latency_ms"]["p50"] >= 0


def test_values_of_the_database_can_be_withheld(
    examples: Sequence[Example], schema: Schema, database: Path, parser: Any
) -> None:
    with DatabaseFiles(database, {"ward"}) as files:
        evaluate(parser, examples, {"ward": schema}, files, Options(values=False))
    assert {call["values"] for call in parser.asked} == {None}


def test_questions_beyond_the_limits_count_as_refused(schema: Schema, database: Path, parser: Any) -> None:
    long = Example("long", "ward", "why " * 100, None)
    with DatabaseFiles(database, {"ward"}) as files:
        figures = evaluate(parser, [long], {"ward": schema}, files).to_json()
    assert (figures["abstained"], figures["wrong"]) == (1, 0)
    assert figures["details"]["errors"] == {"LimitError": 1}


def test_progress_is_told_of_both_stages(examples: Sequence[Example], schema: Schema, parser: Any) -> None:
    stages: list[tuple[str, int]] = []

    def track(items: Iterable[Any], label: str, total: int) -> Iterator[Any]:
        stages.append((label, total))
        return iter(items)

    evaluate(parser, examples, {"ward": schema}, track=track)
    assert stages == [("parsing", 6), ("running SQL", 6)]


def test_a_missing_schema_or_prediction_is_an_error(examples: Sequence[Example], schema: Schema) -> None:
    with pytest.raises(FastSQLError, match="database 'ward'"):
        evaluate({}, examples, {})
    with pytest.raises(FastSQLError, match="5 of 6 examples have no prediction, such as 'women'"):
        evaluate({"count": Prediction("count", None)}, examples, {"ward": schema})


def test_nothing_to_evaluate_gives_no_figures(schema: Schema) -> None:
    figures = evaluate({}, [], {"ward": schema}).to_json()
    assert (figures["n"], figures["ex"], figures["rs"]["10"]) == (0, None, None)


def test_reliability_is_the_mean_with_wrong_answers_weighted() -> None:
    assert reliability([1, 1, 0, -1]) == {"0": 50, "5": -75, "10": -200, "N": -50}


def test_a_right_refusal_scores_only_where_there_is_nothing_to_answer() -> None:
    refusal = Prediction("x", "SELECT 1", abstained=True)
    answerable, other = (Example("x", "ward", "?", sql) for sql in ("SELECT 1", None))
    right = Judged(answerable, refusal, Verdict(correct=True, runs=True))
    assert reliability_scores([right, Judged(other, refusal, Verdict())]) == [0, 1]


def test_percentiles_are_values_that_occurred() -> None:
    values = [float(number) for number in range(1, 101)]
    assert [percentile(values, q) for q in (50, 90, 99)] == [50, 90, 99]
    assert percentile([3.0], 99) == 3
    assert percentile([], 50) is None
    assert math.isclose(percentile([1.0, 2.0], 50) or 0, 1.0)


def test_results_of_a_parser_may_lack_sql(schema: Schema) -> None:
    class Mute:
        def parse(
            self, question: str, schema: Schema, *, values: object = None, now: str | None = None
        ) -> Result:
            return Result(question, None, 0.0, abstained=True, reason="no idea")

    figures = evaluate(Mute(), [Example("a", "ward", "?", "SELECT 1")], {"ward": schema}).to_json()
    assert (figures["abstained"], figures["valid_sql"], figures["em"]) == (1, None, 0)


@pytest.mark.parametrize(("file", "step"), [("train.json", 12), ("valid.json", 3)])
def test_gold_of_ehrsql2024_gives_the_published_answers(ehrsql2024: Path, file: str, step: int) -> None:
    """One query in `step`, or all of them with ``FASTSQL_GOLD=all``."""
    step = 1 if os.environ.get("FASTSQL_GOLD") == "all" else step
    examples = read_examples(ehrsql2024 / file)[::step]
    schemas = read_schemas(ehrsql2024 / "schemas.json")
    given = {prediction.id: prediction for prediction in gold(examples)}
    with DatabaseFiles(ehrsql2024 / "mimic_iv.sqlite.gz", {"mimic_iv"}) as files:
        figures = evaluate(given, examples, schemas, files, Options(now=NOW)).to_json()
    assert figures["ex"] == figures["em_values"] == figures["valid_sql"] == 100
    assert figures["details"]["gold_published"] == 100
    assert set(figures["rs"].values()) == {100}
    assert figures["details"]["categories"] == {"decisions": {}, "queries": {}}


def test_gold_of_a_chinese_set_matches_itself(fastsql_data: Path) -> None:
    if not (fastsql_data / "css").is_dir():
        pytest.skip("put css into the folder that FASTSQL_DATA names to run this")
    examples = read_examples(fastsql_data / "css" / "examples.json.gz")[::200]
    schemas = read_schemas(fastsql_data / "css" / "schemas.json")
    given = {prediction.id: prediction for prediction in gold(examples)}
    figures = evaluate(given, examples, schemas).to_json()
    assert (figures["ex"], figures["em"], figures["em_values"]) == (None, 100, 100)
    parts = figures["details"]["parts"]
    assert "复杂" in parts["level"]
    assert sum(part["n"] for part in parts["db_id"].values()) == len(examples)
