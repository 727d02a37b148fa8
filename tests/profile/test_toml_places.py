"""The outline of a TOML text has every key at its line."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fastsql.profile.toml_places import outline
from fastsql.profile.writing import key_text, quoted

tomllib: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

TEXT = '''\
# a heading = "no key"
format = 1  # behind a value

[table.patients] # behind a header
label = "a # that is none"
synonyms = [  # in an array
    "people", # here
    "a ] bracket",
]
description = """
three = "lines"
"""
[ table . "bills.paid" ]
'row' = ['a"b', "c'd"]
a.b = { c = [1, 2], "d e" = '=' }

[[odd]]
x = \'\'\'
[none]\'\'\'
'''


def test_keys_and_headers_have_their_lines() -> None:
    assert [(one.path, one.first, one.last, one.is_header) for one in outline(TEXT)] == [
        (("format",), 2, 2, False),
        (("table", "patients"), 4, 4, True),
        (("table", "patients", "label"), 5, 5, False),
        (("table", "patients", "synonyms"), 6, 9, False),
        (("table", "patients", "description"), 10, 12, False),
        (("table", "bills.paid"), 13, 13, True),
        (("table", "bills.paid", "row"), 14, 14, False),
        (("table", "bills.paid", "a", "b"), 15, 15, False),
        (("odd",), 17, 17, True),
        (("odd", "x"), 18, 19, False),
    ]
    tomllib.loads(TEXT)


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def array(texts: list[str]) -> str:
    """An array over several lines, with a comment in it that looks like its end."""
    return f"[\n{', '.join(map(quoted, texts))} # ]\n]"


values = st.one_of(names.map(quoted), st.integers().map(str), st.lists(names, max_size=3).map(array))


@given(st.dictionaries(names, st.dictionaries(names, values, max_size=4), max_size=4))
def test_whatever_the_names_the_outline_is_that_of_the_parser(sections: dict[str, dict[str, str]]) -> None:
    lines = []
    for name, entries in sections.items():
        lines.append(f"[a.{key_text(name)}]")
        lines += [f"{key_text(key)} = {value}" for key, value in entries.items()]
    text = "\n".join(lines)
    data = tomllib.loads(text).get("a", {})
    expected = {("a", name) for name in data} | {("a", name, key) for name in data for key in data[name]}
    found = list(outline(text))
    assert {one.path for one in found} == expected
    rows = text.split("\n")
    for one in found:
        assert rows[one.first - 1].startswith("[a." if one.is_header else f"{key_text(one.path[-1])} =")
