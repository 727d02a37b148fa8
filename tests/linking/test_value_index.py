"""Known values are found where the question has their words, whatever table holds them, and damage is never a crash."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastsql.errors import LimitError, ModelError
from fastsql.linking import value_table
from fastsql.linking.folding import keys
from fastsql.linking.value_index import ValueIndex
from fastsql.linking.value_table import SECTIONS, ValueTable, key_of, pack_values

WORDS = ["swab", "swabs", "Blood", "blood cells", "5%", "x-ray", "糖尿病", "糖", "2型", "é", "ﷺ", "3.5", "ss"]
texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=8).map(" ".join)
values = st.lists(texts, max_size=12, unique=True)


def index_of(*held: str) -> ValueIndex:
    return ValueIndex({value: (number,) for number, value in enumerate(held)})


@given(values)
def test_every_value_is_kept_with_its_columns(held: list[str]) -> None:
    index = ValueIndex({value: (number % 3, 7) for number, value in enumerate(held)})
    assert len(index) == len(held)
    assert list(index.items()) == [(value, (number % 3, 7)) for number, value in enumerate(held)]


@given(values, texts)
def test_the_table_has_the_values_of_each_key_in_order(held: list[str], text: str) -> None:
    table = index_of(*held).table
    for words in (*map(keys, held), keys(text)):
        if words:
            same = [number for number, value in enumerate(held) if keys(value) == words]
            assert table.numbers(key_of(words)) == same
            lengths = {len(keys(value)) for value in held if keys(value)[:1] == words[:1]}
            assert table.word_lengths(key_of(words[:1])) == sorted(lengths, reverse=True)


@given(values, texts, texts)
def test_a_match_has_the_words_of_its_values(held: list[str], before: str, after: str) -> None:
    index = index_of(*held)
    for value in held[:1]:
        text = f"{before} {value} {after}"
        for match in index.match(text):
            said = keys(text[match.start : match.end])
            for found, columns in match.values:
                assert held[columns[0]] == found
                assert keys(found)[:-1] == said[:-1]
                assert said[-1] in (keys(found)[-1], keys(found)[-1] + "s")


def test_a_blank_inside_a_word_is_no_border_between_words() -> None:
    # One letter, which the normal form NFKC spells out as four words.
    ligature, spelled = "\ufdfa", "صلى الله عليه وسلم"
    assert key_of(keys(ligature)) != key_of(keys(spelled))
    assert [match.values for match in index_of(spelled).match(f"say {ligature} twice")] == []
    assert len(index_of(ligature, spelled).match(f"say {ligature} and {spelled}")) == 2


def test_an_index_goes_to_another_process() -> None:
    index = index_of("aspirin", "heparin sodium")
    moved = pickle.loads(pickle.dumps(index))
    assert moved.match("heparin sodium or aspirin") == index.match("heparin sodium or aspirin")


def test_an_empty_table_has_nothing() -> None:
    index = ValueIndex({})
    assert len(index) == 0
    assert index.match("aspirin") == ()
    assert index.find("aspirin") == ()


def test_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_table, "LARGEST_TEXT", 20)
    with pytest.raises(LimitError, match="20 bytes"):
        pack_values([("aspirin", 0), ("heparin sodium", 0)])
    assert len(pack_values([("aspirin", 0), ("heparin drops", 0)])) == 2


HELD = tuple(f"{word} {number}" for number in range(8) for word in ("aspirin", "Heparin", "糖尿病"))
SAID = "aspirin 3, heparin 7 or 糖尿病 2"


@settings(max_examples=300)
@given(st.randoms(use_true_random=False), st.integers(1, 4))
def test_nonsense_in_a_table_is_an_error_or_another_answer(chance: random.Random, changes: int) -> None:
    table = index_of(*HELD).table
    body = bytearray(table.body)
    for _ in range(changes):
        body[chance.randrange(len(body))] = chance.choice((0, 1, 127, 255))
    said = ""
    try:
        index = ValueIndex.of(ValueTable(memoryview(bytes(body)), table.bounds), [(0,)] * len(HELD))
        index.match(SAID)
        list(index.items())
    except ModelError as error:
        said = str(error)
    assert not said or "damaged" in said
    assert "parin" not in said


@pytest.mark.parametrize("section", range(1, len(SECTIONS) + 1))
@pytest.mark.parametrize("by", [-1, 10**12])
def test_sections_that_do_not_fit_are_refused(section: int, by: int) -> None:
    table = index_of(*HELD).table
    bounds = list(table.bounds)
    bounds[section] += by
    with pytest.raises(ModelError, match="sections"):
        ValueTable(table.body, bounds)
