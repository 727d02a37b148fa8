"""Values and named constants that can be written as SQL literals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fastsql.schema.findings import Findings, is_text, short, unusable, usable_label
from fastsql.schema.model import Constant, Structure, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastsql.schema.draft import DraftConstant


def assemble_values(values: Iterable[Any], item: str, findings: Findings) -> tuple[Value, ...]:
    """The usable ones of a column's small-domain values, without repetition, in the order given."""
    kept: dict[tuple[type, Value], None] = {}
    left_out = 0
    for value in values:
        usable = literal(value)
        if usable is None or (isinstance(usable, str) and len(usable) > findings.limits.value_characters):
            left_out += 1
        else:
            kept[type(usable), usable] = None
    # Values are named by number only: they may be cells of a patient's record.
    if left_out:
        findings.note(
            item, f"{left_out} of its values cannot stand in SQL or are too long; they are left out"
        )
    most = findings.limits.values_per_column
    if len(kept) > most:
        findings.note(
            item, f"it has {len(kept)} values, too many for a small domain; the first {most} are kept"
        )
    return tuple(value for _, value in list(kept)[:most])


def literal(value: Any) -> Value | None:
    """``value`` as one that can be written as a SQL literal, or None: no NaN, no NUL character, no bytes."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        # SQLite reads a larger integer as a real, so the literal would not be the value.
        return value if -(2**63) <= value < 2**63 else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value if "\0" not in value and is_text(value) else None
    return None


def assemble_constants(
    schema: Structure, constants: Iterable[DraftConstant], findings: Findings
) -> tuple[Constant, ...]:
    """The usable ones of the named constants."""
    kept: dict[str, Constant] = {}
    for constant in constants:
        item = f"constant {constant.name!r}"
        column = None
        if constant.column is not None:
            column = schema.find_column(*constant.column)
            if column is None:
                findings.note(
                    item, f"there is no column {'.'.join(constant.column)}; the constant is kept without it"
                )
        value = literal(constant.value)
        if reason := unusable(constant.name):
            findings.note(item, f"{reason}; the constant is left out")
        elif len(constant.name) > findings.limits.identifier_characters:
            findings.note(
                f"constant {short(constant.name)}", "the name is too long; the constant is left out"
            )
        elif value is None:
            findings.note(item, "its value is neither text nor a finite number; the constant is left out")
        elif constant.name in kept:
            findings.note(item, "there is another constant of this name; this one is left out")
        else:
            label = usable_label(constant.label, constant.name, item, findings)
            kept[constant.name] = Constant(constant.name, value, label, column)
    return tuple(kept.values())
