"""Reads `actions.grammar` and compiles it into the tables that every automaton walks.

The compiled form is plain integers, so that the Python reference and a native core can read the same tables:
for each symbol the actions that can start it, what each action expands to, whether the symbol may be left out,
and the fewest actions that complete it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from fastsql.grammar.reading import EFFECTS, GrammarError, Line, read_lines

__all__ = ["EFFECTS", "Alternative", "Grammar", "GrammarError", "compile_grammar", "load_grammar"]

# What a terminal costs at most, where that is not one action. Choosing a column may need one more: which of its sources
# is meant. Where no candidate is text, a span of the question takes its place, and that is two actions. And where grouping
# is strict, a column may have to stand for COUNT(*), and so it may where `*` is not offered. Nothing that reads no column is
# to be the cheapest way out, nor what an earlier turn must allow.
_COSTS = {
    "@column": 2,
    "@earlier": 2,
    "@newest": 2,
    "@time": 2,
    "@text": 2,
    "@pattern": 2,
    "count_all": 2,
    "all_columns": 2,
    "this_year": 2,
    "previous_value": 4,
    "keep": 3,
    "sort_rows": 2,
    "sort_groups": 2,
}


@dataclass(frozen=True)
class Alternative:
    """One way to expand a symbol.

    `action` is a production's id, or None for a pointer (then `pointer` names its kind).
    `children` are symbol ids (>= 0) and effects (< 0, as `-1 - index into EFFECTS`).
    """

    action: int | None
    pointer: str | None
    children: tuple[int, ...]
    requires: frozenset[str]
    cost: int
    """Fewest actions that complete the alternative, its own one counted."""
    weight: int
    """Entries that the alternative itself leaves on SQLite's parser stack while its children are read."""
    nesting: int
    """The least that it and its children, completed as shallowly as can be, put on that stack."""


@dataclass(frozen=True)
class Grammar:
    """The compiled tables. Symbols and productions are numbered in the order of the file."""

    symbols: tuple[str, ...]
    productions: tuple[str, ...]
    alternatives: tuple[tuple[Alternative, ...], ...]
    """Per symbol, unit alternatives already replaced by what they stand for."""
    by_production: tuple[dict[int, Alternative], ...]
    by_pointer: tuple[dict[str, Alternative], ...]
    nullable: tuple[bool, ...]
    cost: tuple[int, ...]
    """Per symbol: fewest actions that complete it."""

    @property
    def hop_cost(self) -> int:
        """Fewest actions that one more join of a way along keys takes."""
        return 1 + self.cost[self.symbol("hop")]

    def symbol(self, name: str) -> int:
        """Number of a symbol; KeyError if there is none of that name."""
        return self._symbol_ids[name]

    def production(self, name: str) -> int:
        """Number of a production; KeyError if there is none of that name."""
        return self._production_ids[name]

    @cached_property
    def _symbol_ids(self) -> dict[str, int]:
        return _index(self.symbols)

    @cached_property
    def _production_ids(self) -> dict[str, int]:
        return _index(self.productions)


def _index(names: tuple[str, ...]) -> dict[str, int]:
    return {name: i for i, name in enumerate(names)}


@lru_cache(maxsize=4)
def load_grammar(path: Path | None = None) -> Grammar:
    """Compiles a grammar file, by default the one that comes with fastsql."""
    source = path or Path(__file__).with_name("actions.grammar")
    return compile_grammar(source.read_text(encoding="utf-8"))


def compile_grammar(text: str) -> Grammar:
    """Compiles the text of a grammar file. Raises GrammarError with the line where it is wrong."""
    rules = read_lines(text)
    symbols = tuple(rules)
    index = _index(symbols)
    productions = tuple(
        dict.fromkeys(line.head for lines in rules.values() for line in lines if line.head[0] not in "=-@")
    )
    for lines in rules.values():
        for line in lines:
            for child in line.children:
                if not child.startswith("!") and child not in index:
                    raise GrammarError(f"line {line.number}: there is no symbol {child!r}")
    nullable = {name: any(line.head == "-" for line in lines) for name, lines in rules.items()}
    cost, nesting = _least_costs(rules, nullable)
    flat = {name: _expand_units(name, rules, ()) for name in rules}
    production_ids = _index(productions)
    tables = tuple(
        tuple(_alternative(line, index, production_ids, nullable, cost, nesting) for line in flat[name])
        for name in symbols
    )
    grammar = Grammar(
        symbols=symbols,
        productions=productions,
        alternatives=tables,
        by_production=tuple({a.action: a for a in alts if a.action is not None} for alts in tables),
        by_pointer=tuple({a.pointer: a for a in alts if a.pointer is not None} for alts in tables),
        nullable=tuple(nullable[name] for name in symbols),
        cost=tuple(0 if nullable[name] else cost[name] for name in symbols),
    )
    _check_deterministic(grammar)
    return grammar


def _least_costs(
    rules: dict[str, list[Line]], nullable: dict[str, bool]
) -> tuple[dict[str, int], dict[str, int]]:
    """Per symbol the fewest actions, and the least weight of nesting, that complete it.

    Found by relaxation until nothing changes. A symbol that may be left out is charged nothing where it is used. One
    alternative must attain both, or a hypothesis short of budget and of nesting at once would have no way out.
    """
    infinite = 10**9
    cost = dict.fromkeys(rules, infinite)
    nesting = dict.fromkeys(rules, infinite)

    def of(line: Line) -> tuple[int, int]:
        needed = [c for c in line.children if not c.startswith("!") and not nullable[c]]
        own = 0 if line.head == "=" else _COSTS.get(line.head, 1)
        deepest = max((nesting[c] for c in needed), default=0)
        return own + sum(cost[c] for c in needed), line.weight + deepest

    changed = True
    while changed:
        changed = False
        for name, lines in rules.items():
            ways = [of(line) for line in lines if line.head != "-"]
            best = min(ways)
            if best != (cost[name], nesting[name]) and best[0] < infinite:
                cost[name], nesting[name], changed = *best, True
    for name, lines in rules.items():
        if cost[name] >= infinite:
            raise GrammarError(f"symbol {name!r} can never be completed")
        if nesting[name] > min(of(line)[1] for line in lines if line.head != "-"):
            raise GrammarError(f"the cheapest way to complete {name!r} nests deeper than another")
    return cost, nesting


def _expand_units(name: str, rules: dict[str, list[Line]], seen: tuple[str, ...]) -> list[Line]:
    """Alternatives of a symbol with `= other` replaced by other's, the children that follow it appended."""
    if name in seen:
        raise GrammarError(f"symbol {name!r} stands for itself: {' -> '.join((*seen, name))}")
    flat: list[Line] = []
    for line in rules[name]:
        if line.head == "-":
            continue
        if line.head != "=":
            flat.append(line)
            continue
        target, rest = line.children[0], line.children[1:]
        flat += [
            Line(
                inner.head,
                inner.children + rest,
                inner.requires | line.requires,
                inner.weight + line.weight,
                line.number,
            )
            for inner in _expand_units(target, rules, (*seen, name))
        ]
    return flat


def _alternative(
    line: Line,
    symbols: dict[str, int],
    productions: dict[str, int],
    nullable: dict[str, bool],
    cost: dict[str, int],
    nesting: dict[str, int],
) -> Alternative:
    children = tuple(-1 - EFFECTS.index(c[1:]) if c.startswith("!") else symbols[c] for c in line.children)
    needed = [c for c in line.children if not c.startswith("!") and not nullable[c]]
    total = _COSTS.get(line.head, 1) + sum(cost[c] for c in needed)
    deepest = line.weight + max((nesting[c] for c in needed), default=0)
    if line.head.startswith("@"):
        kind = line.head[1:]
        return Alternative(None, kind, children, line.requires, total, line.weight, deepest)
    return Alternative(productions[line.head], None, children, line.requires, total, line.weight, deepest)


def _check_deterministic(grammar: Grammar) -> None:
    """Raises GrammarError unless one action of lookahead always decides (LL(1))."""
    for name, alternatives in zip(grammar.symbols, grammar.alternatives, strict=True):
        heads = [a.action if a.action is not None else a.pointer for a in alternatives]
        if len(set(heads)) != len(heads):
            raise GrammarError(f"two alternatives of {name!r} begin with the same action")
    first = [{a.action if a.action is not None else a.pointer for a in alts} for alts in grammar.alternatives]
    follow: list[set[int | str | None]] = [set() for _ in grammar.symbols]
    changed = True
    while changed:
        changed = False
        for owner, alternatives in enumerate(grammar.alternatives):
            for alternative in alternatives:
                after = set(follow[owner])
                for child in reversed(alternative.children):
                    if child < 0:
                        continue
                    if not after <= follow[child]:
                        follow[child] |= after
                        changed = True
                    after = first[child] | (after if grammar.nullable[child] else set())
    _check_effects(grammar)
    for name, starts, after, may_skip in zip(grammar.symbols, first, follow, grammar.nullable, strict=True):
        if may_skip and starts & after:
            clash = sorted(grammar.productions[a] if isinstance(a, int) else f"@{a}" for a in starts & after)
            raise GrammarError(f"after {name!r} one cannot tell whether it was left out: {clash}")


def _check_effects(grammar: Grammar) -> None:
    """Raises GrammarError where a semantic action follows a symbol that may end in one that is left out.

    The automaton carries out semantic actions as soon as they lie on top of its stack, and a symbol that is left out
    still lies above them.
    """
    open_ended = {n for n, nullable in enumerate(grammar.nullable) if nullable}
    changed = True
    while changed:
        changed = False
        for owner, alternatives in enumerate(grammar.alternatives):
            ends = any(a.children and a.children[-1] in open_ended for a in alternatives)
            if ends and owner not in open_ended:
                open_ended.add(owner)
                changed = True
    for name, alternatives in zip(grammar.symbols, grammar.alternatives, strict=True):
        for alternative in alternatives:
            for child, following in zip(alternative.children, alternative.children[1:], strict=False):
                if child in open_ended and following < 0:
                    raise GrammarError(
                        f"in {name!r} a semantic action follows {grammar.symbols[child]!r}, which may be empty"
                    )
