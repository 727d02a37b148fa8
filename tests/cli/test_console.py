"""Output is readable on a plain stream, in any script, and cannot steer the terminal."""

from __future__ import annotations

import io

import pytest

from fastsql.cli.console import Console


def console() -> tuple[Console, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    return Console(out, err), out, err


def test_tables_line_up_even_with_wide_characters() -> None:
    shown, out, _ = console()
    shown.table(("科室", "n"), [("内科", 3), ("icu", None), ("x", 2.5)])
    assert out.getvalue() == "科室  n\n内科  3\nicu   NULL\nx     2.5\n"


def test_long_cells_are_cut_and_control_characters_are_blanked() -> None:
    shown, out, _ = console()
    shown.table(("x",), [("a" * 100,), ("\x1b[31mred\r\n",), ("\u202eabc",)])
    lines = out.getvalue().splitlines()
    assert lines[1] == "a" * 57 + "..."
    assert "\x1b" not in out.getvalue()
    assert "\u202e" not in out.getvalue()


def test_sql_is_wrapped_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    shown, out, _ = console()
    sql = "SELECT patients.subject_id FROM patients WHERE patients.gender = 'f' AND patients.weight > 60"
    shown.sql(sql, indent="  ")
    lines = out.getvalue().splitlines()
    assert len(lines) == 2
    assert all(len(line) <= 50 for line in lines)
    assert " ".join(line.strip() for line in lines) == sql


def test_a_plain_stream_gets_one_line_at_the_end_of_short_work() -> None:
    shown, _, err = console()
    assert list(shown.track(range(5), "parsing", 5)) == [0, 1, 2, 3, 4]
    assert err.getvalue().startswith("parsing: 5 in ")
    assert err.getvalue().count("\n") == 1


def test_nothing_to_track_is_fine() -> None:
    shown, _, err = console()
    assert list(shown.track([], "parsing", 0)) == []
    assert err.getvalue().startswith("parsing: 0 in ")
