"""Types of the native module; the C++ sources are in ``csrc/``."""

import numpy as np
from numpy.typing import NDArray

__version__: str
compiler: str

def instruction_sets() -> tuple[str, ...]:
    """Kernels that this build and this processor can run, slowest first; the last one is used."""

def relation_attention(
    query: NDArray[np.float32],
    key: NDArray[np.float32],
    value: NDArray[np.float32],
    relation_key: NDArray[np.float32],
    relation_value: NDArray[np.float32],
    relations: NDArray[np.uint8],
) -> NDArray[np.float32]:
    """Relation-aware multi-head attention in factored form (RAT-SQL, section 4.2).

    Arrays that are not contiguous are copied. Runs on the calling thread without holding the interpreter's lock.

    Args:
        query: float32[heads, rows, head size], not yet scaled by 1 / sqrt(head size).
        key: float32[heads, columns, head size].
        value: float32[heads, columns, head size].
        relation_key: float32[relations, head size], shared by the heads; at most 256 relations.
        relation_value: float32[relations, head size].
        relations: uint8[rows, columns], each below the number of relations.

    Returns:
        float32[heads, rows, head size].

    Raises:
        ModelError: shapes disagree, or a relation is out of range.
        TypeError: an array has another element type.
    """

class Grammar:
    """The compiled action grammar, made once a process."""

    def __init__(self, table: NDArray[np.int32]) -> None:
        """Reads what `fastsql.grammar.tables.grammar_table` writes. Raises ModelError where it is not in order."""

class SchemaItems:
    """What the automaton knows of a schema, made once a schema."""

    def __init__(self, grammar: Grammar, table: NDArray[np.int32]) -> None:
        """Reads what `fastsql.grammar.tables.schema_table` writes. Raises ModelError where it is not in order."""

class ActionSpace:
    """The actions of one question over a schema, numbered as `fastsql.grammar.ActionSpace` numbers them."""

    def __init__(self, schema: SchemaItems, table: NDArray[np.int32]) -> None:
        """Reads what `fastsql.grammar.tables.question_table` writes. Raises ModelError where it is not in order."""

    @property
    def size(self) -> int:
        """Number of flat ids."""

class State:
    """A point in the decoding of one query; never changes. Made by `Automaton.start` and `advance` only."""

    @property
    def finished(self) -> bool:
        """Whether the query is complete."""

    @property
    def symbol(self) -> int:
        """The frontier: the symbol to be expanded next; -1 once finished."""

    @property
    def parent(self) -> int:
        """The production that put the frontier on the stack (the number of productions: none did); -1 once finished."""

    @property
    def used(self) -> int:
        """Actions taken."""

    @property
    def decisions(self) -> int:
        """Actions taken that were not the only legal one."""

    @property
    def cost(self) -> int:
        """Fewest actions that complete the query."""

    def legal(self) -> NDArray[np.int64]:
        """Flat ids of all actions that may come next, ascending; empty once finished."""

    def mask(self) -> NDArray[np.bool_]:
        """Which actions may come next: bool[A]."""

    def advance(self, action: int, *, decision: bool = True) -> State:
        """The state after an action; `decision` is False for an action that was the only legal one.

        Raises:
            IllegalActionError: `legal` does not offer the action.
        """

class Automaton:
    """The grammar's pushdown automaton over one action space: `fastsql.grammar.State`, natively. Thread-safe."""

    def __init__(self, space: ActionSpace) -> None:
        """States that come from it share its memory, and keep it."""

    def start(self) -> State:
        """The state before the first action."""

    def replay(
        self, decisions: NDArray[np.int32]
    ) -> tuple[NDArray[np.int16], NDArray[np.int16], NDArray[np.uint64], int, bool]:
        """What a sequence of D decisions passes through; forced actions are filled in, those after the last decision, too.

        Runs without holding the interpreter's lock.

        Returns:
            symbols: int16[D], the frontier before each decision.
            parents: int16[D], the production that put it there.
            legal: uint64[D, words], what was legal then: action A is bit A % 64 of word A // 64.
            used: actions taken.
            finished: whether the query is complete.

        Raises:
            IllegalActionError: a decision is not legal where it stands, or comes after the end.
        """
