"""Programs as a search leaves them: with literals that stand in the question."""

from __future__ import annotations

from collections.abc import Sequence

from fastsql.grammar.program import Literal, Program
from fastsql.linking.candidate import Candidate


def grounded(program: Program, candidates: Sequence[Candidate]) -> Program:
    """The program with literals as a search takes them from candidates, as far as these offer them."""
    known = {(one.value, one.format): one for one in candidates}

    def one(item: Literal) -> Literal:
        found = known.get((item.value, item.format))
        return item if found is None else Literal(item.value, item.format, "", found.source, found.span)

    return tuple(one(item) if isinstance(item, Literal) else item for item in program)
