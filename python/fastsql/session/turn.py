"""A turn: a question of a conversation, and all that later questions need of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from fastsql.reliability.judges import Assessment
from fastsql.result import Result

if TYPE_CHECKING:
    from fastsql.execution import Rows
    from fastsql.execution.reuse import Reuse
    from fastsql.grammar.program import Program
    from fastsql.linking.turns import EarlierTurn


@dataclass(frozen=True, eq=False)
class TurnState:
    """What later questions need of a turn: a few kilobytes, no rows and no beam.

    Attributes:
        earlier: its query and its question's vector, as the model reads them.
        written: its query with references, by the numbers of turns.
        schema: the digest of the names of the tables and columns that its query is about.
        model: the bundle that read its question.
    """

    earlier: EarlierTurn
    written: Program
    schema: str
    model: str


@dataclass(frozen=True, repr=False, eq=False)
class Turn(Result):
    """The outcome of one question of a conversation; a `Result` with what it stands on.

    Its SQL stands alone: whatever it takes from earlier turns is written out in it. Its probabilities are those of the whole
    query, so that a turn is no surer than the turns that it uses.

    Attributes:
        number: its place in the conversation, from 1.
        uses: the numbers of the turns that its query refers to.
        kind: of `fastsql.grammar.turn_kinds.KINDS`: "independent", or some of "referential", "filtering" and "modifying".
        rows: what its SQL returned where the session has an executor; never part of an export.
        milliseconds: what running the SQL took.
        standing: the probabilities of its own part and of each turn that it stands on, by their numbers; under 0, of all
            that its question was no longer given.
        state: what later questions need of it; None where there is no query.
        forgotten: whether no later question may refer to it.
        referring: its SQL, refused or not, with tokens for what it takes from earlier turns; None where it takes nothing.
        at: when the rows were read, in UTC.
        reused: how the answers of earlier turns took part when its SQL was run: as parameters, as a temporary table, or as
            the subquery that stands in its SQL, with the reason (`fastsql.execution.reuse.Reuse`). Empty where none of their
            queries is inside its SQL, and where the session's `reuse` is "subquery".
        asked: what was typed, where that put right the question before, which was refused; `question` is then that question
            with what was meant. Empty for all others.
    """

    number: int = 1
    uses: tuple[int, ...] = ()
    kind: tuple[str, ...] = ("independent",)
    rows: Rows | None = None
    milliseconds: float = 0.0
    standing: Mapping[int, Assessment] = field(default_factory=dict)
    state: TurnState | None = None
    forgotten: bool = False
    referring: str | None = None
    at: datetime | None = None
    reused: tuple[Reuse, ...] = ()
    asked: str = ""

    @classmethod
    def of(cls, result: Result, **more: Any) -> Turn:
        """A turn with all that a result has, and `more`."""
        return cls(**{one.name: getattr(result, one.name) for one in fields(Result)}, **more)

    @property
    def sql_with_references(self) -> str | None:
        """The SQL with `PREV_RESULT1` for what turn 1 returned, and `PREV_QUERY1` for its query (EHR-SeqSQL, 3.2).

        To be read, and to be compared: it runs nowhere (`fastsql.grammar.render.references`). None for a refusal.
        """
        return None if self.sql is None else self.referring or self.sql

    @property
    def usable(self) -> bool:
        """Whether a later question may refer to it: it has an answer, and was not forgotten."""
        return self.state is not None and not self.abstained and not self.forgotten

    @property
    def asked_alone(self) -> Turn:
        """The same, of which later questions are given the question alone (QQ)."""
        if self.state is None:
            return self
        return replace(self, state=replace(self.state, earlier=replace(self.state.earlier, shown=False)))

    @property
    def light(self) -> Turn:
        """The same without rows, and without what explanations are made from."""
        return replace(self, background=None, rows=None, at=None, reused=())

    def to_dict(self, *, explain: bool = False) -> dict[str, Any]:
        """As `Result.to_dict`, with number, uses, kind and asked; without rows."""
        content = super().to_dict(explain=explain)
        told = {"number": self.number, "uses": list(self.uses), "kind": list(self.kind), "asked": self.asked}
        return {**told, **content}

    def __repr__(self) -> str:
        uses = f", uses={list(self.uses)}" if self.uses else ""
        return f"Turn({self.number}{uses}, {super().__repr__()[len('Result(') :]}"


def window(turns: Sequence[Turn], most: int, entries: int) -> tuple[Turn, ...]:
    """The latest turns that a question can be given: at most so many, which offer at most so many entries together."""
    kept: list[Turn] = []
    for turn in reversed(turns):
        if turn.state is None:
            continue
        entries -= turn.state.earlier.turn.entries
        if entries < 0 or len(kept) == most:
            break
        kept.append(turn)
    return tuple(reversed(kept))
