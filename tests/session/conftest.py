"""A parser with random weights that knows conversations, and a database for what it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.limits import Limits
from fastsql.parser import Parser

from ..worlds.database import write_database
from ..worlds.toy_bundle import load_toy, make_config, write_bundle
from ..worlds.toy_model import SCHEMA

REFERRING = {"extend": 9.0, "previous": 9.0, "in_previous": 9.0, "eq": 2.0, "end": 5.0}
"""What is added to the scores of productions, so that questions refer to earlier ones."""
LIMITS = Limits(actions=120, turns=8)
DDL = f"""
{SCHEMA.to_ddl()}
INSERT INTO patients VALUES (1, 'f', '2100-01-01 00:00:00'), (2, 'm', '2101-01-01 00:00:00');
INSERT INTO admissions VALUES (10, 1, 'urgent'), (11, 2, 'elective');
INSERT INTO 就诊 VALUES (5, '败血症');
"""


@pytest.fixture(scope="session")
def talking_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy bundle whose model knows conversations."""
    config = make_config().with_turns()
    return write_bundle(tmp_path_factory.mktemp("talking") / "toy", config=config, likely=REFERRING)


@pytest.fixture(scope="session")
def parser(talking_bundle: Path) -> Parser:
    """Its parser, which refuses nothing."""
    return load_toy(talking_bundle, limits=LIMITS)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with the toy schema and a few rows."""
    return write_database(tmp_path / "ward.sqlite", DDL)
