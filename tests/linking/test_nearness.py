"""The distance between texts that are nearly the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsql.linking.folding import keys
from fastsql.linking.nearness import distance, edits

letters = st.text("abc1é急性", max_size=70)
words = st.lists(st.text("abc1急", min_size=1, max_size=7), max_size=6)

NEARER = [
    ("ceftriaxon", "Ceftriaxone", "Cefazolin"),  # a letter is missing
    ("asprin", "aspirin", "aspirin EC"),
    ("hepairn", "heparin", "hepatitis"),  # two letters are swapped
    ("blood cultures", "BLOOD CULTURE", "blood count"),  # a plural
    ("kidney disease, chronic", "Chronic kidney disease", "Chronic liver disease"),  # the order of words
    ("renal failure", "acute renal failure", "acute liver failure"),  # a word is missing
    ("heartrate", "heart rate", "heart size"),  # blanks
    ("x ray", "X-Ray", "x-rays"),  # punctuation
    ("gluc", "glucose", "glue"),  # an abbreviation
    ("ckd", "chronic kidney disease", "card"),  # initials
    ("stage 3", "stage 3a", "stage 4"),  # numbers are another thing
    ("肾衰竭急性", "急性肾衰竭", "急性胃炎"),
    ("高血圧症", "高血圧", "低血圧"),
    ("Nierenversagn", "Nierenversagen", "Herzversagen"),
]


@pytest.mark.parametrize(("said", "near", "far"), NEARER)
def test_what_is_meant_is_nearer_than_what_resembles_it(said: str, near: str, far: str) -> None:
    assert distance(keys(said), keys(near)) < distance(keys(said), keys(far))


@pytest.mark.parametrize(
    ("one", "other", "far"),
    [
        ("heart rate", "Heart-Rate", 0.0),
        ("heart rate", "heartrate", 0.5 / 9),
        ("asprin", "aspirin", 1 / 7),
        ("renal failure", "failure renal", 1 / 12),
        ("renal failure", "acute renal failure", 2.5 / 17),
        ("gluc", "glucose", 1.5 / 7),
        ("ckd", "chronic kidney disease", 0.25),
        ("stage 3", "stage 4", 10 / 2 / 6 * 1.8),
        ("swab", "", 1.0),
        ("", "", 0.0),
    ],
)
def test_each_way_of_differing_has_its_price(one: str, other: str, far: float) -> None:
    assert distance(keys(one), keys(other)) == pytest.approx(min(far, 1.0))


@given(words, words)
def test_the_distance_is_symmetric_and_zero_for_equal_words_alone(one: list[str], other: list[str]) -> None:
    far = distance(one, other)
    assert far == distance(other, one)
    assert 0 <= far <= 1
    assert (far == 0) == (one == other)


@given(letters, letters)
def test_edits_are_those_of_rapidfuzz(one: str, other: str) -> None:
    osa = pytest.importorskip("rapidfuzz.distance", reason="needs rapidfuzz: pip install rapidfuzz").OSA
    assert edits(one, other) == osa.distance(one, other)


@given(letters, letters)
def test_edits_are_those_of_the_textbook(one: str, other: str) -> None:
    rows = [list(range(len(other) + 1))]
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, against in enumerate(other, 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (letter != against))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    assert edits(one, other) == rows[-1][-1]
