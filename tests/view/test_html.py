"""The HTML view says everything, stands alone, and shows whatever it is given as text and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from fastsql import Parser, Schema
from fastsql.explanation import Reason, Trail
from fastsql.result import Result
from fastsql.view.markup import escaped
from fastsql.view.style import STYLE

from ..background import Told
from .results import ANSWER, HOSTILE, REFUSAL, hostile

_VOID = {"br", "line", "rect"}
_TAGS = _VOID | {
    *("section", "style", "p", "span", "mark", "bdi", "sup", "svg", "h4", "pre", "code", "small"),
    *("table", "thead", "tbody", "tr", "th", "td", "details", "summary", "del", "ins"),
}
_ATTRIBUTES = {
    *("class", "dir", "aria-label", "role", "scope", "open", "data-mark"),
    *("width", "height", "x1", "x2", "y1", "y2"),
}


class Page(HTMLParser):
    """Reads a page as a browser does; fails on tags, attributes or nesting that the view never writes."""

    def __init__(self, content: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text = ""
        self.marked: list[str] = []
        self.feed(content)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _TAGS
        assert {name for name, _ in attrs} <= _ATTRIBUTES
        if tag not in _VOID:
            self.open.append(tag)
        if tag == "mark":
            self.marked.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError("the view writes no comments")

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            assert data == STYLE
            return
        self.text += data
        if "mark" in self.open and "sup" not in self.open:
            self.marked[-1] += data


def shown(result: Result) -> Page:
    return Page(result._repr_html_())


def test_a_result_as_html_says_what_the_words_stand_for_and_why() -> None:
    page = shown(ANSWER)
    assert page.marked == ["71021258", "warfarin", "this month"]
    for said in (
        *("prescriptions.drug = 'warfarin'", "a dictionary value", "the calendar action", "no word names it"),
        *("✓ Answered", "confidence 0.94, needed 0.91", "403 ms", "3.2", "20"[:0] + "2 decisions"),
    ):
        assert said in page.text


def test_a_mark_has_the_same_number_in_question_list_and_sql() -> None:
    content = ANSWER._repr_html_()
    assert "<bdi>warfarin</bdi><sup>2</sup></mark>" in content
    assert "<tr><td>2</td><td><bdi>warfarin</bdi></td>" in content
    assert '<span class="literal" data-mark="2">&#x27;warfarin&#x27;</span>' in content


def test_a_refusal_says_why_and_by_how_much() -> None:
    page = shown(REFUSAL)
    assert "✗ Refused, confidence 0.907, needed 0.909" in page.text
    assert "It is not sure enough." in page.text
    assert "probability of no answer" not in page.text


def test_what_did_not_work_on_the_way_is_told() -> None:
    assert "No answer <was> looked at." in shown(replace(ANSWER, note="No answer <was> looked at.")).text


def test_the_probability_of_no_answer_stands_beside_the_confidence() -> None:
    result = replace(REFUSAL, unanswerable=0.071)
    told = "confidence 0.907, needed 0.909; probability of no answer 0.07"
    assert f"✗ Refused, {told}" in shown(result).text
    assert f'aria-label="{told}"' in result._repr_html_()


def test_an_alternative_shows_where_it_differs() -> None:
    content = ANSWER._repr_html_()
    assert "<del>prescriptions.drug = &#x27;warfarin&#x27;</del>" in content
    assert "<ins>prescriptions.drug IN (&#x27;warfarin&#x27;)</ins>" in content


def test_nothing_is_told_by_a_picture_alone() -> None:
    content = ANSWER._repr_html_()
    images = re.findall(r"<svg[^>]*>", content)
    assert len(images) == 1 + len(ANSWER.explain().decisions) + len(ANSWER.timings)
    assert all('role="img" aria-label="' in image for image in images)
    assert 'aria-label="confidence 0.94, needed 0.91"' in content


def test_kinds_of_marks_differ_in_more_than_colour() -> None:
    drawn = {
        kind: re.search(rf"\.{kind} {{{{?[^}}]*text-decoration-style:(\w+)", STYLE)
        for kind in ("value", "time", "column", "table")
    }
    assert len({match and match[1] for match in drawn.values()}) == 4
    assert None not in drawn.values()


def _luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_has_contrast_in_light_and_dark() -> None:
    """WCAG 2.1, 1.4.3: at least 4.5 to 1."""
    modes = set(re.findall(r"--ground:#.*?--bar", STYLE, re.DOTALL))
    assert len(modes) == 2
    for mode in modes:
        colours = dict(re.findall(r"--(\w+):(#\w{6})", mode))
        for ground in ("ground", "panel"):
            for name in ("ink", "faint", "good", "bad", "value", "column", "table", "time", "gone"):
                pair = sorted((_luminance(colours[name]), _luminance(colours[ground])))
                assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, (name, ground)


def test_the_html_of_an_answer_loads_nothing_from_elsewhere() -> None:
    content = ANSWER._repr_html_()
    assert not re.search(r"(?i)url\(|@import|https?:|<link|<script|src=", content)


def test_the_style_of_an_answer_reaches_nothing_else_on_the_page() -> None:
    rules = re.sub(r"@media[^{]*\{", "", STYLE)
    selectors = [one for rule in re.findall(r"([^{}]+)\{[^{}]*\}", rules) for one in rule.split(",")]
    assert len(selectors) > 20
    assert all(".fastsql-view" in selector for selector in selectors)


# ---------------------------------------------------------------- hostile text


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_is_said_is_shown_as_text(text: str) -> None:
    page = shown(hostile(text))
    plain = "".join(c for c in text if c.isalnum())
    found = "".join(c for c in page.text if c.isalnum())
    if len(text) == len(escaped(text)):
        assert found.count(plain) >= 8
    for character in "\u202e\u202c\u2066\u2069\x1b\x07\r":
        assert character not in page.text


@pytest.mark.parametrize("text", HOSTILE)
def test_names_and_labels_of_a_schema_are_shown_as_text(toy: Parser, text: str) -> None:
    names = [f"{text[:40]} {number}" for number in range(3)]
    schema = Schema.from_dict({name: {f"{name} a": "TEXT", f"{name} b": "INTEGER"} for name in names})
    result = toy.parse(f"how many {text} have 'sepsis' since 2100?", schema)
    assert result.best
    assert shown(result).text


def test_steering_characters_are_shown_by_their_number() -> None:
    assert escaped("a\u202eb\x1b") == (
        'a<span class="steer">[U+202E]</span>b<span class="steer">[U+001B]</span>'
    )
    assert escaped("家👨\u200d⚕\ufe0f\u200c") == "家👨\u200d⚕\ufe0f\u200c"


def test_a_text_of_any_length_makes_a_light_page() -> None:
    result = replace(
        ANSWER, question="x" * 10**6, background=Told(led_to=Trail((Reason("table", "t" * 10**6, "w"),)))
    )
    assert "980,000 characters more" in shown(result).text
    assert len(result._repr_html_()) < 10**5


def test_a_result_without_a_trail_shows_its_links() -> None:
    bare = replace(ANSWER, background=None)
    page = shown(bare)
    assert page.marked == ["warfarin"]
    assert "a dictionary value of prescriptions.drug" in page.text
    assert "Refused" in shown(Result("?", None, 0.0, abstained=True, reason="no")).text


def test_the_best_guess_of_a_refusal_stands_apart() -> None:
    answer, refusal = ANSWER._repr_html_(), REFUSAL._repr_html_()
    assert "<h4>SQL</h4><pre><code>" in answer
    assert 'class="guess"' not in answer
    assert '<h4>Best guess, not an answer</h4><pre class="guess"><code>' in refusal
    assert "<h4>SQL</h4>" not in refusal
    assert shown(REFUSAL).text.count("subject_id = 71021258") == shown(ANSWER).text.count(
        "subject_id = 71021258"
    )
    assert re.search(r"\.guess \{[^}]*border-style:dashed", STYLE), "not by colour alone"
    assert "guess</h4>" not in replace(REFUSAL, best=None, background=None)._repr_html_()


@pytest.mark.parametrize("text", HOSTILE)
def test_a_guess_is_escaped_as_an_answer_is(text: str) -> None:
    refused = hostile(text)
    answered = replace(refused, abstained=False)
    told = [
        re.search(r"<pre[^>]*><code>(.*?)</code></pre>", one._repr_html_(), re.DOTALL)
        for one in (refused, answered)
    ]
    assert told[0] is not None
    assert told[1] is not None
    assert told[0][1] == told[1][1]
