"""One place for every bound on what fastsql accepts.

A bound exists so that an odd input costs a typed error (:class:`fastsql.errors.LimitError`) and not minutes
or gigabytes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from fastsql.errors import LimitError

LONGEST_SECONDS = 1_000_000.0
"""The longest time limit, eleven days: more than this a clock of PostgreSQL or of a thread may not hold."""


def check_count(value: object, where: str) -> None:
    """Return if `value` is a whole number of at least 1.

    Raises:
        LimitError: it is not; the message names `where`.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise LimitError(
            f"{value!r} is not a valid limit", where=where, remedy="Give a whole number of at least 1."
        )


def check_seconds(value: object, where: str) -> None:
    """Return if `value` is a number of seconds above 0 and up to `LONGEST_SECONDS`.

    Raises:
        LimitError: it is not; the message names `where`.
    """
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 < value <= LONGEST_SECONDS:  # type: ignore[operator] # what is not a number, NaN, is neither
        raise LimitError(
            f"{value!r} is not a valid limit",
            where=where,
            remedy=f"Give a number of seconds above 0 and up to {LONGEST_SECONDS:,.0f}.",
        )


@dataclass(frozen=True)
class Limits:
    """Upper bounds; each is inclusive, so an input of exactly the bound is accepted.

    Raises:
        LimitError: a bound is not a positive integer, or ``sql_depth`` is 50 or more.
    """

    question_characters: int = 4_000
    """Unicode characters of a question after stripping white space at both ends."""
    tables: int = 512
    """Tables of a schema."""
    columns: int = 4_096
    """Columns of a schema, over all its tables."""
    columns_per_table: int = 2_000
    """Columns of one table: SQLite's own default, beyond which nothing could be prepared on the schema."""
    foreign_keys: int = 8_192
    """Foreign keys of a schema."""
    constants: int = 1_024
    """Named constants of a schema."""
    values_per_column: int = 50
    """Small-domain values standing with a column; they are encoded with the schema, so each costs memory."""
    synonyms: int = 32
    """Synonyms of one table or column."""
    identifier_characters: int = 256
    """Characters of a table, column or constant name."""
    label_characters: int = 256
    """Characters of a label or synonym; longer ones are cut, with a warning."""
    description_characters: int = 2_000
    """Characters of a description; longer ones are cut, with a warning."""
    value_characters: int = 200
    """Characters of a small-domain value."""
    ddl_characters: int = 4_000_000
    """Characters of DDL text."""
    schema_file_bytes: int = 64 * 2**20
    """Bytes of a JSON or SQL file holding a schema."""
    reference_cells: int = 4_000_000
    """Cells, rows times columns, of a reference table whose rows a dictionary may hold; each costs 8 bytes."""
    turns: int = 64
    """Earlier turns of a conversation that a question may point at; each is a node of the graph."""
    turn_entries: int = 10_000
    """What these turns offer together: select items, and tables and columns of FROM. `SELECT *` offers every column."""
    reused_values: int = 500
    """Different values of an earlier answer that a query binds as parameters; SQLite before 3.32 takes 999 in all."""
    kept_bytes: int = 16 * 2**20
    """Bytes of Python's memory that the earlier answers take that a session keeps for later questions."""
    examples: int = 2_000
    """Pairs that a parser remembers, over all schemas; each costs some 2 kB, and up to 5 ms when it is remembered."""
    actions: int = 256
    """Decisions of one decoded query."""
    sql_depth: int = 48
    """Nesting of a query; SQLite's parser stack and Python's recursion both end not far beyond."""
    beam: int = 64
    """Hypotheses kept at a decoding step."""
    endpoint_idle_seconds: int = 120
    """Seconds that a server with a language model may send nothing, the time before its first word included."""
    endpoint_seconds: int = 600
    """Seconds that one answer of such a server may take in all."""
    endpoint_answer_bytes: int = 2**20
    """Bytes of one answer of such a server."""
    endpoint_tries: int = 5
    """How often such a server is asked the same where it is busy, fails or breaks off."""
    endpoint_wait_seconds: int = 60
    """The longest pause before another try; a server that asks for more is not asked again."""
    prompt_characters: int = 16_000
    """Characters of what such a server is asked about one query; nothing is asked about a longer one."""
    wording_characters: int = 400
    """Characters of a question in the words of such a server, without its values."""

    def __post_init__(self) -> None:
        for field in fields(self):
            check_count(getattr(self, field.name), f"Limits.{field.name}")
        if self.sql_depth >= 50:
            raise LimitError(
                f"a depth of {self.sql_depth} cannot be promised",
                where="Limits.sql_depth",
                remedy="Give 49 or less.",
            )


DEFAULT = Limits()
"""The limits used wherever none are given."""
