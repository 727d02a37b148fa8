"""Interactions of a data set's single questions, over all of its databases."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from fastsql.datasets import Example
from fastsql.execution import open_executor
from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis.generate import Report
from fastsql.synthesis.interactions.checks import Checker
from fastsql.synthesis.interactions.construction import Constructed, Goal, construct
from fastsql.synthesis.source import SynthesisError

logger = logging.getLogger(__name__)


def construct_all(
    examples: Sequence[Example],
    schemas: Mapping[str, Schema],
    files: Mapping[str, Path | None],
    *,
    profiles: Mapping[str, Profile] = MappingProxyType({}),
    seed: int = 1,
    now: str | None = None,
    report: Report = logger.info,
) -> Constructed:
    """Interactions of all questions that have SQL, database by database; the same arguments give the same.

    `files`: the SQLite file of each database, where there is one. `profiles`: those that people have edited, where there are
    any. Raises SynthesisError where no question has SQL.
    """
    asked = [one for one in examples if one.sql is not None and one.runs]
    if not asked:
        raise SynthesisError("no question has SQL", where="conversations", remedy="Give questions with SQL.")
    found = Constructed(())
    for db_id in dict.fromkeys(one.db_id for one in asked):
        goals = [Goal(one.id, one.question, str(one.sql)) for one in asked if one.db_id == db_id]
        file = files.get(db_id)
        with nullcontext() if file is None else open_executor(file) as executor:
            made = construct(
                goals,
                Checker(schemas[db_id], executor, now),
                db_id=db_id,
                seed=seed,
                profile=profiles.get(db_id),
                report=report,
            )
        found = replace(
            found,
            interactions=(*found.interactions, *made.interactions),
            dropped=Counter(found.dropped) + made.dropped,
            unequal=(*found.unequal, *made.unequal),
        )
    return found
