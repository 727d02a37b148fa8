"""Pairs for one schema and its database."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import accumulate, islice
from types import MappingProxyType
from typing import TypeAlias

from sqlglot import exp

from fastsql.execution.executor import Executor
from fastsql.grammar import ConversionError
from fastsql.grammar.convert import tree_to_program
from fastsql.grammar.program import Program
from fastsql.grammar.render import render_tree, write_tree
from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis.schema.clauses import is_column, keys_of, limit_of
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.contrast import differ_in_one_phrase, edits, width
from fastsql.synthesis.schema.dated import dated
from fastsql.synthesis.schema.fill import Filler, UnfitError
from fastsql.synthesis.schema.library import Weighted
from fastsql.synthesis.schema.questions import ask
from fastsql.synthesis.schema.repeats import repeats_rows
from fastsql.synthesis.schema.results import Results, SenselessError
from fastsql.synthesis.schema.templates import Template
from fastsql.synthesis.schema.unanswerable import Unanswerables
from fastsql.synthesis.schema.words import UnsayableError, Words
from fastsql.synthesis.source import Contrast, Draft, Refusal, SynthesisError, Trial
from fastsql.verification.parse import parse_query

Couple: TypeAlias = tuple[tuple[str, str], tuple[str, str]]
MIX: Mapping[str, float] = MappingProxyType(
    {"easy": 0.25, "medium": 0.4, "hard": 0.2, "extra": 0.1, "beyond": 0.05}
)
"""Shares of Spider's levels of hardness among what is drawn; about those of its dev set."""
ATTEMPTS = 400
"""How often a draft is drawn anew, until one makes sense."""
NAMED_ROWS = 0.2
"""How often what names the rows of a table is put in place of the columns that a template selects of it."""
DATED = 0.12
"""How often a condition on a time is put beside those of a template, which makes its query one beyond Spider's levels; never
where shares of these are asked for."""
PATIENCE = 50
"""How many of these attempts are made at one level of hardness."""
MOST_EDITS = 6
"""Edits of a query that are tried for a contrast."""
ALIGNMENTS = 12
"""How often both queries of a contrast are put into words, until the questions differ in one phrase."""
SAYINGS = 20
"""How often a query is put into words until no two of its columns have one name."""
REFUSAL_ATTEMPTS = 12
"""Queries from which a kind of unanswerable question is tried to be made."""


SKIPPED = (UnfitError, UnsayableError, ConversionError, SenselessError)
"""What leads to another draw."""


class SchemaSource:
    """Draws queries over a schema whose rows an executor reads. Raises DatabaseGoneError where they go away."""

    def __init__(
        self,
        schema: Schema,
        executor: Executor,
        templates: Sequence[Weighted],
        *,
        db_id: str = "",
        mix: Mapping[str, float] = MIX,
        profile: Profile | None = None,
        unknown: Collection[int] = (),
    ) -> None:
        """`mix`: shares of the levels of hardness; `profile`: the schema's, where people have edited one.

        `unknown`: columns that are compared with no value (`Contents`).

        Raises SynthesisError where there are no templates that fit.
        """
        if not templates:
            raise SynthesisError(
                "nothing can be drawn: there are no templates", where=f"schema {schema.name!r}"
            )
        self.schema = schema
        self.db_id = db_id or schema.name
        self._contents = Contents(schema, executor, unknown=unknown)
        self._filler = Filler(schema, self._contents, profile)
        self._words = Words(schema, profile, self._contents)
        self._results = Results(schema, executor, self._contents, self._words)
        self._unanswerables = Unanswerables(schema, profile or schema.profile, self._words, self._contents)
        able = [one for one in templates if self._filler.may_fill(one.template)]
        self._levels = {level: [one for one in able if one.level == level] for level in mix}
        self._levels = {level: found for level, found in self._levels.items() if found}
        self._mix = [mix[level] for level in self._levels]
        self._dated = DATED if mix is MIX else 0.0
        self._weights = {
            level: list(accumulate(one.count**0.5 for one in found)) for level, found in self._levels.items()
        }
        if not self._levels:
            raise SynthesisError("no template fits its tables and columns", where=f"schema {schema.name!r}")

    def draw(self, seed: str) -> Draft:
        """See `Source`. Raises SynthesisError where ATTEMPTS draws make no sense."""
        level, query, sql = self._drawn(seed)
        return Draft(level, sql, seed, partial(self._said, query), query)

    def _said(self, query: exp.Query, rng: random.Random) -> str:
        """A question for a query that has been put into words before; names drawn for two columns may be the same."""
        for _ in range(SAYINGS):
            with suppress(UnsayableError):
                return ask(query, self._words, rng)
        raise SynthesisError("a query has words by chance only", where=f"schema {self.schema.name!r}")

    def _drawn(self, seed: str, *, tried: bool = True) -> tuple[str, exp.Query, str]:
        """A level of hardness, and a query of it as tree and text; `tried`: one that returns something, which costs more."""
        rng = random.Random(seed)
        level = ""
        for attempt in range(ATTEMPTS):
            # Hard queries make sense more seldom: to draw the level anew each time would leave few of them.
            if attempt % PATIENCE == 0:
                (level,) = rng.choices(list(self._levels), self._mix)
            weighted = self._template(level, rng)
            try:
                query = self._query(weighted.template, rng)
                sql = write_tree(query)
                if tried:
                    self._results.check(query, sql)
            except SKIPPED:
                continue
            return weighted.level, query, sql
        raise SynthesisError(
            f"none of {ATTEMPTS} queries that were drawn returns something",
            where=f"schema {self.schema.name!r}",
            remedy="Give a database whose tables have rows.",
        )

    def contrast(self, seed: str) -> Contrast:
        """See `VariedSource`."""
        rng = random.Random(seed)
        for attempt in range(PATIENCE):
            level, query, _ = self._drawn(f"{seed}/{attempt}")
            for kind, edited in islice(edits(query, self._words, self._contents, rng), MOST_EDITS):
                try:
                    found = self._contrasted(query, edited, rng)
                except SKIPPED:
                    continue
                if found is not None:
                    return Contrast(kind, level, found)
        raise SynthesisError(
            f"none of {PATIENCE} queries has a contrast", where=f"schema {self.schema.name!r}"
        )

    def _contrasted(self, query: exp.Query, edited: exp.Query, rng: random.Random) -> Couple | None:
        """Both pairs; None where they give the same answer, or no questions differ in one phrase alone."""
        other = _read(tree_to_program(edited, self.schema), self.schema)
        ask(other, self._words, random.Random(0))
        self._results.check(other, write_tree(other))
        if not self._results.differ(query, other):
            return None
        longest = max(
            width(one.name) for tree in (query, other) for one in (*tree.find_all(exp.Literal), tree)
        )
        for _ in range(ALIGNMENTS):
            seed = rng.random()
            one, another = (ask(tree, self._words, random.Random(seed)) for tree in (query, other))
            if differ_in_one_phrase(one, another, longest):
                return (one, write_tree(query)), (another, write_tree(other))
        return None

    def refusal(self, seed: str) -> Refusal:
        """See `VariedSource`. The kinds are equally frequent, as far as the schema has any of each."""
        rng = random.Random(seed)
        kinds = rng.sample(self._unanswerables.kinds, len(self._unanswerables.kinds))
        for kind in kinds:
            for attempt in range(REFUSAL_ATTEMPTS):
                _, query, _ = self._drawn(f"{seed}/{kind}/{attempt}", tried=False)
                try:
                    return Refusal(self._unanswerables.ask(query, kind, rng), kind)
                except UnsayableError:
                    continue
        raise SynthesisError("no unanswerable question is found", where=f"schema {self.schema.name!r}")

    def makes_sense_of(self, template: Template, seed: str) -> bool:
        """Whether one draw of a template is a query that returns something and has a question."""
        if not self._filler.may_fill(template):
            return False
        try:
            query = self._query(template, random.Random(seed))
            self._results.check(query, write_tree(query))
        except SKIPPED:
            return False
        return True

    @property
    def unread(self) -> Sequence[str]:
        """Columns that could not be read until now."""
        return self._contents.unread

    def trials(self, draft: Draft) -> Iterator[Trial]:
        """See `Source`: the draft itself, which returned something when it was drawn."""
        yield Trial(draft.sql, lambda sql: self._results.rows(parse_query(sql)))

    def _template(self, level: str, rng: random.Random) -> Weighted:
        return rng.choices(self._levels[level], cum_weights=self._weights[level])[0]

    def _query(self, template: Template, rng: random.Random) -> exp.Query:
        """A template filled, in the grammar's own order of clauses; what is cheap to find out is found out first.

        Raises UnfitError, UnsayableError or ConversionError for a query that makes no sense.
        """
        program = self._filler.fill(template, rng)
        query = self._of_time(self._of_rows(_read(program, self.schema), rng), rng)
        ask(query, self._words, rng)
        canonical = tree_to_program(query, self.schema)
        if canonical != program:
            query = _read(canonical, self.schema)
            ask(query, self._words, rng)
        return self._each_once(query, rng)

    def _of_rows(self, query: exp.Query, rng: random.Random) -> exp.Query:
        """The query, now and then with what names the rows of a table in place of its columns, as "which patients" asks."""
        if not isinstance(query, exp.Select) or keys_of(query) or rng.random() >= NAMED_ROWS:
            return query
        items = query.expressions
        if not all(map(is_column, items)) or len({self._words.owner(item) for item in items}) != 1:
            return query
        naming = self._words.naming(self._words.owner(items[0]))
        if not naming:
            return query
        named = [items[0].copy() for _ in naming]
        for item, column in zip(named, naming, strict=True):
            item.set("this", exp.to_identifier(self.schema.columns[column].name, quoted=True))
        return _read(tree_to_program(query.select(*named, append=False), self.schema), self.schema)

    def _of_time(self, query: exp.Query, rng: random.Random) -> exp.Query:
        """The query, now and then with one more condition, on when something was."""
        if rng.random() >= self._dated:
            return query
        other = dated(query, self._words, self._contents, rng)
        return query if other is None else _read(tree_to_program(other, self.schema), self.schema)

    def _each_once(self, query: exp.Query, rng: random.Random) -> exp.Query:
        """The query with DISTINCT, where a join would repeat the rows that are asked for. Raises as `_query`."""
        if (
            not isinstance(query, exp.Select)
            or limit_of(query) == "1"
            or not repeats_rows(query, self._words)
        ):
            return query
        order = query.args.get("order")
        if limit_of(query) or (
            order is not None and any(key.this not in query.expressions for key in order.expressions)
        ):
            raise UnsayableError("an order of rows that a join repeats")
        query = _read(tree_to_program(query.distinct(), self.schema), self.schema)
        ask(query, self._words, rng)
        return query


def _read(program: Program, schema: Schema) -> exp.Query:
    """The tree of a program. Its functions of time are written in words of SQLite; they are read as any other text is."""
    tree = render_tree(program, schema)
    return parse_query(write_tree(tree)) if tree.find(exp.Anonymous) else tree
