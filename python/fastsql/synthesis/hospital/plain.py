"""What anybody asks of the demo hospital's tables, MIMIC-IV's, and the families of questions leave out as too plain."""

from __future__ import annotations

import tempfile
from pathlib import Path

from fastsql.demo import create_hospital
from fastsql.execution import open_executor
from fastsql.schema import Schema
from fastsql.synthesis.many import MadeSet, excerpt, pairs_over
from fastsql.synthesis.pool import PooledSchema


def plain_set(pairs: int, seed: int) -> MadeSet:
    """So many pairs as are made over any schema, over the demo hospital. Raises SynthesisError where none is found."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo_hospital.sqlite"
        create_hospital(path)
        schema = Schema.from_sqlite(path)
        with open_executor(path) as executor:
            found = pairs_over(PooledSchema("demo", schema, schema.profile), executor, pairs, seed)
            return MadeSet(tuple(found), (schema,), {schema.name: excerpt(schema, executor)})
