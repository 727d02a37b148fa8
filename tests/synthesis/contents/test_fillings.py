"""What stands in made-up cells."""

from __future__ import annotations

import random
from uuid import UUID

from fastsql.synthesis.contents.fillings import Identifier, Row
from fastsql.synthesis.designs import designs, draw_variant


def test_identifiers_are_uuids_another_for_each_row_and_salt() -> None:
    rows = [Row(random.Random(number), number) for number in range(50)]
    one, other = ([str(Identifier(salt).cell(row)) for row in rows] for salt in ("a", "b"))
    assert len({*one, *other}) == 100
    assert all(str(UUID(cell)) == cell for cell in one)
    assert one == [Identifier("a").cell(row) for row in rows]


def test_some_variants_have_uuids_for_all_keys() -> None:
    design = designs()[0]
    found = set()
    for seed in range(40):
        variant = draw_variant(design, str(seed))
        kinds = {
            isinstance(filling.drawn, Identifier)
            for column, filling in zip(variant.schema.columns, variant.fillings, strict=True)
            if variant.schema.tables[column.table].primary_key
            and variant.schema.columns[variant.schema.tables[column.table].primary_key[0]] is column
        }
        assert len(kinds) == 1
        found |= kinds
    assert found == {True, False}
