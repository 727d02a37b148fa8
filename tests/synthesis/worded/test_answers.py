"""Which lines of a language model's answer become questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fastsql.limits import DEFAULT, Limits
from fastsql.synthesis.worded.answers import INVENTED, LONG, LOST, REPEATED, UNREADABLE, wordings_in
from fastsql.synthesis.worded.form import Form
from fastsql.synthesis.worded.kept import KeptAnswers

FORM = Form("SELECT", "How old is [TEXT_1] of [TEXT_2]?", {}, {"[TEXT_1]": "Ada", "[TEXT_2]": "Bonn"})


@pytest.mark.parametrize(
    "line",
    [
        "What is the age of [TEXT_1] from [TEXT_2]?",
        "1. What is the age of [TEXT_1] from [TEXT_2]?",
        "（2）[TEXT_2]的[TEXT_1]多大了？",
        '- "Age of [TEXT_1], [TEXT_2]"',
        "<think>they want 5 [TEXT_7]\nlines</think>Age of [TEXT_1] in [TEXT_2]",
    ],
)
def test_lines_that_keep_their_placeholders_are_taken(line: str) -> None:
    (found,), dropped = wordings_in(line, FORM, DEFAULT)
    assert not dropped
    assert "Ada" in FORM.fill(found)
    assert "Bonn" in FORM.fill(found)
    assert "TEXT" not in FORM.fill(found)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("What is the age of [TEXT_1]?", LOST),
        ("[TEXT_1] [TEXT_1] [TEXT_2] age?", LOST),
        ("[TEXT_1] [TEXT_2] [TEXT_3] age?", INVENTED),
        ("[Text_1] of [TEXT_1] [TEXT_2] age?", INVENTED),
        ("age of {TEXT_1} [TEXT_1] [TEXT_2]", INVENTED),
        ("how old is [text_1] of [TEXT_2] and [TEXT_1]?", INVENTED),
        ("HOW OLD IS [TEXT_1] OF [TEXT_2]", REPEATED),
        ("age of [TEXT_1] in [TEXT_2] " + "x" * 500, LONG),
        ("age \u202e [TEXT_1] [TEXT_2]", UNREADABLE),
        ("Here are questions about [TEXT_1] and [TEXT_2]:", UNREADABLE),
        ("[TEXT_1] [TEXT_2]", UNREADABLE),
    ],
)
def test_lines_that_are_no_wording_are_dropped_with_the_reason(line: str, why: str) -> None:
    assert wordings_in(line, FORM, Limits()) == ([], {why: 1})


def test_what_was_answered_is_kept_up_to_the_line_that_was_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    kept = KeptAnswers(file)
    kept.model = "toy"
    kept.put("a", "first\u2028line")
    kept.put("b", "second")
    whole = file.read_bytes()
    file.write_bytes(whole[:-5])
    again = KeptAnswers(file)
    assert (again.model, again.get("a"), again.get("b")) == ("toy", "first\u2028line", None)
    again.put("b", "second")
    assert file.read_bytes() == whole
    assert file.stat().st_mode & 0o077 == 0
    assert json.loads(whole.splitlines()[0]).keys() == {"model"}
