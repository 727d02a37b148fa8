"""``fastsql demo`` shows question, links, SQL, rows and confidence, and then listens."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fastsql.demo import CONVERSATION, NOW, QUESTIONS

from .conftest import Loader, Outcome

Run = Callable[..., Outcome]
ASK = ("demo", "--ask", "Which patients are women?")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_an_answer_is_shown_with_its_evidence(run: Run) -> None:
    outcome = run(*ASK)
    assert outcome.status == 0, outcome.err
    assert "1. Which patients are women?" in outcome.out
    assert "women  ->  column patients.gender" in outcome.out
    assert "SELECT patients.subject_id FROM patients" in outcome.out
    assert "subject_id\n   71021" in outcome.out
    assert "more not shown" in outcome.out
    assert "confidence 0.90; ms: encode 1.5" in outcome.out


def test_the_whole_explanation_is_shown_when_asked_for(run: Run) -> None:
    outcome = run(*ASK, "--explain")
    assert outcome.status == 0, outcome.err
    assert "\n   Which patients are women?\n                      ~~1~~\n" in outcome.out
    assert "   Answered: confidence 0.90\n" in outcome.out
    assert "   FROM patients\n   WHERE patients.gender = 'f'\n" in outcome.out
    assert "subject_id\n   71021" in outcome.out


def test_a_refusal_is_shown_with_its_reason(run: Run) -> None:
    outcome = run("demo", "--ask", "Which nurse was it?")
    assert "refused: nothing in the schema fits" in outcome.out
    assert "SELECT" not in outcome.out


def test_the_best_guess_of_a_refusal_is_told_apart_and_not_run(run: Run) -> None:
    outcome = run("demo", "--ask", "And who was it?")
    assert (
        "refused: nothing in the schema fits\n   Best guess, not an answer\n   ? SELECT patients"
        in outcome.out
    )
    assert " rows in " not in outcome.out


def test_the_demo_s_own_questions_are_asked_at_the_hospital_s_time(run: Run, loader: Loader) -> None:
    outcome = run("demo")
    calls = loader.parsers[0].calls
    assert [call["question"] for call in calls] == [*QUESTIONS, *CONVERSATION]
    assert {call["now"] for call in calls} == {NOW}
    assert [len(call["history"]) for call in calls if "history" in call] == [0, 1, 2]
    assert f"{len(QUESTIONS)}. {QUESTIONS[-1]}" in outcome.out
    assert f"{len(QUESTIONS) + 3}. {CONVERSATION[-1]}" in outcome.out


def test_the_schema_has_small_domains_and_names_are_looked_up(run: Run, loader: Loader) -> None:
    run(*ASK)
    (call,) = loader.parsers[0].calls
    schema, values = call["schema"], call["values"]
    assert set(schema.columns[schema.column_index("patients", "gender")].values) == {"f", "m"}
    assert schema.columns[schema.column_index("prescriptions", "drug")].values == ()
    (match,) = values.match("Who got warfarin?")
    assert match.values[0][0] == "warfarin"


def test_questions_are_taken_from_a_terminal_until_an_empty_line(
    run: Run, loader: Loader, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed: Iterator[str] = iter(["Which women came?", "Who else?", ""])
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("builtins.input", lambda prompt: next(typed))
    outcome = run("demo")
    assert outcome.status == 0
    *_, first, second = loader.parsers[0].calls
    assert [call["question"] for call in (first, second)] == ["Which women came?", "Who else?"]
    assert [len(call["history"]) for call in (first, second)] == [3, 4]


def test_the_end_of_input_ends_the_conversation(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("builtins.input", end)
    assert run("demo").status == 0


def test_a_question_beyond_the_limits_does_not_end_the_demo(run: Run) -> None:
    outcome = run("demo", "--ask", "why " * 100, "--ask", "Which are women?")
    assert outcome.status == 0
    assert "question_characters" in outcome.out
    assert "2. Which are women?" in outcome.out


def test_the_hospital_can_be_kept_and_used_again(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "hospital.sqlite"
    assert run(*ASK, "--keep", path).status == 0
    content = path.read_bytes()
    assert run(*ASK, "--keep", path).status == 0
    assert path.read_bytes() == content


def test_a_missing_model_is_an_error(run: Run) -> None:
    outcome = run("demo", "--model", "nowhere")
    assert outcome.status == 2
    assert "no such model" in outcome.err
