"""What wordings of times say, in any language: conditions, how they are read, and years that are drawn."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from fastsql.linking import said_periods

Condition = tuple[str, str | int, str]
"""A grammar production, its literal and a date's format: ("date_ge", "2100-08", "%Y-%m"), ("in_year", 0, "")."""
Reader = Callable[["re.Match[str]"], tuple[str, tuple[Condition, ...]]]
"""Reads a wording: its kind, such as "ago_month", and its conditions in the converter's order."""
DAYS_OF_WEEK = said_periods.DAYS_OF_WEEK
MOST_WEEKS = 8
"""People count no more of them."""
OF_WEEKS = 0.2
"""How often days are a few whole weeks."""


def draw_year(rng: random.Random) -> int:
    """A year: mostly the one of the de-identified data sets, now and then any recent one."""
    return 2100 if rng.random() < 0.6 else rng.randint(1990, 2110)
