"""The native automaton of an action space, and how to walk it beside the reference."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar import ActionSpace, State
from fastsql.grammar.tables import grammar_table, question_table, schema_table

from ..grammar.walking import Bias, scores_of


def native_space(core: ModuleType, space: ActionSpace) -> Any:
    """The space as the native core reads it."""
    grammar = core.Grammar(grammar_table(space.grammar))
    return core.ActionSpace(core.SchemaItems(grammar, schema_table(space.schema)), question_table(space))


def native_automaton(core: ModuleType, space: ActionSpace) -> Any:
    """A native automaton over the space."""
    return core.Automaton(native_space(core, space))


def expect_same(native: Any, reference: State) -> None:
    """Raises AssertionError unless both are in the same state and offer the same actions."""
    assert native.finished == reference.finished
    assert (native.used, native.decisions, native.cost) == (
        reference.used,
        reference.decisions,
        reference.cost,
    )
    if reference.finished:
        return
    where = f"{reference.space.grammar.symbols[reference.symbol]!r} after {reference.used} actions"
    assert (native.symbol, native.parent) == (reference.symbol, reference.parent), where
    ours, theirs = set(native.legal().tolist()), set(reference.legal().tolist())
    only_native = [reference.space.locate(a) for a in sorted(ours - theirs)]
    only_reference = [reference.space.locate(a) for a in sorted(theirs - ours)]
    assert ours == theirs, f"{where}: only native {only_native}, only the reference {only_reference}"
    np.testing.assert_array_equal(native.takable(), reference.takable(), err_msg=where)


def walk_both(core: ModuleType, space: ActionSpace, seed: int, bias: Bias, noise: float = 1.0) -> list[int]:
    """Takes the action of the highest score, noise and bias, in both automata until the query is complete.

    Returns the decisions. Raises AssertionError at the first step at which they differ.
    """
    random = np.random.default_rng(seed)
    scores = scores_of(space, bias)
    reference = State.start(space)
    native = native_automaton(core, space).start()
    decisions: list[int] = []
    while True:
        expect_same(native, reference)
        if reference.finished:
            return decisions
        legal = reference.legal()
        action = int(legal[np.argmax(scores[legal] + noise * random.gumbel(size=legal.size))])
        if legal.size > 1:
            decisions.append(action)
        reference = reference.advance(action, decision=legal.size > 1)
        native = native.advance(action, decision=legal.size > 1)


def follow_both(core: ModuleType, space: ActionSpace, decisions: Iterable[int]) -> None:
    """Takes the given decisions in both automata. Raises AssertionError at the first step at which they differ."""
    reference, native = State.start(space), native_automaton(core, space).start()
    given = iter(decisions)
    while not reference.finished:
        expect_same(native, reference)
        legal = reference.legal()
        action = int(next(given)) if legal.size > 1 else int(legal[0])
        reference = reference.advance(action, decision=legal.size > 1)
        native = native.advance(action, decision=legal.size > 1)
    expect_same(native, reference)


def unpacked(legal: NDArray[np.uint64], actions: int) -> NDArray[np.bool_]:
    """Masks bool[D, A] of packed ones uint64[D, W]."""
    octets = legal.astype("<u8").view(np.uint8).reshape(len(legal), -1)
    return np.unpackbits(octets, axis=1, count=actions, bitorder="little").astype(bool)
