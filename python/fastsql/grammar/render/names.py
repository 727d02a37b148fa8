"""Names in SQL: quoting, aliases, output names of derived tables."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp, tokens

_OF_SQLITE = """
ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN
BY CASCADE CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT
CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DATABASE DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH
DISTINCT DO DROP EACH ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE EXISTS EXPLAIN FAIL FILTER FIRST
FOLLOWING FOR FOREIGN FROM FULL GENERATED GLOB GROUP GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX
INDEXED INITIALLY INNER INSERT INSTEAD INTERSECT INTO IS ISNULL JOIN KEY LAST LEFT LIKE LIMIT MATCH
MATERIALIZED NATURAL NO NOT NOTHING NOTNULL NULL NULLS OF OFFSET ON OR ORDER OTHERS OUTER OVER
PARTITION PLAN PRAGMA PRECEDING PRIMARY QUERY RAISE RANGE RECURSIVE REFERENCES REGEXP REINDEX
RELEASE RENAME REPLACE RESTRICT RETURNING RIGHT ROLLBACK ROW ROWS SAVEPOINT SELECT SET TABLE TEMP
TEMPORARY THEN TIES TO TRANSACTION TRIGGER UNBOUNDED UNION UNIQUE UPDATE USING VACUUM VALUES VIEW
VIRTUAL WHEN WHERE WINDOW WITH WITHIN WITHOUT TRUE FALSE ROWID OID _ROWID_
"""
"""SQLite's keywords (sqlite.org/lang_keywords.html), with the words that it reads specially as names."""
_NAMELESS = ("true", "false")
"""Names that SQLite does not give to a subquery's columns: it calls them column1 and so on."""
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LOWER = re.compile(r"[a-z_][a-z0-9_]*")
KEYWORDS = frozenset(w for w in tokens.Tokenizer.KEYWORDS if _WORD.fullmatch(w)) | frozenset(
    _OF_SQLITE.split()
)
"""Every word that SQLite, or the tokenizer in sqlglot, treats as a keyword."""


@dataclass(frozen=True)
class Naming:
    """How a dialect writes names. `plain` matches those that need no quotes, None where all are quoted; `reserved` are
    words that need them even so, in upper case; `letters` begin the aliases of sources and of select items.
    """

    plain: re.Pattern[str] | None = _WORD
    reserved: frozenset[str] = KEYWORDS
    letters: tuple[str, str] = ("T", "C")

    def identifier(self, name: str) -> exp.Identifier:
        """A name, in quotes where it needs them."""
        bare = self.plain is not None and self.plain.fullmatch(name) and name.upper() not in self.reserved
        return exp.to_identifier(name, quoted=not bare)

    def column(self, name: str, table: str) -> exp.Column:
        """A qualified column."""
        return exp.Column(this=self.identifier(name), table=self.identifier(table))

    def fresh_alias(self, taken: set[str]) -> str:
        """T and a number, as no folded name of `taken` has it."""
        number = 1
        while f"t{number}" in taken:
            number += 1
        return f"{self.letters[0]}{number}"

    def named(self, items: list[exp.Expr], names: list[str] | None) -> list[exp.Expr]:
        """Items as they are, or (in a derived table) each under an output name of its own, which `names` receives."""
        if names is None:
            return items
        plain = [i.name.lower() if isinstance(i, exp.Column) else None for i in items]
        written = []
        for number, (item, name) in enumerate(zip(items, plain, strict=True), 1):
            if name is not None and plain.count(name) == 1 and name not in _NAMELESS:
                names.append(item.name)
                written.append(item)
                continue
            alias = f"{self.letters[1]}{number}"
            while alias.lower() in plain:
                alias += "_"
            names.append(alias)
            written.append(exp.Alias(this=item, alias=self.identifier(alias)))
        return written


SQLITE = Naming()
LOWER_CASE = Naming(plain=_LOWER, letters=("t", "c"))
"""For dialects that fold names without quotes to lower case."""
QUOTED = Naming(plain=None)
"""For dialects whose keywords are not listed here."""
