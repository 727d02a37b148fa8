"""What every synthetic pair must pass: the SQL fits the grammar and returns something; its literals can be found."""

from __future__ import annotations

from fastsql.errors import ExecutionError
from fastsql.evaluation.skeleton import skeleton
from fastsql.execution.executor import DatabaseGoneError
from fastsql.execution.rows import Cell
from fastsql.grammar import ConversionError, render, sql_to_program
from fastsql.linking import find_candidates, gold_literals, literal_recall
from fastsql.linking.gold import tree_literals
from fastsql.synthesis.source import Draft, Source


class Checker:
    """Checks the pairs of a source; what depends on a query's skeleton alone is checked once a skeleton."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._skeletons: dict[str, str | None] = {}

    def canonical_skeleton(self, sql: str) -> str | None:
        """The skeleton of a query's canonical rendering; None where the grammar cannot express it."""
        try:
            return skeleton(self._rendered(sql))
        except ConversionError:
            return None

    def accept_query(self, draft: Draft) -> str | None:
        """The canonical skeleton of a draft that passes; None for one that does not.

        One of its trials must return something, the same as what the program that it converts to renders to.
        Raises DatabaseGoneError where they have no database any more.
        """
        key = skeleton(draft.sql)
        if key not in self._skeletons:
            try:
                self._skeletons[key] = self._tried(draft, key)
            except DatabaseGoneError:
                raise
            except (ExecutionError, ConversionError):
                self._skeletons[key] = None
        return self._skeletons[key]

    def _tried(self, draft: Draft, key: str) -> str | None:
        for trial in self._source.trials(draft):
            rows = trial.run(trial.sql)
            if says_something(trial.sql, rows):
                rendered = self._rendered(trial.sql)
                if sorted(map(repr, trial.run(rendered))) != sorted(map(repr, rows)):
                    return None
                # A trial may name other constants than the draft: bounds of normal go by the item.
                return (
                    skeleton(rendered) if skeleton(trial.sql) == key else self.canonical_skeleton(draft.sql)
                )
        return None

    def _rendered(self, sql: str) -> str:
        return render(sql_to_program(sql, self._source.schema), self._source.schema)

    def accept_literals(self, question: str, draft: Draft) -> bool:
        """Whether all that the query compares with can be found: in the question, or standing with the schema."""
        schema = self._source.schema
        tree = draft.tree
        literals = gold_literals(draft.sql, schema) if tree is None else tree_literals(tree, schema)
        if not literals:
            return True
        return not literal_recall(literals, question, find_candidates(question, schema), schema).missing


def says_something(sql: str, rows: list[tuple[Cell, ...]]) -> bool:
    """Whether a result is more than empty, null, or a count of nothing."""
    cells = [cell for row in rows for cell in row if cell is not None]
    return any(cells) if sql.startswith("SELECT COUNT") else bool(cells)
