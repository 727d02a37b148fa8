"""A question fits a wording where it says the same but for what stands in the gaps."""

from __future__ import annotations

import pytest

from fastsql.memory.wording import MOST_GAPS, Wording, covered, masked_text, words_of


def wording(text: str, *said: str) -> Wording:
    found = Wording.of(text, [(text.index(one), text.index(one) + len(one)) for one in said])
    assert found is not None
    return found


def fillings(known: Wording, question: str) -> list[dict[int, str]]:
    words = words_of(question)
    return [
        {gap: question[words[first].start : words[last - 1].end] for gap, (first, last) in way.items()}
        for way in known.ways(words)
    ]


@pytest.mark.parametrize(
    ("asked", "said", "question", "found"),
    [
        ("Where is patient 7?", ["7"], "where is patient 12", [{0: "12"}]),
        ("Who took it in 7?", ["it", "7"], "Who took St. John's wort in 8?", [{0: "St. John's wort", 1: "8"}]),
        ("Who has wheat (substance)?", ["wheat (substance)"], "Who has dust (mite)?", [{0: "dust (mite)"}]),
        ("Did 'x' follow x?", ["x"], "Did 'y' follow y?", [{0: "y"}]),
        ("Did 'x' follow x?", ["x"], "Did 'y' follow z?", []),
        ("Is 5 above 5 or 6?", ["5", "6"], "Is 7 above 7 or 8?", [{0: "7", 1: "8"}]),
        ("Where is patient 7?", ["7"], "Where was patient 12?", []),
        ("Where is patient 7?", ["7"], "Where is patient?", []),
        ("Who is above 7?", ["7"], "Who is above 7 or so?", [{0: "7 or so"}]),
        ("Whose x < 7?", ["7"], "Whose x > 7?", []),
        ("患者7的年龄", ["7"], "患者12的年龄？", [{0: "12"}]),
        ("有多少人得了败血症", ["败血症"], "有多少人得了肺炎？", [{0: "肺炎"}]),
        ("有多少人得了败血症", ["败血症"], "有多少人未得肺炎", []),
        ("How many are there?", [], "how many  are there", [{}]),
    ],
)  # fmt: skip
def test_gaps_take_what_another_question_says_there(
    asked: str, said: list[str], question: str, found: list[dict[int, str]]
) -> None:
    assert fillings(wording(asked, *said), question) == found


def test_all_ways_to_fill_the_gaps_are_found() -> None:
    known = wording("Where is Ann Smith?", "Ann", "Smith")
    found = fillings(known, "Where is Mary Ann Smith?")
    assert sorted(way[0] for way in found) == ["Mary", "Mary Ann"]


def test_too_many_ways_to_fill_the_gaps_count_as_none() -> None:
    names = [f"n{number}" for number in range(MOST_GAPS)]
    known = wording(" ".join(names), *names)
    assert len(known.ways(words_of(" ".join(names)))) == 1
    assert known.ways(words_of(" ".join(["x"] * 60))) == []


def test_a_wording_has_a_gap_for_each_of_at_most_sixteen_spans() -> None:
    text = " ".join(f"n{number}" for number in range(MOST_GAPS + 1))
    spans = [(word.start, word.end) for word in words_of(text)]
    assert Wording.of(text, spans[:MOST_GAPS]) is not None
    assert Wording.of(text, spans) is None


@pytest.mark.parametrize("spans", [[(0, 4)], [(0, 9), (6, 14)], [(14, 15)]], ids=["half", "crossing", "mark"])
def test_there_is_no_wording_where_it_is_unclear_what_a_literal_covers(spans: list[tuple[int, int]]) -> None:
    assert Wording.of("aspirin tablets?", spans) is None


def test_words_covered_are_whole_ones() -> None:
    words = words_of("took A1c, twice")
    assert covered(words, (5, 8)) == (1, 2)
    assert covered(words, (4, 10)) == (1, 2)
    assert covered(words, (5, 7)) is None
    assert covered(words, (8, 9)) is None


def test_literals_and_numbers_are_masked() -> None:
    assert masked_text("Did Ann Lee take 5 mg of A-7b?", [(4, 11), (8, 11)]) == "Did _ take _ mg of _?"
    assert masked_text("患者7的年龄", []) == "患者_的年龄"


def test_the_repr_of_a_wording_shows_no_word() -> None:
    assert "aspirin" not in repr(wording("Who took aspirin?"))
