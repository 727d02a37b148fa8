"""A variant refers to no table that it leaves out."""

from __future__ import annotations

import random

from fastsql.synthesis.designs import designs
from fastsql.synthesis.designs.model import Reference
from fastsql.synthesis.designs.shapes import shaped


def test_no_reference_is_to_a_table_that_is_left_out() -> None:
    for design in designs():
        for seed in range(150):
            tables = shaped(design, random.Random(seed))
            names = {table.names[0] for table in tables}
            targets = {
                one.holds.table
                for table in tables
                for one in table.columns
                if isinstance(one.holds, Reference)
            }
            assert targets <= names
            assert all(len(table.columns) > 1 for table in tables)
