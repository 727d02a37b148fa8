"""The guard: words, then likelihoods, then the round trip, the cheapest first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from fastsql.grammar import ConversionError, sql_to_program
from fastsql.grammar.convert import tree_to_program
from fastsql.grammar.program import Program
from fastsql.schema import Schema
from fastsql.synthesis.guard.neighbours import neighbours
from fastsql.synthesis.guard.said import fault
from fastsql.synthesis.round_trip import Parse

NEIGHBOUR = "likelier for a query that differs in one thing"
PARSED = "the parser reads another query"
Judge = Callable[[str, Sequence[Program]], NDArray[np.float64]]
"""How likely a question is where each of some programs is meant, float64[programs]; NaN where that cannot be said."""
_KEPT = 8
"""Queries whose neighbours are kept."""


class Guard:
    """Says which wordings of queries over one schema to keep."""

    def __init__(self, schema: Schema, judge: Judge | None = None, parse: Parse | None = None) -> None:
        """`schema`: with what its items are called. `judge`: a reverse model over it, `parse`: a parser, if any."""
        self._schema = schema
        self._judge = judge
        self._parse = parse
        self._beside: OrderedDict[Program, list[Program]] = OrderedDict()

    def fault(self, question: str, tree: exp.Expr, program: Program, own: Sequence[str]) -> str | None:
        """Why a wording is not kept; None for one that is.

        Args:
            question: in English.
            tree: the query, its columns with their tables.
            program: the query's.
            own: the grammar's wordings of the same query.
        """
        found = fault(question, tree, self._schema, own)
        if found is None and self._judge is not None:
            scores = self._judge(question, [program, *self._programs_beside(tree, program)])
            others = scores[1:][~np.isnan(scores[1:])]
            found = None if scores[0] >= others.max(initial=-np.inf) else NEIGHBOUR
        if found is None and self._parse is not None:
            found = None if self._read(self._parse(question)) == program else PARSED
        return found

    def _read(self, sql: str | None) -> Program | None:
        """The program of what a parser says; None where it says nothing, or what the grammar lacks."""
        try:
            return None if sql is None else sql_to_program(sql, self._schema)
        except ConversionError:
            return None

    def _programs_beside(self, tree: exp.Expr, program: Program) -> list[Program]:
        """The programs of a query's neighbours that the grammar can write, each once."""
        if program not in self._beside:
            read = (self._program(one) for one in neighbours(tree, self._schema))
            found = dict.fromkeys(one for one in read if one is not None)
            found.pop(program, None)
            self._beside[program] = list(found)
            while len(self._beside) > _KEPT:
                self._beside.popitem(last=False)
        return self._beside[program]

    def _program(self, tree: exp.Expr) -> Program | None:
        """The program of a neighbour; None where it is no query, as a column without its group."""
        try:
            return tree_to_program(tree, self._schema)
        except ConversionError:
            return None
