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


def plain_dialect(name: str) -> str:
    """A dialect in small letters, by that of its names which sqlglot has; there need not be such a dialect."""
    small = str(name).strip().lower()
    return _ALIASES.get(small, small)


def plain_url(url: str) -> str:
    """A database URL whose scheme names PostgreSQL and SQLite as SQLAlchemy does, by whatever name it was given."""
    scheme, mark, rest = url.partition("://")
    name, plus, driver = scheme.partition("+")
    backend = {"postgres": "postgresql", "sqlite": "sqlite"}.get(plain_dialect(name), name)
    return f"{backend}{plus}{driver}{mark}{rest}" if mark else url


def canonical_dialect(name: str) -> str:
    """The name that sqlglot has for a dialect; DialectError where it has none."""
    from sqlglot.dialects.dialect import Dialect, Dialects

    known = {dialect.value for dialect in Dialects if dialect.value}
    canonical = plain_dialect(name)
    if canonical not in known or Dialect.get(canonical) is None:
        raise DialectError(f"unknown dialect {name!r}", remedy=f"Known are: {', '.join(sorted(known))}.")
    return canonical
