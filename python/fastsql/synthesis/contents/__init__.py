"""Rows made up for a schema that has none: keys that fit, and values of the kind that its names suggest.

schema --suggest--> Filling a column --make_rows--> rows a table --MadeDatabase--> an SQLite file to run queries on
"""

from __future__ import annotations

from fastsql.synthesis.contents.constraints import constraints_of
from fastsql.synthesis.contents.database import MadeDatabase
from fastsql.synthesis.contents.fillings import Constraints, Filling
from fastsql.synthesis.contents.rows import make_rows
from fastsql.synthesis.contents.suggest import suggest

__all__ = ["Constraints", "Filling", "MadeDatabase", "constraints_of", "make_rows", "suggest"]
