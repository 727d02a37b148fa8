"""A hypothesis's comparisons, as the question plainly says them.

"Weight >= 80" is at least 80 whatever a model thinks: it has seen how a few comparisons are said, and takes the rest for
these. What is compared with what is its business; how, where words beside the value leave no doubt, is not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fastsql.grammar.compared import ORDERS, comparisons
from fastsql.grammar.program import ColumnRef, Literal, Production, Program, Terminal
from fastsql.linking.said_comparisons import said_of
from fastsql.linking.vocabulary import chinese, english
from fastsql.schema import Schema

_APART = r"(?<![^\W\u2e80-\u9fff]){}(?![^\W\u2e80-\u9fff])"
"""Not within a word; Chinese ones have no blanks between them."""
_AMOUNT = re.compile(r"-?\d+(?:\.\d+)?|\d{4}-\d\d-\d\d.*")
_CODE = 2
"""Letters of the longest values that are no words."""
_RANGE = Production("between")
_OR, _AND, _OTHER = Production("or"), Production("and"), Production("ne")
_ONE_WHOLE = Literal(1.0, provenance="closed")
_DIVIDE, _TIMES, _ONE = Production("divide"), Production("times"), Production("one")
_EQUAL, _ZERO = Production("eq"), Production("zero")
_LEAVES_OUT = frozenset(map(Production, ("not", "not_in", "not_exists", "except")))
_OPPOSITE = {"gt": "le", "le": "gt", "ge": "lt", "lt": "ge", "eq": "ne", "ne": "eq"}
_NOES = frozenset({"0", "n", "no", "f", "false", "否", "无"})
_YESES = frozenset({"1", "y", "yes", "t", "true", "是", "有"})
_NO_IN_FULL = frozenset({"no", "false", "否"})
_DENIES = re.compile(
    rf"(?:{'|'.join((*english.DENIALS, *english.LEFT_OUT))})(?!\w)|{'|'.join((*chinese.DENIALS, *chinese.LEFT_OUT))}",
    re.IGNORECASE,
)
_SAYS_ZERO = re.compile(r"(?<!\d)0(?!\d)|zero|零", re.IGNORECASE)


def as_said(program: Program, question: str) -> Program:
    """The program; where the question says beside a value how it is compared, it is compared so.

    What is other than a value may also be found by leaving out what equals it, and what is always below by leaving out what
    is at least that once: these stay.
    """
    program = _without_empty_ranges(program, question)
    leaves_out = not _LEAVES_OUT.isdisjoint(program)
    for one in comparisons(program):
        said = _said(program[one.literal], question)
        if said is None or said == one.sign or (said == _OPPOSITE[one.sign] and leaves_out):
            continue
        program = one.turned(program, said)
    return _in_fractions(_neither(program))


def denied_once(program: Program, question: str, schema: Schema) -> Program:
    """The program; where the question denies something, what is other than "no", as a column of yes and no has it, is "no".

    "Leave out what is discontinued" asks for what is not, whether a model says "is no" or "is other than no".
    """
    if _OTHER not in program or _DENIES.search(question) is None:
        return program
    says_zero = _SAYS_ZERO.search(question) is not None
    for place in range(len(program) - 2):
        sign, column, value = program[place : place + 3]
        if (
            sign == _OTHER
            and isinstance(column, ColumnRef)
            and _is_no(value, column.column, schema, says_zero)
        ):
            program = (*program[:place], _EQUAL, *program[place + 1 :])
    return program


def _is_no(value: Terminal, column: int, schema: Schema, says_zero: bool) -> bool:
    """Whether a value is that of a "no": a column of yes and no has it, or a number that is no amount of something.

    Where the values of a column are not known, "F" may as well be a sex, and "N" a night.
    """
    if value == _ZERO or (isinstance(value, Literal) and value.value == 0):
        return not says_zero and schema.profile.columns[column].kind != "amount"
    if not isinstance(value, Literal):
        return False
    known = {str(one).casefold() for one in schema.columns[column].values}
    of_both = bool(known & _YESES) and known <= _NOES | _YESES
    return str(value.value).casefold() in (_NOES if of_both else _NO_IN_FULL)


def _neither(program: Program) -> Program:
    """Of "other than this or other than that", which is everything, neither: what is other than both."""
    for place in range(len(program) - 6):
        either, *conditions = program[place : place + 7]
        if either == _OR and _excludes(conditions[:3]) and _excludes(conditions[3:]):
            (_, column, value), (_, other, another) = conditions[:3], conditions[3:]
            if column == other and value != another:
                program = (*program[:place], _AND, *program[place + 1 :])
    return program


def _in_fractions(program: Program) -> Program:
    """What is multiplied by one and divided is to be a fraction: SQL divides whole numbers to a whole number."""
    for place in range(len(program) - 2):
        if program[place : place + 2] == (_DIVIDE, _TIMES) and _is_one(program[place + 2]):
            program = (*program[: place + 2], _ONE_WHOLE, *program[place + 3 :])
    return program


def _is_one(item: Terminal) -> bool:
    return item == _ONE or (isinstance(item, Literal) and item.value == 1 and item.span is None)


def _excludes(condition: Sequence[Terminal]) -> bool:
    sign, column, value = condition
    return sign == _OTHER and isinstance(column, ColumnRef) and isinstance(value, Literal)


def _without_empty_ranges(program: Program, question: str) -> Program:
    """A range from a value to itself becomes the comparison that the question says."""
    for place in range(len(program) - 3):
        sign, column, low, high = program[place : place + 4]
        if sign != _RANGE or not isinstance(column, ColumnRef) or low != high:
            continue
        said = _said(low, question)
        if said is not None:
            rest = _without_empty_ranges(program[place + 4 :], question)
            return (*program[:place], Production(said), column, low, *rest)
    return program


def _said(item: object, question: str) -> str | None:
    if not isinstance(item, Literal):
        return None
    span = item.span or _place(item.value, question)
    said = None if span is None else said_of(question, span, dated=bool(item.format))
    # Of texts, "after Smith" is no order.
    return None if said in ORDERS and not (item.format or _AMOUNT.fullmatch(str(item.value))) else said


def _place(value: str | float, question: str) -> tuple[int, int] | None:
    """Where a value that its column offers stands in the question, if that is one place."""
    if not isinstance(value, str) or not value.strip():
        return None
    case = re.IGNORECASE if len(value) > _CODE else 0  # "not a smoker" says nothing of grade A
    found = [one.span() for one in re.finditer(_APART.format(re.escape(value)), question, case)]
    return found[0] if len(found) == 1 else None
