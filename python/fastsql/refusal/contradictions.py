"""What a query asks of one row of a reference table that no row has, told from the rows that a dictionary holds.

"label = 'urine' AND linksto = 'inputevents'" names two values that exist, and contradicts itself. The query around it is
hollow, which otherwise only an executor can tell (`fastsql.reliability.inspection`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastsql.grammar.clauses import chain, own
from fastsql.grammar.compile import load_grammar
from fastsql.grammar.program import ColumnRef, Literal, Node, Program
from fastsql.grammar.tree import filtered_queries, read_tree
from fastsql.refusal.suggestions import UnknownValue
from fastsql.refusal.texts import listed, quoted, sentence

if TYPE_CHECKING:
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.schema import Schema

Condition = tuple[int, Literal]
"""A column, and what it is to equal."""


@dataclass(frozen=True)
class Contradiction:
    """Conditions on one row of a reference table, in the order of the query, that no row satisfies."""

    table: int
    conditions: tuple[Condition, ...]

    def told(self, schema: Schema, language: str) -> UnknownValue | None:
        """That no row satisfies them; None where the question says none of the values."""
        said = [(column, one) for column, one in self.conditions if one.span is not None]
        if not said:
            return None
        column, literal = said[0]
        shown = [
            sentence(
                language,
                "condition",
                column=schema.columns[column].name,
                words=quoted(language, one.value) if isinstance(one.value, str) else one.value,
            )
            for column, one in self.conditions
        ]
        text = sentence(
            language, "no such row", table=schema.table_name(self.table), conditions=listed(language, shown)
        )
        assert literal.span is not None
        return UnknownValue(text, str(literal.value), literal.span, schema.qualified_name(column))


def contradictions(
    program: Program, schema: Schema, dictionary: ValueDictionary | None
) -> Iterator[Contradiction]:
    """What the queries of a program ask of reference tables in vain, one for each entry of a FROM, each once.

    Only what holds together counts: conditions of WHERE that AND joins, that a column equals a literal. Raises ModelError
    where the dictionary's file is damaged.
    """
    if dictionary is None or not dictionary.tables:
        return
    known = frozenset(table for table in dictionary.tables if schema.tables[table].reference)
    seen = set()
    if not any(isinstance(one, ColumnRef) and schema.columns[one.column].table in known for one in program):
        return  # most programs: no tree is needed
    for query in filtered_queries(read_tree(program, load_grammar())):
        for (_, table), conditions in _by_source(query, schema).items():
            if table in known and _tells(conditions, dictionary):
                wanted = {(column, literal.value): literal for column, literal in conditions}
                if (key := frozenset(wanted)) not in seen and dictionary.lacks_row(table, wanted):
                    seen.add(key)
                    told = tuple((column, literal) for (column, _), literal in wanted.items())
                    yield Contradiction(table, told)


def _tells(conditions: list[Condition], dictionary: ValueDictionary) -> bool:
    """Whether rows say more than values do: one condition on a column of which all values are known is met."""
    return len(conditions) > 1 or conditions[0][0] not in dictionary.whole


def _by_source(query: Node, schema: Schema) -> dict[tuple[int, int], list[Condition]]:
    """By entry of FROM and its table, the equalities that WHERE asks of it."""
    found: dict[tuple[int, int], list[Condition]] = {}
    for condition in chain(query.children[-2]):
        for source, column, literal in _equalities(own(condition, 1)):
            found.setdefault((source, schema.columns[column].table), []).append((column, literal))
    return found


def _equalities(condition: Node) -> Iterator[tuple[int, int, Literal]]:
    """Entry of FROM, column and literal of each equality that a condition is, or joins by AND; dates have other forms."""
    if condition.name == "and":
        for part in condition.children:
            if part is not None:
                yield from _equalities(part)
    elif condition.name == "eq":
        left, right = (part.terminal if part is not None else None for part in condition.children[:2])
        if isinstance(left, ColumnRef) and isinstance(right, Literal) and not right.format:
            yield left.source, left.column, right
