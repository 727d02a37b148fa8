"""Names of SQL dialects: ours are sqlglot's, with the usual other names understood."""

from __future__ import annotations

from fastsql.errors import DialectError

_ALIASES = {
    "postgresql": "postgres",
    "pg": "postgres",
    "mssql": "tsql",
    "sqlserver": "tsql",
    "mariadb": "mysql",
    "sqlite3": "sqlite",
    "clickhousedb": "clickhouse",
    "awsathena": "athena",
}


def canonical_dialect(name: str) -> str:
    """The name that sqlglot has for a dialect; DialectError where it has none."""
    from sqlglot.dialects.dialect import Dialect, Dialects

    known = {dialect.value for dialect in Dialects if dialect.value}
    canonical = _ALIASES.get(name.strip().lower(), name.strip().lower())
    if canonical not in known or Dialect.get(canonical) is None:
        raise DialectError(f"unknown dialect {name!r}", remedy=f"Known are: {', '.join(sorted(known))}.")
    return canonical
