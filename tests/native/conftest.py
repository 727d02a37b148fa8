from __future__ import annotations

import os
from types import ModuleType

import pytest

from fastsql import backends


@pytest.fixture(scope="session")
def core() -> ModuleType:
    """The native module. Missing, it fails the test under FASTSQL_NATIVE=require, and skips it otherwise."""
    module = backends.native()
    if module is None:
        reason = backends.native_status().reason
        pytest.skip(
            f"needs the native module ({reason}); FASTSQL_NATIVE={os.environ.get('FASTSQL_NATIVE', '')}"
        )
    return module
