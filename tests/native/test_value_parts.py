"""Parts of values by the native core: the same as by the reference, and safe whatever the arrays hold."""

from __future__ import annotations

import random
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from fastsql.errors import ModelError
from fastsql.grammar import ActionSpace, State
from fastsql.grammar.actions import COLUMN, TABLE
from fastsql.grammar.grounding import Grounds
from fastsql.grammar.matching import EVERY, Patterns
from fastsql.linking import ValueDictionary, value_parts
from fastsql.linking.value_parts import Said

from ..grammar.grounding import space_for
from ..grammar.test_grounding import ELSEWHERE, TEXT, TWO, WARD
from ..worlds.grammar_hospitals import HOSPITAL
from ..worlds.valued_hospital import SCHEMA
from .automata import expect_same, native_automaton

WORDS = [
    *("Acute", "chronic", "kidney", "disease", "stage", "3.5", "heart", "rate", "aspirin", "spir"),
    *("ec", "5", "mg", "renal", "急", "性", "肾衰", "Höhe", "ckd", "(low)", "İn"),
]


def known(seed: int) -> ValueDictionary:
    chance = random.Random(seed)
    values = sorted(
        {chance.choice(" -_").join(chance.choices(WORDS, k=chance.randint(1, 5))) for _ in range(400)}
    )
    return ValueDictionary.from_mapping(
        {
            ("prescriptions", "drug"): values[::2],
            ("diagnoses", "title"): values[1::3],
            ("samples", "specimen"): values[:9],
        },
        SCHEMA,
        whole=True,
    )


def asked(chance: random.Random) -> list[Said]:
    """A question and what was found in it."""
    texts = [
        chance.choice(" -").join(chance.choices([*WORDS, "which", "had"], k=n))
        for n in (chance.randint(0, 12), 2, 1)
    ]
    return [Said.of(texts[0]), *(Said.of(text, whole=True) for text in texts[1:])]


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_those_of_the_reference(core: ModuleType, seed: int) -> None:
    chance, dictionary, kinds = random.Random(seed), known(seed), set()
    for _ in range(10):
        texts = asked(chance)
        rows = dictionary.parts(texts)
        assert rows is not None
        assert dictionary.parts(texts, core) == rows
        kinds.update((kind, columns == (EVERY,)) for _, kind, _, _, columns in rows)
    assert len(kinds) == 5


def test_the_work_is_bounded_as_in_the_reference(core: ModuleType) -> None:
    values = [f"kidney {number}" for number in range(value_parts.CHECKED // 2)]
    dictionary = ValueDictionary.from_mapping({("prescriptions", "drug"): values}, SCHEMA, whole=True)
    for question in (
        "kidney 1000 kidney 1001 kidney 999",
        "a kidney 12",
        "1000 1001 1002 1003 1004 1005 kidney",
    ):
        texts = [Said.of(question)]
        assert dictionary.parts(texts, core) == dictionary.parts(texts)


@pytest.mark.parametrize("seed", range(40))
def test_nonsense_in_the_arrays_is_an_error_or_gives_rows(core: ModuleType, seed: int) -> None:
    dictionary, chance = known(1), random.Random(seed)
    index = dictionary._index
    body = np.frombuffer(index.grams.body, dtype=np.uint8).copy()
    for _ in range(chance.choice((1, 50, 5000))):
        body[chance.randrange(len(body))] = chance.randrange(256)
    native = core.GramIndex(index.native(core), body, index.grams.bounds, np.zeros(0, dtype=np.uint32))
    text = (b"chronic kidney", b"chronic kidney", [(0, 7), (8, 14)], False)
    try:
        rows = native.parts([text], [1] * len(index.holders))
    except ModelError:
        return
    assert all(
        row[0] == 0 and 0 <= row[2] < 2 and 0 <= row[3] < 2 and row[4] < len(index.holders) for row in rows
    )


def test_texts_that_do_not_fit_together_are_errors(core: ModuleType) -> None:
    index = known(1)._index
    native = core.GramIndex(
        index.native(core),
        np.frombuffer(index.grams.body, np.uint8),
        index.grams.bounds,
        np.zeros(0, np.uint32),
    )
    every = [1] * len(index.holders)
    for text, why in (
        ((b"kidney", b"kidney", [], False), "one place"),
        ((b"kidney", b"kidney", [(0, 9)], False), "outside"),
        ((b"", b"\xff", [(0, 1)], False), "not text"),
    ):
        with pytest.raises(ModelError, match=why):
            native.parts([text], every)
    with pytest.raises(ModelError, match="columns"):
        native.parts([(b"kidney", b"kidney", [(0, 6)], False)], [])


def draw(chance: random.Random, bound: ActionSpace) -> Patterns:
    """Parts at random, of one column or of all."""

    def rows(fixed: int, far: int, *columns: int) -> frozenset[tuple[int, int, int]]:
        places = {(chance.choice(columns), chance.randrange(fixed)): chance.randrange(far) for _ in range(4)}
        return frozenset((*place, last) for place, last in places.items())

    count, both = len(bound.tokens), (WARD, EVERY)
    return Patterns(
        rows(len(bound.candidates), 16, *both),
        rows(count, count, *both),
        rows(count, count, WARD),
        rows(count, count, *both),
    )


@pytest.mark.parametrize("name", ["contains", "not_contains", "begins", "ends", "not_ends", "like"])
def test_both_automata_pass_over_the_same_patterns(core: ModuleType, name: str) -> None:
    chance, passed_over = random.Random(name), 0
    for _ in range(12):
        free = space_for(HOSPITAL, TEXT, (TWO, ELSEWHERE))
        spans = frozenset({(WARD, 4, 5), (WARD, 1, 1)})
        bound = replace(free, grounds=Grounds(frozenset({WARD}), spans=spans, patterns=draw(chance, free)))
        wanted = [
            bound.flat(TABLE, bound.schema.table_index("admissions")),
            bound.grammar.productions.index(name),
            bound.flat(COLUMN, WARD),
        ]
        state, native = State.start(bound), native_automaton(core, bound).start()
        while not state.finished and state.used < 12:
            expect_same(native, state)
            legal = state.legal()
            passed_over += int((~state.takable()).sum())
            action = wanted.pop(0) if wanted else int(chance.choice(legal[state.takable()].tolist()))
            state = state.advance(action, decision=legal.size > 1)
            native = native.advance(action, decision=legal.size > 1)
    assert passed_over > 20
