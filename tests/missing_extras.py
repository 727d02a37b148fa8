"""A skip for a missing package becomes a failure where ``FASTSQL_EXTRAS=require`` says that a clean run means that all ran.

A reason that says "pip install" is such a skip, so that a test which somebody adds tomorrow is covered, too.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TypeVar

import pytest

EXTRAS_VARIABLE = "FASTSQL_EXTRAS"
_Report = TypeVar("_Report", pytest.CollectReport, pytest.TestReport)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Modules that are skipped as a whole."""
    return _failed_where_required((yield))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Single tests, by themselves or by a fixture."""
    return _failed_where_required((yield))


def _failed_where_required(report: _Report) -> _Report:
    skipped = report.outcome == "skipped" and isinstance(report.longrepr, tuple)
    if skipped and os.environ.get(EXTRAS_VARIABLE) == "require":
        file, line, reason = report.longrepr
        if "pip install" in reason:
            report.outcome = "failed"
            report.longrepr = f"{file}:{line}: {EXTRAS_VARIABLE}=require, but: {reason}"
    return report
