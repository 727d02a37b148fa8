"""What a parse leaves for those who ask: why each name and literal stands in a query, and what the decoder decided."""

from __future__ import annotations

from dataclasses import dataclass

Span = tuple[int, int]
"""Characters of the question as it was asked, ``[start, end)``."""

Line = list[tuple[str, str]]
"""Pieces of a line of text, each with its style: "", or a name that `fastsql.view.terminal` knows."""


@dataclass(frozen=True)
class Reason:
    """Why something stands in the SQL.

    `kind` is "table", "column", "value" or "time"; `target` says what stands there (``prescriptions.drug = 'warfarin'``),
    `sql` is its token in the SQL (``'warfarin'``), "" where it is more than a token. `span` and `text` are the words of
    the question that account for it, None and "" where none do.
    """

    kind: str
    target: str
    why: str
    span: Span | None = None
    text: str = ""
    sql: str = ""


@dataclass(frozen=True)
class Decision:
    """One decision of the decoder.

    `symbol` is the grammar's symbol that was expanded, `kind` the kind of action (`fastsql.grammar.actions.KINDS`), `choice`
    what was taken; `legal` counts the actions that the automaton offered, `probability` is the model's for the one taken.
    `span` is where a pointer into the question went.
    """

    symbol: str
    kind: str
    choice: str
    legal: int
    probability: float
    span: Span | None = None


@dataclass(frozen=True)
class WordRoles:
    """The parts of the query that words of the question stand in (`fastsql.explanation.roles.ROLES`), in their order."""

    roles: tuple[str, ...]
    span: Span
    text: str


@dataclass(frozen=True)
class Trail:
    """What a parse leaves behind for those who ask: reasons in order of the query, decisions in order of decoding, roles in
    order of the question.
    """

    reasons: tuple[Reason, ...] = ()
    decisions: tuple[Decision, ...] = ()
    roles: tuple[WordRoles, ...] = ()
