"""What every synthetic pair must pass: the SQL fits the grammar and returns something; its literals can be found."""

from __future__ import annotations

from fastsql.errors import ExecutionError
from fastsql.evaluation.skeleton import skeleton
from fastsql.execution.rows import Cell
from fastsql.grammar import ConversionError, render, sql_to_program
from fastsql.linking import find_candidates, gold_literals, literal_recall
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

        It must convert to a program, and one of its trials must return something, the same as what the program renders to.
        """
        key = skeleton(draft.sql)
        if key not in self._skeletons:
            canonical = self.canonical_skeleton(draft.sql)
            passes = canonical is not None and self._returns_something(draft)
            self._skeletons[key] = canonical if passes else None
        return self._skeletons[key]

    def _returns_something(self, draft: Draft) -> bool:
        try:
            for trial in self._source.trials(draft):
                rows = trial.run(trial.sql)
                if says_something(trial.sql, rows):
                    again = trial.run(self._rendered(trial.sql))
                    return sorted(map(repr, again)) == sorted(map(repr, rows))
        except (ExecutionError, ConversionError):
            return False
        return False

    def _rendered(self, sql: str) -> str:
        return render(sql_to_program(sql, self._source.schema), self._source.schema)

    def accept_literals(self, question: str, sql: str) -> bool:
        """Whether all that the query compares with can be found: in the question, or standing with the schema."""
        schema = self._source.schema
        candidates = find_candidates(question, schema)
        return not literal_recall(gold_literals(sql, schema), question, candidates, schema).missing


def says_something(sql: str, rows: list[tuple[Cell, ...]]) -> bool:
    """Whether a result is more than empty, null, or a count of nothing."""
    cells = [cell for row in rows for cell in row if cell is not None]
    return any(cells) if sql.startswith("SELECT COUNT") else bool(cells)
