"""SQLite's keywords (sqlite.org/lang_keywords.html), with the words that it reads specially as names."""

from __future__ import annotations

SQLITE_KEYWORDS = frozenset(["ABORT"])
