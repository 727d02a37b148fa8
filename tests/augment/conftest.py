"""One small set of synthetic pairs for all tests, and the ward they are tried on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fastsql.augment import generate
from fastsql.augment.checks import hospital_schema
from fastsql.augment.ward import Ward
from fastsql.datasets import Example
from fastsql.schema import Schema

EXAMPLES = 120


@pytest.fixture(scope="session")
def pairs() -> list[Example]:
    """A few pairs of every sort, with the names of the demo hospital."""
    return generate(EXAMPLES, seed=11)


@pytest.fixture(scope="session")
def schema() -> Schema:
    """The tables that pairs are made for."""
    return hospital_schema()


@pytest.fixture(scope="session")
def ward() -> Iterator[Ward]:
    """A generated hospital."""
    with Ward(patients=30) as opened:
        yield opened
