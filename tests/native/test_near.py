"""Near values by the native core: the same as by the reference, and safe whatever the arrays hold."""

from __future__ import annotations

import random
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastsql import backends
from fastsql.errors import ModelError
from fastsql.linking import ValueDictionary, dictionary_file, find_candidates
from fastsql.linking.near import NearIndex
from fastsql.linking.nearness import PER_EDIT, STRICTLY, half_letters

from ..worlds.valued_hospital import SCHEMA

pytestmark = pytest.mark.skipif(backends.native() is None, reason="needs the native module: pip install .")

WORDS = [
    *("acute", "chronic", "kidney", "disease", "stage", "3", "heart", "rate", "failure", "aspirin"),
    *("ec", "5", "mg", "renal", "急", "性", "肾", "衰", "höhe", "ckd"),
]
words = st.lists(st.text("abc1é急", min_size=1, max_size=7) | st.sampled_from(WORDS), max_size=6)
long_words = st.lists(st.text("ab急", min_size=60, max_size=90), min_size=1, max_size=2)


@given(words | long_words, words | long_words, st.sampled_from((PER_EDIT, STRICTLY)))
def test_distances_are_those_of_the_reference(one: list[str], other: list[str], per_edit: int) -> None:
    core = backends.native()
    assert core is not None
    assert core.half_letters(one, other, per_edit) == half_letters(one, other, per_edit)


@pytest.fixture(scope="module")
def known() -> ValueDictionary:
    chance = random.Random(1)
    values = {" ".join(chance.choices(WORDS, k=chance.randint(1, 5))) for _ in range(600)}
    return ValueDictionary.from_mapping(
        {("prescriptions", "drug"): sorted(values)[::2], ("diagnoses", "title"): sorted(values)[1::2]},
        SCHEMA,
        whole=True,
    )


def asked(seed: int) -> str:
    """A question of words that were spoilt."""
    chance = random.Random(seed)
    said = chance.choices([*WORDS, "which", "patients", "had", "of"], k=chance.randint(1, 14))
    for place, word in enumerate(said):
        if len(word) > 4 and chance.random() < 0.4:
            at = chance.randrange(1, len(word))
            said[place] = word[:at] + word[at + 1 :]
    return " ".join(said)


def test_candidates_are_those_of_the_reference(known: ValueDictionary) -> None:
    core = backends.native()
    near = 0
    for seed in range(300):
        found = find_candidates(asked(seed), SCHEMA, known, core=core)
        assert found == find_candidates(asked(seed), SCHEMA, known)
        near += sum(one.distance > 0 for one in found)
    assert near > 100


def test_a_file_gives_the_same_near_values_and_damage_in_it_is_noticed(
    known: ValueDictionary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core, path = backends.native(), tmp_path / "values"
    known.save(path)
    monkeypatch.setattr(dictionary_file, "_CHECKED_AT_ONCE", 0)
    question = "who has chronic kidny disease?"
    right = list(known.almost(question, core=core))
    assert right
    assert list(ValueDictionary.load(path, SCHEMA).almost(question, core=core)) == right
    content = path.read_bytes()
    grams = len(known._index.grams.body)
    heard = [
        answer(path, content, place, module)
        for place in range(len(content) - grams, len(content), 2048)
        for module in (core, None)
    ]
    errors = [one for one in heard if isinstance(one, ModelError)]
    assert len(errors) > 10
    assert {one.where for one in errors} == {str(path)}
    assert all(one == right for one in heard if not isinstance(one, ModelError))


def answer(path: Path, content: bytes, place: int, core: ModuleType | None) -> object:
    """What a file with one byte changed says, or its error."""
    path.write_bytes(content[:place] + bytes([content[place] ^ 64]) + content[place + 1 :])
    try:
        return list(ValueDictionary.load(path, SCHEMA).almost("who has chronic kidny disease?", core=core))
    except ModelError as error:
        return error


@pytest.mark.parametrize("seed", range(60))
def test_nonsense_in_the_arrays_is_an_error_or_gives_values(known: ValueDictionary, seed: int) -> None:
    core, chance, index = backends.native(), random.Random(seed), known._index
    assert core is not None
    body = np.frombuffer(index.grams.body, dtype=np.uint8).copy()
    for _ in range(chance.choice((1, 50, 5000))):
        body[chance.randrange(len(body))] = chance.randrange(256)
    native = core.GramIndex(index.native(core), body, index.grams.bounds, np.zeros(0, dtype=np.uint32))
    try:
        rows = native.said(["chronic", "kidny", "disease"], [0, 0, 0], [], [1] * len(index.holders))
    except ModelError:
        return
    assert all(0 <= begin < end <= 3 and value < len(known) for _, begin, end, value in rows)


def test_parts_that_do_not_fit_together_are_errors(known: ValueDictionary) -> None:
    core, index = backends.native(), known._index
    assert core is not None
    grams = index.grams
    body, none = np.frombuffer(grams.body, dtype=np.uint8), np.zeros(0, dtype=np.uint32)
    for bounds in (
        [0, 0, 0, len(body)],
        [0, 12, 16, len(body)],
        [4, *grams.bounds[1:]],
        [0, 8, 6, len(body)],
    ):
        with pytest.raises(ModelError):
            core.GramIndex(index.native(core), body, bounds, none)
    native = core.GramIndex(index.native(core), body, grams.bounds, none)
    with pytest.raises(ModelError):
        native.said(["a"], [], [], [1])
    with pytest.raises(ModelError, match="columns"):
        native.said(["kidney"], [0], [], [])
    assert isinstance(known._near, NearIndex)
