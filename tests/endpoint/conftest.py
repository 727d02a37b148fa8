"""A language server for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..worlds.language_server import LanguageServer, serving


@pytest.fixture
def server() -> Iterator[LanguageServer]:
    with serving() as state:
        yield state
