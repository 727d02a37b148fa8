"""The action grammar: SQL as a sequence of actions in execution order, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.grammar.automaton import IllegalActionError, State
from fastsql.grammar.compile import Grammar, load_grammar
from fastsql.grammar.program import ColumnRef, DerivedRef, Literal, Production, Program, TableRef, TurnRef
from fastsql.grammar.readback import read_path, read_program
from fastsql.grammar.render import render
from fastsql.grammar.schema_values import SchemaValue
from fastsql.grammar.space import ActionSpace
from fastsql.grammar.transitions import GroundingError
from fastsql.lazily import lazily

if TYPE_CHECKING:
    from fastsql.grammar.convert import ConversionError, sql_to_program
    from fastsql.grammar.reading_turns import read_turn
    from fastsql.grammar.trace import Trace, trace_program
    from fastsql.grammar.turns import Turn

__all__ = [
    "ActionSpace",
    "ColumnRef",
    "ConversionError",
    "DerivedRef",
    "Grammar",
    "GroundingError",
    "IllegalActionError",
    "Literal",
    "Production",
    "Program",
    "SchemaValue",
    "State",
    "TableRef",
    "Trace",
    "Turn",
    "TurnRef",
    "load_grammar",
    "read_path",
    "read_program",
    "read_turn",
    "render",
    "sql_to_program",
    "trace_program",
]

_LAZY = {
    "ConversionError": "convert",
    "Trace": "trace",
    "Turn": "turns",
    "read_turn": "reading_turns",
    "sql_to_program": "convert",
    "trace_program": "trace",
}
"""What no single question needs: imported when it is asked for."""
__getattr__ = lazily(__name__, _LAZY)
