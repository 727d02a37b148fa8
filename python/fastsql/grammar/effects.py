"""The grammar's semantic actions: what completing a construct changes in the scope."""

from __future__ import annotations

from fastsql.grammar.compile import EFFECTS
from fastsql.grammar.scope import Item, Record, Scope, Source


class Effects(Record):
    """Carries out semantic actions. `kind` and `index` are those of the action just taken."""

    __slots__ = ()

    def settle(self, kind: int, index: int) -> None:
        """Carries out the semantic actions that now lie on top of the stack."""
        while self.stack is not None and self.stack.symbol < 0:
            effect = EFFECTS[-1 - self.stack.symbol]
            self.stack = self.stack.below
            getattr(self, f"_do_{effect}")(kind, index)

    @property
    def step(self) -> int:
        """The latest decision; the first one to come before there is any, as on a budget that leaves no choice."""
        return max(self.decisions - 1, 0)

    def _open(self, sources: tuple[Source, ...]) -> None:
        self.scope = Scope(
            self.scope, sources, (), self._arity, self._followers, self._stands_for, self._widths
        )
        self._arity, self._followers, self._stands_for, self._widths = None, 0, None, None

    def _add(self, source: Source) -> None:
        assert self.scope is not None
        self.scope = self.scope._replace(sources=(*self.scope.sources, source))

    def _do_from(self, kind: int, index: int) -> None:
        """A query opens with the table just pointed at."""
        self._open((Source(index, (), self.step),))

    def _do_scope(self, kind: int, index: int) -> None:
        """A query opens whose first source is yet to come."""
        self._open(())

    def _do_source(self, kind: int, index: int) -> None:
        """The table just pointed at joins FROM."""
        self._add(Source(index, (), self.step))

    def _do_derived(self, kind: int, index: int) -> None:
        """The query just closed joins FROM."""
        self._add(Source(-1, self._closed, self.step))

    def _do_item(self, kind: int, index: int) -> None:
        """A select item is complete."""
        assert self.scope is not None
        item = Item(*self.last, self.step)
        self.scope = self.scope._replace(items=(*self.scope.items, item))

    def _do_columns(self, kind: int, index: int) -> None:
        """The query selects all columns of its sources."""
        assert self.scope is not None
        items: list[Item] = []
        for source in self.scope.sources:
            if source.table < 0:
                items += source.items
            else:
                columns = self.space.schema.tables[source.table].columns
                items += [Item(self.space.column_types[j], j, self.step) for j in columns]
        self.scope = self.scope._replace(items=tuple(items), starred=True)

    def _do_grouped(self, kind: int, index: int) -> None:
        """The query groups."""
        assert self.scope is not None
        self.scope = self.scope._replace(grouped=True)

    def _do_close(self, kind: int, index: int) -> None:
        """The innermost query is complete."""
        assert self.scope is not None
        self._closed = self.scope.stands_for or self.scope.items
        self._closed_widths = (
            tuple(self.width(source) for source in self.scope.sources) if self.scope.starred else None
        )
        self.last = (self._closed[0].type, self._closed[0].column)
        self.scope = self.scope.outer

    def _do_one(self, kind: int, index: int) -> None:
        """The query to come selects one item."""
        self._arity = 1

    def _do_first(self, kind: int, index: int) -> None:
        """The left operand of a set operation comes."""
        self._followers += 1

    def _do_second(self, kind: int, index: int) -> None:
        """The right operand of a set operation comes: as many items as the left one had."""
        self._arity, self._stands_for = len(self._closed), self._closed
        self._widths = self._closed_widths

    def _do_left(self, kind: int, index: int) -> None:
        """What was just completed is the left-hand side of a comparison."""
        assert self.scope is not None
        self.scope = self.scope._replace(left=self.last)

    def _do_number(self, kind: int, index: int) -> None:
        """What was just completed is a number."""
        self.last = ("number", None)

    def _do_text(self, kind: int, index: int) -> None:
        """What was just completed is text."""
        self.last = ("text", None)

    def _do_time(self, kind: int, index: int) -> None:
        """What was just completed is a time."""
        self.last = ("time", None)

    def _do_numbers(self, kind: int, index: int) -> None:
        """The literals to come are numbers."""
        assert self.scope is not None
        self.scope = self.scope._replace(left=("number", None))
