"""Pairs for one schema and its database."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from sqlglot import exp

from fastsql.errors import ExecutionError
from fastsql.execution.executor import Executor
from fastsql.execution.rows import Cell
from fastsql.grammar import ConversionError, render, sql_to_program
from fastsql.grammar.program import Program
from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.fill import Filler, UnfitError
from fastsql.synthesis.schema.library import Weighted
from fastsql.synthesis.schema.questions import ask
from fastsql.synthesis.schema.words import UnsayableError, Words
from fastsql.synthesis.source import Draft, SynthesisError, Trial
from fastsql.verification.parse import parse_query

MIX: Mapping[str, float] = MappingProxyType(
    {"easy": 0.25, "medium": 0.4, "hard": 0.2, "extra": 0.1, "beyond": 0.05}
)
"""Shares of Spider's levels of hardness among what is drawn; about those of its dev set."""
ATTEMPTS = 400
"""How often a draft is drawn anew, until one makes sense."""
PATIENCE = 50
"""How many of these attempts are made at one level of hardness."""


class SchemaSource:
    """Draws queries over a schema whose rows an executor reads."""

    def __init__(
        self,
        schema: Schema,
        executor: Executor,
        templates: Sequence[Weighted],
        *,
        db_id: str = "",
        mix: Mapping[str, float] = MIX,
        profile: Profile | None = None,
    ) -> None:
        """`mix`: shares of the levels of hardness; `profile`: the schema's, where people have edited one.

        Raises SynthesisError where there are no templates that fit.
        """
        if not templates:
            raise SynthesisError(
                "nothing can be drawn: there are no templates", where=f"schema {schema.name!r}"
            )
        self.schema = schema
        self.db_id = db_id or schema.name
        self._executor = executor
        self._contents = Contents(schema, executor)
        self._filler = Filler(schema, self._contents, profile)
        self._words = Words(schema, profile)
        able = [one for one in templates if self._filler.may_fill(one.template)]
        self._levels = {level: [one for one in able if one.level == level] for level in mix}
        self._levels = {level: found for level, found in self._levels.items() if found}
        self._mix = [mix[level] for level in self._levels]
        if not self._levels:
            raise SynthesisError("no template fits its tables and columns", where=f"schema {schema.name!r}")

    def draw(self, seed: str) -> Draft:
        """See `Source`. Raises SynthesisError where ATTEMPTS draws make no sense."""
        rng = random.Random(seed)
        level = ""
        for attempt in range(ATTEMPTS):
            # Hard queries make sense more seldom: to draw the level anew each time would leave few of them.
            if attempt % PATIENCE == 0:
                (level,) = rng.choices(list(self._levels), self._mix)
            weighted = self._template(level, rng)
            try:
                sql = self._sql(weighted, rng)
            except (UnfitError, UnsayableError, ConversionError):
                continue
            if sql is not None:
                return Draft(weighted.level, sql, seed, partial(ask, parse_query(sql), self._words))
        raise SynthesisError(
            f"none of {ATTEMPTS} queries that were drawn returns something",
            where=f"schema {self.schema.name!r}",
            remedy="Give a database whose tables have rows.",
        )

    @property
    def unread(self) -> Sequence[str]:
        """Columns that could not be read until now."""
        return self._contents.unread

    def trials(self, draft: Draft) -> Iterator[Trial]:
        """See `Source`: the draft itself, which returned something when it was drawn."""
        yield Trial(draft.sql, lambda sql: self._rows(sql_to_program(sql, self.schema)))

    def _template(self, level: str, rng: random.Random) -> Weighted:
        found = self._levels[level]
        return rng.choices(found, [one.count**0.5 for one in found])[0]

    def _sql(self, weighted: Weighted, rng: random.Random) -> str | None:
        """A template filled, in the grammar's own order of clauses; None for a query that makes no sense."""
        program = self._filler.fill(weighted.template, rng)
        ask(parse_query(render(program, self.schema)), self._words, rng)  # which costs less than to run it
        program = sql_to_program(render(program, self.schema), self.schema)
        sql = render(program, self.schema)
        query = parse_query(sql)
        ask(query, self._words, rng)
        return sql if self._makes_sense(program, query) else None

    def _makes_sense(self, program: Program, query: exp.Query) -> bool:
        """Whether it returns something, not the same for every group, and less than it would without its condition."""
        try:
            rows = self._rows(program)
        except ExecutionError:
            return False
        if not any(cell for row in rows for cell in row) or _are_all_ones(rows):
            return False
        where = query.args.get("where")
        if where is None:
            return True
        wider = query.copy()
        wider.set("where", None)
        try:
            more = self._rows(sql_to_program(wider.sql("sqlite"), self.schema))
        except ExecutionError:
            return False
        return sorted(map(repr, more)) != sorted(map(repr, rows))

    def _rows(self, program: Program) -> list[tuple[Cell, ...]]:
        return list(self._executor.run(render(program, self.schema, dialect=self._executor.dialect)).rows)


def _are_all_ones(rows: Sequence[tuple[Cell, ...]]) -> bool:
    """Whether a column of several rows is 1 throughout, as counts of single rows are."""
    return len(rows) > 1 and any(all(cell == 1 for cell in column) for column in zip(*rows, strict=True))
