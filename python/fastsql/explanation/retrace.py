"""Goes the way of a finished query once more: why each name and value stands in it, and what the decoder decided.

Nothing here is on the way of a question: it is done when somebody asks for an explanation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from fastsql.explanation.decisions import decisions_of, path_of
from fastsql.explanation.links import found_values, name_spans, named_items
from fastsql.explanation.reasons import literal_reason, named
from fastsql.explanation.roles import word_roles
from fastsql.explanation.time_words import RELATIONS, find_time_words
from fastsql.explanation.trail import Decision, Reason, Span, Trail
from fastsql.grammar.actions import STEP
from fastsql.grammar.program import (
    SIGNS,
    SMALL,
    ColumnRef,
    DerivedRef,
    Literal,
    Node,
    Production,
    Program,
    Terminal,
)
from fastsql.grammar.readback import read_path
from fastsql.grammar.space import ActionSpace
from fastsql.grammar.transitions import transitions
from fastsql.grammar.tree import read_tree

if TYPE_CHECKING:
    from fastsql.decode import Hypothesis
    from fastsql.linking.prepare import Prepared
    from fastsql.linking.relations import SchemaLinks
    from fastsql.schema import Schema

_PERIOD = re.compile(rf"({'|'.join(RELATIONS)})_(year|month|day|hour|time)")
_DATED = re.compile(r"date_(eq|ne|lt|le|gt|ge)")


def retrace(
    hypothesis: Hypothesis,
    program: Program,
    space: ActionSpace,
    prepared: Prepared,
    links: SchemaLinks,
    pair: int | None = None,
) -> Trail:
    """Reasons, decisions and roles of a finished hypothesis, `program` being what it wrote.

    What it took from earlier turns was not decided here, nor is what remembered pair number `pair` supplied.
    """
    roles = word_roles(program, prepared, links.schema)
    if space.turns:
        program = read_path(path_of(hypothesis, space), space)
    decisions = tuple(decisions_of(hypothesis, space)) if pair is None else ()
    nodes = tuple(_walk(read_tree(program, space.grammar)))
    columns = _column_names(nodes, hypothesis, space)
    values = tuple(_value_reasons(program, nodes, columns, links.schema, prepared.text))
    times = tuple(_time_reasons(nodes, columns, links.schema, prepared.text))
    spans = [reason.span for reason in (*values, *times) if reason.span is not None]
    undecided = "the only choice" if pair is None else f"of remembered pair {pair}"
    names = _name_reasons(program, prepared, links, spans, decisions, undecided)
    return Trail(tuple(dict.fromkeys((*names, *values, *times))), decisions, roles)


# ---------------------------------------------------------------- names


def _name_reasons(
    program: Program,
    prepared: Prepared,
    links: SchemaLinks,
    taken: list[Span],
    decisions: tuple[Decision, ...],
    undecided: str,
) -> Iterator[Reason]:
    """Why each table and column of the query stands in it: its name, a part of it, or no word at all.

    Words that a value or a time was read from are `taken`; what is said of a name that no decision chose is `undecided`.
    """
    schema = links.schema
    columns = (column for key in schema.foreign_keys for column in (*key.columns, *key.references))
    keys = set(map(links.nodes.column, columns))
    surest: dict[tuple[str, str], float] = {}
    for decision in decisions:
        chosen = decision.kind, decision.choice
        surest[chosen] = min(decision.probability, surest.get(chosen, 1.0))
    items = named_items(program, links)
    read = links.read_matches(
        [item for item, _, _ in items], prepared.text, prepared.offsets, prepared.relations
    )
    for (item, kind, name), matches in zip(items, read.T, strict=True):
        for match in (2, 1):
            found = [span for span in name_spans(matches >= match, prepared) if _free(span, taken)]
            for span in found:
                yield Reason(kind, name, named(match), span, prepared.text[slice(*span)], name)
            if found:
                break
        else:
            is_key = kind == "column" and item in keys
            told = "a key between tables" if is_key else "no word names it"
            certain = surest.get((kind, name))
            sure = undecided if certain is None else f"probability {certain:.2f}"
            yield Reason(kind, name, f"{told}; {sure}", sql=name)


def _free(span: Span, taken: list[Span]) -> bool:
    return all(span[1] <= start or end <= span[0] for start, end in taken)


# ---------------------------------------------------------------- values and times


def _value_reasons(
    program: Program, nodes: tuple[Node, ...], columns: Mapping[int, str], schema: Schema, text: str
) -> Iterator[Reason]:
    """Why each literal stands in the query, but for those of times: `_time_reasons` tells of these."""
    left = Counter(terminal for terminal in program if _counts(terminal))
    for node in nodes:
        if _PERIOD.fullmatch(node.name) or _DATED.fullmatch(node.name):
            left -= Counter(child.terminal for child in node.children if child and _counts(child.terminal))
        elif node.name in SIGNS and id(node.children[0]) in columns:
            compared = tuple(_operands(node))
            left -= Counter(compared)
            for literal in found_values(compared, schema):
                literal = replace(literal, column=columns[id(node.children[0])])
                yield literal_reason(literal, text, SIGNS[node.name])
    for literal in found_values(tuple(left), schema):
        yield literal_reason(literal, text)


def _operands(node: Node) -> Iterator[Terminal]:
    """The literals that a comparison's first operand is compared with, those of a list included."""
    for child in node.children[1:] if node.name in SIGNS else node.children:
        if child is not None and _counts(child.terminal):
            yield child.terminal
        elif child is not None and child.name == "also":
            yield from _operands(child)


def _time_reasons(
    nodes: tuple[Node, ...], columns: Mapping[int, str], schema: Schema, text: str
) -> Iterator[Reason]:
    """What the query asks of times, with the words of the question that say so."""
    for node in nodes:
        children = [child for child in node.children if child is not None]
        times = [columns[id(child)] for child in children if id(child) in columns]
        literals = [child.terminal for child in children if _counts(child.terminal)]
        if period := _PERIOD.fullmatch(node.name):
            yield _period_reason(period[1], period[2], times, literals, text)
        elif dated := _DATED.fullmatch(node.name):
            (literal,) = found_values(tuple(literals), schema)
            reason = literal_reason(replace(literal, column=times[0]), text)
            yield replace(reason, target=f"{times[0]} {SIGNS[dated[1]]} {reason.sql}")


def _period_reason(
    relation: str, unit: str, columns: list[str], literals: list[Terminal], text: str
) -> Reason:
    count = _number(literals[0]) if literals else None
    back = f"{count} {unit}{'' if count == 1 else 's'}"
    said = {
        "in": f"in the present {unit}" if count == 0 else f"in the {unit} {back} ago",
        "since": f"no earlier than {back} ago",
        "until": f"no later than {back} ago",
        "within": f"at most {back} after {columns[-1]}",
        "same": f"in the same {unit} as {columns[-1]}"
        if unit != "time"
        else f"at the same time as {columns[-1]}",
    }[relation]
    span = find_time_words(text, relation, unit, count)
    if span is None and literals and isinstance(literals[0], Literal):
        span = literals[0].span
    words = text[slice(*span)] if span is not None else ""
    return Reason("time", f"{columns[0]} {said}", f"the calendar action {relation}_{unit}", span, words)


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        if child is not None:
            yield from _walk(child)


def _column_names(nodes: tuple[Node, ...], hypothesis: Hypothesis, space: ActionSpace) -> dict[int, str]:
    """What the nodes that are columns are called, by the identity of the node; `nodes` are in order of the program."""
    derived = _derived_columns(hypothesis, space)
    names: dict[int, str] = {}
    for node in nodes:
        if isinstance(node.terminal, ColumnRef):
            names[id(node)] = space.schema.qualified_name(node.terminal.column)
        elif isinstance(node.terminal, DerivedRef):
            column = next(derived)
            name = "a computed column" if column is None else space.schema.qualified_name(column)
            names[id(node)] = f"{name} of a subquery"
    return names


def _derived_columns(hypothesis: Hypothesis, space: ActionSpace) -> Iterator[int | None]:
    """For each time that a query points at a column of a derived table: the schema column passed on there, if it is one."""
    for state, action, _, _ in transitions(path_of(hypothesis, space), space):
        kind, index = space.locate(action)
        if kind == STEP and space.grammar.symbols[state.symbol] != "which":
            items = (item for source in state.scope.sources for item in source.items)
            yield next(item.typed.column for item in items if item.step == index)


def _counts(terminal: Terminal) -> bool:
    """Whether a terminal is a literal, one of the closed set included."""
    return isinstance(terminal, Literal) or (isinstance(terminal, Production) and terminal.name in SMALL)


def _number(terminal: Terminal) -> int | None:
    """A whole number; None for another literal."""
    value = SMALL.get(terminal.name) if isinstance(terminal, Production) else getattr(terminal, "value", None)
    return value if isinstance(value, int) else None
