"""The reference automaton and the native one are cut alike: functions of one name, in files of one name, in one order."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from fastsql import grammar

PYTHON = Path(str(grammar.__file__)).parent
NATIVE = Path(__file__).parents[2] / "csrc" / "grammar"
TWINS = (
    "scope",
    "effects",
    "grouping",
    "routes",
    "pointed",
    "mask",
    "grounding",
    "comparing",
    "joining",
    "subqueries",
    "takable",
    "step",
)

ONLY_PYTHON = {
    "name_of",  # productions have names here, and roles there
    "reads_rows",  # a table there
    "find",  # of the compiled grammar there
    "_ends",  # a loop in each function there
}
ONLY_NATIVE = {
    "has",  # a role, which is a name here
    "longer",  # a list in an arena
    "each_production",  # of a set of bits
    "push",  # memory that may be full
    "is_before",  # order in lists, which are sets here
    "find_held",
}


def functions(source: str) -> list[str]:
    """The functions of a Python file, in order."""
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


def native_functions(source: str) -> list[str]:
    """The functions of a header, in order."""
    return re.findall(r"^FASTSQL_HOST_DEVICE [^\n(]*?(\w+)\(", source, flags=re.MULTILINE)


@pytest.mark.parametrize("name", TWINS)
def test_functions_stand_in_the_order_of_the_native_automaton(name: str) -> None:
    ours = functions((PYTHON / f"{name}.py").read_text(encoding="utf-8"))
    theirs = native_functions((NATIVE / f"{name}.h").read_text(encoding="utf-8"))
    shared = [function for function in ours if function not in ONLY_PYTHON]
    assert shared == [function for function in theirs if function not in ONLY_NATIVE]
    assert shared


def test_what_a_state_holds_is_declared_in_the_order_of_the_native_automaton() -> None:
    ours = ast.parse((PYTHON / "state.py").read_text(encoding="utf-8"))
    classes = [node.name for node in ours.body if isinstance(node, ast.ClassDef) and node.name != "Typed"]
    header = (NATIVE / "state.h").read_text(encoding="utf-8")
    assert classes == re.findall(r"^struct (?:alignas\(\d+\) )?(\w+)", header, flags=re.MULTILINE)
