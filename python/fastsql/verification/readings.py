"""How often sqlglot's parser would read the tokens of a text, told from the tokens alone, so that no text takes it long.

The parser tries one reading, and where that fails, goes back and tries another. Where such places nest, the readings
multiply: everything inside is read twice for each of

- a parenthesis after a name of a type, such as ``DATE(...)``: tried as a type, then as a call;
- a parenthesis after LIMIT or OFFSET, up to the end of that query: tried ahead, then read;
- a JOIN that meets the next one without a condition, for all that follows in its parentheses: tried as one whose
  condition comes after the next.

No other construct does: ``tests/attacks/test_time.py`` nests every one that the verifier's lists know, alone and mixed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

MOST_READINGS = 3
"""Times that a token may be read, on average over a text."""
ALWAYS_READINGS = 2_000
"""Readings of a whole text that are never too many."""

_BEFORE_NAMES = frozenset(("ALIAS", "DOT", "COMMA", "L_PAREN", "JOIN"))
"""Kinds of tokens after which a keyword is a name, where it is anything."""
_OPERANDS = frozenset(
    ("R_PAREN", "R_BRACKET", "NUMBER", "STRING", "VAR", "IDENTIFIER", "NULL", "TRUE", "FALSE", "END", "STAR")
)
"""Kinds that end an operand: UNION after them is no type, whatever follows."""
_AHEAD = frozenset(("LIMIT", "OFFSET", "FETCH"))
_DOUBLING = _AHEAD | {"JOIN", "STRAIGHT_JOIN"}
_MOST_DOUBLINGS = 40


@dataclass
class _Group:
    """Tokens between two parentheses: how often each of the present ones is doubled, and what the group has seen."""

    doublings: int
    ahead: bool = False
    """LIMIT or its like stood in it: parentheses from here on are read ahead."""
    crossed: bool = False
    """The token before was CROSS: the next JOIN needs no condition."""
    joined: int = 0
    """JOINs that still lack their condition, the present one among them."""

    @property
    def doubled(self) -> int:
        """How often what stands in the group now is doubled."""
        return self.doublings + max(0, self.joined - 1)


def too_many_readings(tokens: Sequence[Token], types: Collection[object]) -> bool:
    """Whether the parser would read tokens more than `MOST_READINGS` times on average; `types` are its names of types."""
    most = MOST_READINGS * len(tokens) + ALWAYS_READINGS
    if (
        len(tokens) << min(_places(tokens, types), _MOST_DOUBLINGS) <= most
    ):  # so few that it does not matter how they nest
        return False
    readings = 0
    groups = [_Group(0)]
    before, type_before = "", False
    for token in tokens:
        kind: str = token.token_type.name
        group = groups[-1]
        if kind == "L_PAREN":
            groups.append(_Group(group.doubled + type_before + group.ahead))
        elif kind == "R_PAREN":
            if len(groups) > 1:
                groups.pop()
        elif kind == "STRAIGHT_JOIN" or (kind == "JOIN" and (group.joined or not group.crossed)):
            group.joined += 1
        elif before not in _BEFORE_NAMES:
            if kind in ("ON", "USING"):
                group.joined = max(0, group.joined - 1)
            elif kind in _AHEAD:
                group.ahead = True
        group.crossed = kind == "CROSS" and before not in _BEFORE_NAMES
        readings += 1 << min(groups[-1].doubled, _MOST_DOUBLINGS)
        if readings > most:
            return True
        type_before = token.token_type in types and not (kind == "UNION" and before in _OPERANDS)
        before = kind
    return False


def _places(tokens: Sequence[Token], types: Collection[object]) -> int:
    """At how many places, at most, readings double."""
    before: object = None
    places = 0
    for token in tokens:
        kind = token.token_type
        places += (before in types and kind.name == "L_PAREN") or kind.name in _DOUBLING
        before = kind
    return places
