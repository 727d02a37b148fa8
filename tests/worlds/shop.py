"""A shop, for what must hold of more than hospitals."""

from __future__ import annotations

from functools import cache

from fastsql.schema import Schema


@cache
def shop_schema() -> Schema:
    """Customers, of whom a key, a town and an age are known."""
    return Schema.from_ddl(
        "CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, home_town TEXT, age INTEGER)", name="shop"
    )
