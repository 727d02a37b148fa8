"""One small set of synthetic pairs for all tests, and the ward they are tried on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fastsql.datasets import Example
from fastsql.schema import Schema
from fastsql.synthesis.generate import generate
from fastsql.synthesis.hospital import Hospital
from fastsql.synthesis.hospital.ward import Ward

EXAMPLES = 120


@pytest.fixture(scope="session")
def hospital() -> Iterator[Hospital]:
    """The source of pairs, with the names of the demo hospital."""
    with Hospital() as opened:
        yield opened


@pytest.fixture(scope="session")
def pairs(hospital: Hospital) -> list[Example]:
    """A few pairs of every sort."""
    return generate(hospital, EXAMPLES, seed=11)


@pytest.fixture(scope="session")
def schema(hospital: Hospital) -> Schema:
    """The tables that pairs are made for."""
    return hospital.schema


@pytest.fixture(scope="session")
def ward() -> Iterator[Ward]:
    """A generated hospital."""
    with Ward(patients=30) as opened:
        yield opened
