"""The native module is where it is said to be, and its absence is noticed."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

from fastsql import backends
from fastsql.errors import ModelError


def test_the_native_module_is_there_where_it_is_required(core: ModuleType) -> None:
    status = backends.native_status()
    assert status.available
    assert status.path == core.__file__
    assert status.compiler
    assert status.instruction_sets[0] == "baseline"


def test_off_hides_a_module_that_is_there(core: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTSQL_NATIVE", "off")
    assert backends.native() is None
    assert backends.native_status() == backends.NativeStatus(False, "switched off by FASTSQL_NATIVE=off")


def _without_native_module(monkeypatch: pytest.MonkeyPatch) -> None:
    original = importlib.import_module

    def import_module(name: str, package: str | None = None) -> ModuleType:
        if name == "fastsql._core":
            raise ModuleNotFoundError("No module named 'fastsql._core'", name=name)
        return original(name, package)

    monkeypatch.delitem(sys.modules, "fastsql._core", raising=False)
    monkeypatch.setattr(importlib, "import_module", import_module)


def test_a_missing_module_is_reported_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    _without_native_module(monkeypatch)
    monkeypatch.setenv("FASTSQL_NATIVE", "auto")
    assert backends.native() is None
    status = backends.native_status()
    assert not status.available
    assert "compiler" in status.reason
    assert any("native module" in problem for problem in backends.report().problems)


def test_a_missing_module_is_an_error_where_it_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    _without_native_module(monkeypatch)
    monkeypatch.setenv("FASTSQL_NATIVE", "require")
    with pytest.raises(ModelError, match=r"FASTSQL_NATIVE=require.*compiler"):
        backends.native()


@pytest.mark.parametrize("value", ["yes", "0", "require-it"])
def test_an_unknown_setting_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTSQL_NATIVE", value)
    with pytest.raises(ModelError, match=r"FASTSQL_NATIVE.*'auto', 'off' or 'require'"):
        backends.native()
