"""Conversations are asked turn by turn with the parser's own answers, and measured as EHR-SeqSQL does."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from fastsql.datasets import DatabaseFiles, DatasetError, Example
from fastsql.errors import FastSQLError, LimitError
from fastsql.evaluation import Judged, Options, Report, evaluate
from fastsql.evaluation.interactions import interaction_scores, judged_interactions
from fastsql.evaluation.page import page
from fastsql.evaluation.shares import Share
from fastsql.schema import Schema
from fastsql.session.turn import Turn

from .conftest import FakeParser
from .judging import judged, right, wrong

ALL = "SELECT subject_id FROM patients"
WOMEN = f"{ALL} WHERE gender = 'f'"
HEAVY = f"{WOMEN} AND weight > 52"


@dataclass
class Talker:
    """Answers from a table of question -> turn; remembers with which history it was asked. Long questions are errors."""

    answers: Mapping[str, Turn]
    asked: list[tuple[str, tuple[Turn, ...] | None]] = field(default_factory=list)
    penalty: float = 0

    def parse(self, question: str, schema: Schema, *, history: Any = None, **_settings: Any) -> Turn:
        self.asked.append((question, history))
        if len(question) > 200:
            raise LimitError.exceeded("question_characters", len(question), 200)
        return replace(self.answers[question], number=len(history or ()) + 1)


def turn(question: str, sql: str | None, *, abstained: bool = False, kind: tuple[str, ...] = ()) -> Turn:
    return Turn(question, sql, 0.9, abstained=abstained, kind=kind or ("independent",))


def example(talk: str, number: int, question: str, sql: str | None, **extra: object) -> Example:
    named = {"interaction": talk, "turn": number, **extra}
    return Example(f"{talk}-{number}", "ward", question, sql, extra=named)


def run(parser: Any, examples: Sequence[Example], schema: Schema, database: Path, **options: Any) -> Report:
    with DatabaseFiles(database, {"ward"}) as files:
        return evaluate(parser, examples, {"ward": schema}, files, Options(resamples=0, **options))


def talk(name: str, outcomes: str, **fields: Any) -> list[Judged]:
    """A conversation of turns that are right (r), wrong (w), or have no gold SQL (-)."""
    made = {"r": right, "w": wrong, "-": lambda name, **more: judged(name, gold=None, **more)}
    return [
        made[outcome](f"{name}{number}", extra={"interaction": name, "turn": number, **fields})
        for number, outcome in enumerate(outcomes)
    ]


# -------------------------------------------------------------------- the measures


def test_the_measures_are_those_of_the_paper() -> None:
    items = [*talk("a", "rrr"), *talk("b", "rwr"), *talk("c", "wr"), *talk("d", "r")]
    found = interaction_scores(items, resamples=0)
    assert found is not None
    assert (found.n, found.qm, found.im) == (4, Share(7, 9), Share(2, 4))
    # First failures: none of three turns (4), the second (2), the first (1), none of one turn (2).
    assert (found.iff, found.iff_perfect) == ((4 + 2 + 1 + 2) / 4, (4 + 4 + 3 + 2) / 4)
    assert found.iff_percent == pytest.approx(100 * 9 / 13)
    assert found.by_turn == {"1": Share(3, 4), "2": Share(2, 3), "3": Share(2, 2)}


def test_turns_from_the_fifth_on_are_counted_together() -> None:
    found = interaction_scores(talk("a", "rrrrrwr"), resamples=0)
    assert found is not None
    assert found.by_turn["5+"] == Share(2, 3)
    assert list(found.by_turn) == ["1", "2", "3", "4", "5+"]
    assert (found.iff, found.iff_perfect) == (6, 8)


def test_a_turn_without_gold_keeps_its_place_but_cannot_fail() -> None:
    (one,) = judged_interactions(talk("a", "r-w"))
    assert (one.first_failure, one.perfect, len(one.counted)) == (3, 4, 2)
    found = interaction_scores([*talk("a", "r-r"), *talk("b", "--")], resamples=0)
    assert found is not None
    assert (found.n, found.qm, found.im) == (1, Share(2, 2), Share(1, 1))
    assert (found.iff, found.iff_perfect) == (4, 4)
    assert found.by_turn == {"1": Share(1, 1), "3": Share(1, 1)}
    assert interaction_scores(talk("b", "--"), resamples=0) is None


def test_without_any_result_queries_are_compared_but_for_values() -> None:
    outcomes = [("a", True, True), ("a", True, False), ("b", False, False), ("b", True, True)]
    items = [
        judged(f"{name}{n}", em=em, em_values=exact, extra={"interaction": name, "turn": n})
        for n, (name, em, exact) in enumerate(outcomes)
    ]
    found = interaction_scores(items, resamples=0)
    assert found is not None
    assert found.by_form
    assert found.to_json()["compared"] == "queries"
    assert (found.qm, found.im, found.iff) == (Share(3, 4), Share(1, 2), 2.0)
    assert found.by_turn == {"1": Share(1, 2), "2": Share(2, 2)}
    mixed = interaction_scores([*items, *talk("c", "w")], resamples=0)
    assert mixed is not None
    assert (mixed.by_form, mixed.qm) == (False, Share(0, 1))


def test_kinds_are_those_stated_and_otherwise_the_parsers() -> None:
    stated = talk("a", "rw", kinds=["referential", "filtering"])
    written = [replace(item, kinds=("modifying",)) for item in (*stated, *talk("b", "r"))]
    found = interaction_scores([*written, *talk("c", "w")], resamples=0)
    assert found is not None
    assert found.by_kind == {
        "referential": Share(1, 2),
        "filtering": Share(1, 2),
        "modifying": Share(1, 1),
    }


def test_intervals_draw_whole_conversations() -> None:
    items = [item for number in range(60) for item in talk(str(number), "rrrr" if number % 2 else "wwww")]
    found = interaction_scores(items, resamples=200)
    assert found is not None
    assert found.intervals is not None
    # All turns of a conversation are right or wrong together, so the interval of QM is as wide as that of IM.
    assert found.intervals["qm"] == found.intervals["im"]
    low, high = found.intervals["iff"]
    assert low < found.iff == 3 < high
    assert found == interaction_scores(items, resamples=200)
    few = interaction_scores(items[:8], resamples=20)
    assert few is not None
    assert few.intervals is not None
    assert few.intervals["im"] == Share(1, 2).interval()
    assert (few.wilson, found.wilson) == (("qm", "im"), ())


# -------------------------------------------------------------------- the asking


@pytest.fixture
def talks() -> tuple[Example, ...]:
    """Two conversations, one among the other."""
    return (
        example("a", 0, "Who is there?", ALL),
        example("b", 0, "Which are women?", WOMEN),
        example("a", 1, "Only the women", WOMEN),
        example("a", 2, "And heavy ones", HEAVY),
        example("b", 1, "All, please", ALL),
    )


def test_each_turn_is_asked_after_those_of_its_conversation(
    talks: Sequence[Example], schema: Schema, database: Path
) -> None:
    parser = Talker({one.question: turn(one.question, one.sql) for one in talks})
    report = run(parser, talks, schema, database)
    asked = [
        (question, [one.question for one in history])
        for question, history in parser.asked
        if history is not None
    ]
    assert asked == [
        ("Who is there?", []),
        ("Only the women", ["Who is there?"]),
        ("And heavy ones", ["Who is there?", "Only the women"]),
        ("Which are women?", []),
        ("All, please", ["Which are women?"]),
    ]
    assert [item.example.id for item in report.judged] == ["a-0", "b-0", "a-1", "a-2", "b-1"]
    figures = report.to_json()
    assert figures["interactions"]["im"] == figures["ex"] == 100
    assert figures["n"] == 5


def test_errors_are_carried_on_and_gold_is_never_given(
    talks: Sequence[Example], schema: Schema, database: Path
) -> None:
    answers = {one.question: turn(one.question, one.sql) for one in talks}
    answers["Only the women"] = turn("Only the women", f"{ALL} WHERE gender = 'm'", kind=("filtering",))
    answers["And heavy ones"] = turn("And heavy ones", None, abstained=True)
    parser = Talker(answers)
    figures = run(parser, talks, schema, database).to_json()["interactions"]
    (history,) = (history for question, history in parser.asked if question == "And heavy ones")
    assert history is not None
    assert [one.best for one in history] == [ALL, f"{ALL} WHERE gender = 'm'"]
    assert (figures["qm"], figures["im"]) == (60, 50)
    assert (figures["iff"], figures["iff_perfect"]) == (2.5, 3.5)
    assert {kind: found["n"] for kind, found in figures["by_kind"].items()} == {
        "independent": 3,
        "filtering": 1,
    }


def test_a_refused_query_is_history_too_and_counts(
    talks: Sequence[Example], schema: Schema, database: Path
) -> None:
    parser = Talker({one.question: turn(one.question, one.sql, abstained=True) for one in talks})
    report = run(parser, talks, schema, database)
    given = [one for _, history in parser.asked for one in history or ()]
    assert given
    assert not any(one.abstained for one in given)
    assert all(item.prediction.abstained for item in report.judged)
    figures = report.to_json()
    assert figures["interactions"]["qm"] == 100
    assert figures["abstained"] == 5


def test_a_turn_that_ends_in_an_error_is_no_history(schema: Schema, database: Path) -> None:
    items = [example("a", 0, "x" * 201, ALL), example("a", 1, "Only the women", WOMEN)]
    parser = Talker({"Only the women": turn("Only the women", WOMEN)})
    report = run(parser, items, schema, database)
    assert parser.asked[-1] == ("Only the women", ())
    assert report.errors == ("LimitError",)
    figures = report.to_json()["interactions"]
    assert (figures["qm"], figures["iff"], figures["by_kind"]["independent"]["n"]) == (50, 1, 1)


def test_a_turn_without_gold_is_asked_and_given_on(schema: Schema, database: Path) -> None:
    items = [example("a", 0, "What is her phone number?", None), example("a", 1, "Only the women", WOMEN)]
    parser = Talker(
        {
            "What is her phone number?": turn("What is her phone number?", None, abstained=True),
            "Only the women": turn("Only the women", WOMEN),
        }
    )
    figures = run(parser, items, schema, database).to_json()
    assert [one.question for one in parser.asked[-1][1] or ()] == ["What is her phone number?"]
    assert (figures["interactions"]["qm"], figures["interactions"]["iff"]) == (100, 3)
    assert figures["rs"]["10"] == 100


def test_questions_of_no_conversation_are_asked_without_a_history(
    talks: Sequence[Example], schema: Schema, database: Path
) -> None:
    single = [replace(one, extra={}) for one in talks]
    parser = Talker({one.question: turn(one.question, one.sql) for one in talks})
    figures = run(parser, single, schema, database).to_json()
    assert all(history is None for _, history in parser.asked)
    assert "interactions" not in figures


def test_a_parser_without_history_and_turns_out_of_order_are_refused(
    talks: Sequence[Example], schema: Schema, database: Path
) -> None:
    with pytest.raises(FastSQLError, match=r"FakeParser.*takes no history"):
        run(FakeParser({}), talks, schema, database)
    with pytest.raises(DatasetError, match="not behind the turn before it"):
        run(Talker({}), talks[::-1], schema, database)


def test_text_in_double_quotes_is_text_where_sqlite_takes_it_for_that(schema: Schema, database: Path) -> None:
    gold = WOMEN.replace("'", '"')
    if sqlite3.connect(":memory:").execute("PRAGMA compile_options").fetchall().count(("DQS=0",)):
        pytest.skip("an SQLite that takes text in double quotes runs this")
    parser = Talker({"Which are women?": turn("Which are women?", WOMEN)})
    figures = run(parser, [example("a", 0, "Which are women?", gold)], schema, database).to_json()
    assert (figures["ex"], figures["em_values"], figures["details"]["gold_failed"]) == (100, 100, 0)


# -------------------------------------------------------------------- where they are shown


def test_the_page_shows_conversations_and_the_figures_name_none() -> None:
    pytest.importorskip("matplotlib", reason="pip install matplotlib runs this")
    items = [*talk("Hyperion", "rwr", kinds=["filtering"]), *talk("b", "rr")]
    report = Report(tuple(items), resamples=20)
    shown = page(report, "conversations")
    assert "<h2>Conversations</h2>" in shown
    assert "at best 3.50" in shown
    assert re.search(
        r"at best 3\.50</td><td class=number>2\.50</td><td class=number>2\.00 to 3\.00</td>", shown
    )
    assert "(Wilson)</td></tr>" in shown
    assert "By kind of turn" in shown
    assert "Hyperion" not in json.dumps(report.to_json())
    assert "<h2>Conversations</h2>" not in page(Report((right("a"),), resamples=0), "none")
