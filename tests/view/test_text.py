"""The terminal's view fits any width, lines up in any script, and cannot steer the terminal."""

from __future__ import annotations

import io
import sys
from dataclasses import replace

import pytest

from fastsql.explanation import Explanation, Reason, Trail
from fastsql.view.cells import cells
from fastsql.view.terminal import Page
from fastsql.view.text import bar

from ..background import Told
from .results import ANSWER, HOSTILE, QUESTION, REFUSAL, hostile


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_result_as_text_reads_as_a_page() -> None:
    assert ANSWER.explain().text(100, timings=False).splitlines() == [
        "Has patient 71021258 been prescribed warfarin this month?",
        "            ~~~1~~~~                 ~~~2~~~~ ~~~~3~~~~~",
        "",
        "Answered: confidence 0.94, needed 0.91",
        "0 ####################################|#.. 1",
        "",
        "SELECT COUNT(*) > 0",
        "FROM prescriptions",
        "WHERE prescriptions.hadm_id IN (",
        "  SELECT admissions.hadm_id",
        "  FROM admissions",
        "  WHERE admissions.subject_id = 71021258",
        ")",
        "AND prescriptions.drug = 'warfarin'",
        "",
        "Words of the question",
        "   1  71021258    value admissions.subject_id = 71021258  (a number)",
        "   2  warfarin    value prescriptions.drug = 'warfarin'  (a dictionary value)",
        "   3  this month  time prescriptions.starttime in the present month  (the calendar action)",
        "Beyond the words of the question",
        "  table prescriptions  (no word names it; probability 0.98)",
        "",
        "Other queries, by their confidence",
        "  0.26  prescriptions.drug = 'warfarin' -> prescriptions.drug IN ('warfarin')",
    ]


def test_decisions_and_timings_are_told_when_asked_for() -> None:
    lines = ANSWER.explain().text(100, decisions=True).splitlines()
    assert "    2  operand_value    28  0.875  candidate 'warfarin'" in lines
    assert lines[-3:] == ["Time: 403 ms", "  encode      3.2", f"  decode      400  {'#' * 40}"]
    assert str(ANSWER.explain()) == ANSWER.explain().text()
    assert "decisions" not in str(ANSWER.explain())


def test_a_refusal_shows_by_how_much() -> None:
    text = str(REFUSAL.explain())
    assert "Refused: confidence 0.907, needed 0.909\nIt is not sure enough.\n" in text


def test_what_did_not_work_on_the_way_is_told_of_answers_and_refusals() -> None:
    note = "No answer was looked at."
    text = str(replace(ANSWER, note=note).explain())
    assert f"Answered: confidence 0.94, needed 0.91\n{note}\n" in text
    assert f"It is not sure enough.\n{note}\n" in str(replace(REFUSAL, note=note).explain())


def test_the_best_guess_of_a_refusal_cannot_be_taken_for_an_answer() -> None:
    answer, refusal = ANSWER.explain().text(100).splitlines(), REFUSAL.explain().text(100).splitlines()
    sql = answer[answer.index("SELECT COUNT(*) > 0") :][:7]
    head = refusal.index("Best guess, not an answer")
    assert refusal[head + 1 : head + 8] == [f"? {line}" for line in sql]
    assert not any(line.startswith("SELECT") for line in refusal)
    assert "guess" not in ANSWER.explain().text(100)
    assert "guess" not in replace(REFUSAL, best=None, background=None).explain().text(100)


def test_the_probability_of_no_answer_stands_beside_the_confidence() -> None:
    text = str(replace(REFUSAL, unanswerable=0.071).explain())
    assert "Refused: confidence 0.907, needed 0.909; probability of no answer 0.07\n" in text
    assert "no answer" not in str(ANSWER.explain()), "a model that knows none says nothing of it"


def test_marks_stand_below_their_words_whatever_their_width() -> None:
    question = "患者张三的肌酐是多少 in 2100?"
    reasons = (
        Reason("column", "labevents.肌酐", "its name", (5, 7), "肌酐"),
        Reason("value", "2100", "", (14, 18), "2100"),
    )
    result = replace(ANSWER, question=question, background=Told(led_to=Trail(reasons)))
    first, second = str(result.explain()).splitlines()[:2]
    assert first == question
    assert second == " " * cells("患者张三的") + "~1~~" + " " * cells("是多少 in ") + "~2~~"


def test_rows_line_up_behind_wide_words() -> None:
    question = "肌酐 or warfarin"
    reasons = (Reason("column", "x.a", "", (0, 2), "肌酐"), Reason("value", "y", "", (6, 14), "warfarin"))
    result = replace(ANSWER, question=question, background=Told(led_to=Trail(reasons)))
    rows = [line for line in str(result.explain()).splitlines() if line.startswith("   ")]
    assert [cells(row[: row.index("column" if "column" in row else "value")]) for row in rows[-2:]] == [
        16,
        16,
    ]


@pytest.mark.parametrize("width", [1, 40, 57, 100, 200])
@pytest.mark.parametrize("text", HOSTILE)
def test_no_line_is_wider_than_it_may_be_and_none_steers(text: str, width: int) -> None:
    told: Explanation = hostile(text).explain()
    for line in told.text(width, decisions=True).splitlines():
        assert cells(line) <= max(width, 48), line
        assert all(character.isprintable() or character == " " for character in line)


@pytest.mark.parametrize("width", [40, 60, 90])
def test_wrapping_loses_nothing(width: int) -> None:
    lines = ANSWER.explain().text(width).splitlines()
    shown = "".join("".join(lines).split())
    assert "".join(QUESTION.split()) in "".join("".join(line.split()) for line in lines if "~" not in line)
    assert "prescriptions.starttimeinthepresentmonth" in shown


def test_bars_show_shares_and_a_place() -> None:
    assert (bar(0, 4), bar(0.5, 4), bar(1, 4), bar(7, 4), bar(-1, 4)) == (
        "....",
        "##..",
        "####",
        "####",
        "....",
    )
    assert bar(0.5, 10, 0.9) == "#####....|"
    assert bar(0.5, 10, 1.0) == "#####....|"


def test_show_writes_to_a_stream_that_knows_ascii_only() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    replace(ANSWER, question="肌酐?").show(stream, width=80)
    stream.flush()
    assert raw.getvalue().startswith(b"???\n")


def test_show_writes_to_the_standard_output_as_it_is_then(capsys: pytest.CaptureFixture[str]) -> None:
    ANSWER.show(timings=False, width=100)
    assert capsys.readouterr().out == ANSWER.explain().text(100, timings=False) + "\n"


def test_a_terminal_gets_colours_where_rich_is_installed() -> None:
    pytest.importorskip("rich", reason="pip install rich to run this")
    stream = Terminal()
    ANSWER.show(stream, width=100)
    assert "\x1b[" in stream.getvalue()
    # Nothing that looks like rich's own markup is taken for it.
    stream = Terminal()
    replace(ANSWER, question="[bold]x[/bold]", background=None, links=()).show(stream)
    assert "[bold]x[/bold]" in stream.getvalue()


def test_a_terminal_gets_plain_text_without_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    stream = Terminal()
    assert Page(stream).rich is None
    ANSWER.show(stream, width=100)
    assert stream.getvalue() == ANSWER.explain().text(100) + "\n"
