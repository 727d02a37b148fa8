from __future__ import annotations

from types import ModuleType

import pytest

from fastsql import backends


@pytest.fixture(scope="session")
def core() -> ModuleType:
    """The native module. Missing, it fails the test under FASTSQL_NATIVE=require, and skips it otherwise."""
    module = backends.native()
    if module is None:
        pytest.skip(f"native module {backends.native_status().reason}")
    return module
