"""Cells of a terminal: two for a Chinese character, none for a combining mark."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsql.view.cells import cells, clean, cut, pad, wrap

TEXT = st.text(st.sampled_from("ab ,'科室，e\u0301\u202e\x1b\u2028"), max_size=60)


def test_the_width_of_a_text_in_cells_depends_on_its_script() -> None:
    assert [cells(text) for text in ("", "abc", "科室", "ｗ", "e\u0301", "é")] == [0, 3, 4, 2, 1, 1]
    assert pad("科", 4) == "科  "
    assert pad("long", 2) == "long"


@pytest.mark.parametrize(
    ("text", "width", "kept"),
    [
        ("abc", 3, "abc"),
        ("abcdef", 5, "ab..."),
        ("科室科室", 7, "科室..."),
        ("科室科室", 6, "科..."),
        ("", 3, ""),
    ],
)
def test_cut_text_fits(text: str, width: int, kept: str) -> None:
    assert cut(text, width) == kept


def test_lines_end_between_words_and_beside_wide_characters() -> None:
    def lines(text: str, width: int) -> list[str]:
        return [text[start:end] for start, end in wrap(text, width)]

    assert lines("one two three", 8) == ["one two ", "three"]
    assert lines("abcdefgh", 3) == ["abc", "def", "gh"]
    assert lines("诊断为糖尿病", 6) == ["诊断为", "糖尿病"]
    assert lines("ab 诊断", 5) == ["ab 诊", "断"]
    assert lines("", 5) == []


@given(TEXT, st.integers(0, 20))
def test_cut_text_is_whole_or_all_that_fits_beside_the_dots(text: str, width: int) -> None:
    longest = max(n for n in range(len(text) + 1) if n == 0 or cells(text[:n]) + 3 <= width)
    assert cut(text, width) == (text if cells(text) <= width else text[:longest] + "...")


@given(TEXT, st.integers(4, 20))
def test_wrapping_keeps_every_character_and_the_width(text: str, width: int) -> None:
    shown = clean(text)
    assert len(shown) == len(text)
    spans = wrap(shown, width)
    assert "".join(shown[start:end] for start, end in spans) == shown
    assert all(cells(shown[start:end].rstrip()) <= width for start, end in spans)
    assert cells(cut(shown, width)) <= width


@given(st.text(max_size=50))
def test_clean_text_is_one_line_that_steers_nothing(text: str) -> None:
    assert len(clean(text)) == len(text)
    assert len(clean(text).splitlines()) <= 1
    assert not set(clean(text)) & set("\u202e\u2066\u200f\x1b\x07\x9b")
