"""Stays, with columns of days, of times of day, and of years alone."""

from __future__ import annotations

from fastsql.schema import Schema

STAYS = Schema.from_dict(
    {
        "name": "stays",
        "tables": [
            {
                "name": "stays",
                "columns": [
                    {"name": "days", "type": "number"},
                    {"name": "begun", "type": "time"},
                    {"name": "season", "type": "time", "values": ["2017", "2018"]},
                    {"name": "code", "type": "text"},
                    {"name": "ended", "type": "time", "sql_type": "TIMESTAMP"},
                ],
            }
        ],
        "foreign_keys": [],
    }
)
