"""What tables and columns of an extended schema are called: by the names and labels that the schema has, in its language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from fastsql.schema.model import Column, Structure, Table, Value
from fastsql.schema.names import fold

_CHINESE = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_NO_LETTERS = re.compile(r"\W+")
_LONGEST = 24
"""Characters of a value that become part of a table's name."""


def joined_name(names: Sequence[str], taken: Iterable[str]) -> str:
    """One name of several, written as `taken` are: `singer_concert`, `SingerConcert`, `患者_就诊`; none of these."""
    taken = list(taken)
    plain = any("_" in name for name in taken) or not any(map(_is_camel, (names[0], *taken)))
    if plain:
        return fresh("_".join(names), taken)
    first, *rest = names
    parts = (part for word in rest for part in word.split("_"))
    return fresh(first + "".join(part[:1].upper() + part[1:] for part in parts), taken)


def _is_camel(name: str) -> bool:
    return name != name.upper() and name != name.lower() and "_" not in name


def fresh(name: str, taken: Iterable[str]) -> str:
    """The name, with a number behind it where it is taken; SQLite's letter case."""
    known = {fold(one) for one in taken}
    number, found = 2, name
    while fold(found) in known:
        found, number = f"{name}_{number}", number + 1
    return found


def part_names(table: Table, values: Sequence[Value], taken: Iterable[str]) -> list[str]:
    """The names of the parts of a table: its own and the value of each, or a number where a value gives no name."""
    known = [*taken, table.name]
    names: list[str] = []
    for number, value in enumerate(values, 1):
        word = _NO_LETTERS.sub("_", str(value)).strip("_")[:_LONGEST].strip("_")
        if table.name.upper() != table.name.lower():
            word = word.upper() if table.name == table.name.upper() else word
            word = word.lower() if table.name == table.name.lower() else word
        names.append(joined_name((table.name, word or str(number)), (*known, *names)))
    return names


def relation_label(child: Table, parent: Table) -> str:
    """What a relation table is called: "concert-singer", "门诊就诊记录-患者信息关系表"."""
    if _CHINESE.search(child.label + parent.label):
        return f"{_bare(child.label)}-{_bare(parent.label)}关系表"
    return f"{child.label}-{parent.label}"


def merged_label(parent: Table, child: Table) -> str:
    """What a merged table is called: "singer & concert", "检验报告与检验结果指标表"."""
    if _CHINESE.search(child.label + parent.label):
        return f"{_bare(parent.label)}与{child.label}"
    return f"{parent.label} & {child.label}"


def part_label(table: Table, column: Column, value: Value) -> str:
    """What a part of a table is called: "patient (female)", by the value's synonym where a code has one."""
    called = next(
        (words[0] for known, words in column.value_synonyms if known == value and words), str(value)
    )
    return f"{table.label}（{called}）" if _CHINESE.search(table.label) else f"{table.label} ({called})"


def told_apart(label: str, table: Table) -> str:
    """A column's label that another column of the merged table has, too: with the table that it came from."""
    return (
        f"{_bare(table.label)}{label}" if _CHINESE.search(label + table.label) else f"{table.label} {label}"
    )


def table_names(schema: Structure, but: Iterable[int] = ()) -> list[str]:
    """The names of a schema's tables, without some."""
    gone = frozenset(but)
    return [table.name for number, table in enumerate(schema.tables) if number not in gone]


def _bare(label: str) -> str:
    return label.removesuffix("表") or label
