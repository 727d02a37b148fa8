"""The declared versions of other packages, and what `fastsql doctor` says of one that lies outside."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from fastsql import backends
from fastsql.version_ranges import declared_ranges, is_within, normalised

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BOUNDED = ("sqlglot", "tokenizers", "onnxruntime", "onnxruntime-gpu", "sqlalchemy", "psycopg", "duckdb")
"""Packages whose next major version may change what correctness or the executors' walls rest on."""


@pytest.mark.parametrize(
    ("version", "wanted", "within"),
    [
        ("30.24.0", "<31,>=30.24", True),
        ("30.24", "<31,>=30.24.0", True),
        ("30.23.9", "<31,>=30.24", False),
        ("31", "<31,>=30.24", False),
        ("31.0.0", "<31,>=30.24", False),
        ("31.0rc1", "<31,>=30.24", False),
        ("30.100.1", "<31,>=30.24", True),
        ("2.13.0+cpu", ">=2.6", True),
        ("0.23.3", "<1,>=0.20", True),
        ("0.3", ">=0.20", False),
        ("1.2", "!=1.2.0", False),
        ("1.2", "==1.2", True),
        ("1!2.0", ">=1", True),
        ("unknown", ">=1", False),
        ("unknown", "", True),
    ],
)
def test_versions_are_compared_number_by_number(version: str, wanted: str, within: bool) -> None:
    assert is_within(version, wanted) == within


@pytest.mark.parametrize("clause", ["~=2.0", "==2.*", ">= two", "2"])
def test_a_clause_that_is_not_understood_is_never_taken_as_fulfilled(clause: str) -> None:
    with pytest.raises(ValueError, match="clause"):
        is_within("2.0", clause)


@pytest.fixture
def ranges(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What `pyproject.toml` declares, as if it had been installed as it is now."""
    extras = PROJECT["optional-dependencies"]
    requires = [
        *PROJECT["dependencies"],
        *(f"{line}; extra == '{extra}'" for extra in extras for line in extras[extra]),
    ]
    monkeypatch.setattr(metadata, "requires", lambda name: requires)
    return declared_ranges()


@pytest.mark.parametrize("name", BOUNDED)
def test_what_the_walls_rest_on_has_a_lower_and_an_upper_bound(ranges: dict[str, str], name: str) -> None:
    clauses = ranges[name].split(",")
    assert sorted(clause[0] for clause in clauses) == ["<", ">"]


def test_every_component_of_the_report_is_declared_in_clauses_that_are_understood(
    ranges: dict[str, str],
) -> None:
    for component in backends.components():
        assert component.wanted == ranges[normalised(component.name)]
        assert not is_within("0.0", component.wanted)


@pytest.mark.parametrize(
    ("name", "version"), [("tokenizers", "1.0.0"), ("duckdb", "3.1"), ("sqlglot", "29.0")]
)
def test_a_version_outside_is_a_problem_with_a_remedy(
    ranges: dict[str, str], name: str, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "_version", {name: version, "fastsql": "0.1.0"}.get)
    (problem,) = (
        problem for problem in backends.report().problems if problem.startswith(f"{name} {version}")
    )
    assert f"Run: pip install '{name}{ranges[name]}'" in problem


def test_what_is_not_installed_lies_in_every_range(ranges: dict[str, str]) -> None:
    assert backends.Component("duckdb", None, "", "duckdb", ranges["duckdb"]).supported


def test_a_source_tree_declares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert declared_ranges("a-distribution-that-nobody-has-installed") == {}
