"""The report page stands on its own, warns of what it shows, and shows it safely."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fastsql.evaluation import Report
from fastsql.evaluation.page import page, write_page
from fastsql.evaluation.page_examples import marked
from fastsql.evaluation.provenance import Provenance

from .judging import judged, right, wrong

pytest.importorskip("matplotlib", reason="pip install matplotlib runs this")

ITEMS = (
    right("a", hardness="easy"),
    wrong(
        "b",
        "values",
        question="哪些患者是女性？",
        gold="SELECT x FROM t WHERE s = '女'",
        sql="SELECT x FROM t WHERE s = '男'",
    ),
    wrong("c", "filters", question="<script>alert(1)</script> & co", confidence=0.9, hardness="beyond"),
    wrong("d", "filters", confidence=0.1, abstained=True),
    judged("e", gold=None, question="Who has a dog?"),
)


class Elements(HTMLParser):
    """Collects the elements of a page with their attributes, and checks that they are closed in order."""

    VOID = ("meta", "br", "link", "img")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def shown(items: tuple[object, ...] = ITEMS, examples: int = 3) -> str:
    return page(Report(items, resamples=20), "Evaluation <of> data", examples=examples)  # type: ignore[arg-type]


def test_the_page_asks_for_nothing_from_elsewhere() -> None:
    elements = Elements(shown()).found
    tags = {tag for tag, _ in elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "base", "form"}
    policies = [attributes["content"] for _, attributes in elements if attributes.get("http-equiv")]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]
    links = [
        value
        for _, attributes in elements
        for key, value in attributes.items()
        if key in ("href", "xlink:href", "src")
    ]
    assert links
    assert all((link or "").startswith("#") for link in links)
    assert not re.search(r"url\((?!#)|@import", shown())


def test_the_page_says_that_it_shows_questions_before_it_shows_any() -> None:
    text = shown()
    assert 0 < text.index("This page shows questions and SQL") < text.index("哪些患者是女性")


def test_questions_are_text_and_never_markup() -> None:
    text = shown()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co" in text
    assert "<script" not in text
    assert "<title>Evaluation &lt;of&gt; data</title>" in text


def test_examples_are_limited_and_each_is_shown_once() -> None:
    one, none = shown(examples=1), shown(examples=0)
    assert one.count("Who has a dog?") == 1
    assert "example 1</a>" in one
    # One each of answered wrongly, answered the unanswerable, refused and wrong, and values; filters has been shown.
    assert one.count("class=example") == 4
    assert "哪些患者是女性" not in none
    assert "class=example" not in none


def test_every_category_is_counted_with_its_meaning() -> None:
    text = re.sub("<[^>]+>", " ", shown())
    assert re.search(r"filters\s+2\s+conditions of WHERE and HAVING", text)
    assert re.search(r"answered the unanswerable\s+1\s", text)


def test_every_share_has_an_interval_and_the_page_says_whose() -> None:
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", shown()))
    # One of four answerable questions is right; by hardness, one of one easy question is.
    assert "execution accuracy, % 25.0 4.6 to 69.9 (Wilson) 4.6 to 69.9 (Wilson)" in text
    assert "easy 1 100.0 (20.7 to 100.0)" in text
    assert "fewer than 40 questions" in text
    assert text.count("Wilson's 95 % intervals, by question") == 2


def test_a_page_says_what_was_measured() -> None:
    report = Report(
        ITEMS, Provenance(model="<b>ward</b>", penalty=2, seed=9, command="fastsql eval 'x'"), resamples=0
    )
    text = page(report, "x")
    assert "<td>model</td><td>&lt;b&gt;ward&lt;/b&gt;</td>" in text
    assert "penalty 2" in text
    assert "all 5, seed 9" in text
    assert "fastsql eval &#x27;x&#x27;" in text


@pytest.mark.parametrize("items", [ITEMS[:1], ITEMS[4:], ()], ids=["right", "unanswerable", "none"])
def test_a_page_is_written_of_whatever_there_is(items: tuple[object, ...]) -> None:
    Elements(shown(items))


def test_a_broken_character_does_not_lose_the_page(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_page(path, Report((wrong("a", "values", question="half a \ud83d"),), resamples=0), "x")
    assert "half a ?" in path.read_text(encoding="utf-8")


def test_words_that_differ_are_marked_whatever_their_letter_case_and_white_space() -> None:
    gold, predicted = marked("select a  from t where b < 'x y'", "SELECT a FROM t WHERE b < 'z'")
    assert gold == "select a  from t where b &lt; <mark>&#x27;x y&#x27;</mark>"
    assert predicted == "SELECT a FROM t WHERE b &lt; <mark>&#x27;z&#x27;</mark>"
    assert marked("SELECT 1", "") == ("SELECT 1", "")
