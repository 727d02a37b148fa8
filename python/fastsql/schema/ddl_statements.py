"""What stands around CREATE TABLE in a script or a dump: statements that make no table, commands of a shell, rows of COPY.

All of them are passed over without a word. What is neither these nor understood is told, as it may be a table that is
misspelt: ``CREATE TABEL``.
"""

from __future__ import annotations

import re

from fastsql.schema.ddl_tokens import OBJECTS, Piece

_PASSED_OVER = frozenset(
    """ANALYZE ATTACH BEGIN CALL CHECKPOINT CLUSTER COMMIT COPY DEALLOCATE DECLARE DEFINE DELETE DELIMITER DENY
    DESC DESCRIBE DETACH DISCARD DO DROP END EXEC EXECUTE EXIT EXPLAIN EXPORT FLUSH FORCE GO GRANT HANDLER IF
    IMPORT INSERT INSTALL KILL LISTEN LOAD LOCK MERGE NOTIFY OPTIMIZE PRAGMA PREPARE PRINT PROMPT PURGE QUIT
    RAISERROR REASSIGN REFRESH REINDEX RELEASE REM REPLACE RESET REVOKE ROLLBACK SAVEPOINT SECURITY SELECT SET
    SHOW SHUTDOWN SPOOL START TRUNCATE UNDEFINE UNLOCK UNSET UPDATE USE VACUUM VALUES WAITFOR WHENEVER WITH""".split()  # noqa: SIM905 -- a list of one word a line hides what it holds
)
"""First words of statements that make no table."""
_OTHER_OBJECTS = frozenset(
    """ACCESS AGGREGATE APPLICATION ASSEMBLY CAST CATALOG CERTIFICATE COLLATION CONTEXT CONVERSION DATABASE
    DATASET DEFAULT DIRECTORY DICTIONARY EVENT EXTENSION FILE GROUP KEY LANGUAGE LIBRARY LOGIN MACRO MESSAGE
    MODEL OPERATOR PACKAGE PARTITION PIPE POLICY PROFILE PUBLICATION QUEUE QUOTA RESOURCE ROLE ROUTE RULE SCHEMA
    SECRET SERVER SERVICE STAGE STATISTICS STREAM STREAMLIT SUBSCRIPTION SYNONYM TABLESPACE TASK TEXT TRANSFORM
    USER WAREHOUSE WRAPPER XML""".split()  # noqa: SIM905
)
"""What else CREATE and ALTER may be about."""
_MODIFIERS = frozenset(
    """ALGORITHM ASYMMETRIC BITMAP CLUSTERED COLUMN COLUMNSTORE CONSTRAINT DEFINER DYNAMIC EDITIONABLE EXTERNAL
    FORCE FOREIGN FULLTEXT GLOBAL HYBRID ICEBERG LIVE LOCAL MATERIALIZED MULTISET NOFORCE NONCLUSTERED
    NONEDITIONABLE OR PRIMARY PRIVATE PROCEDURAL PUBLIC RECURSIVE REPLACE ROW SECURE SEARCH SET SPATIAL SQL
    SYMMETRIC TEMP TEMPORARY TRANSIENT TRUSTED UNIQUE UNLOGGED VECTOR VIRTUAL VOLATILE""".split()  # noqa: SIM905
)
"""What may stand between CREATE and that."""
_WITH_VALUE = frozenset({"ALGORITHM", "DEFINER"})
_WITH_BODY = frozenset({"TRIGGER", "PROCEDURE", "PROC", "FUNCTION", "PACKAGE", "EVENT"})
"""Objects whose definition holds statements of its own."""
_HEAD = 16
"""Pieces in which the object of a statement stands."""

TABLE_OPTIONS = frozenset(
    """AGGREGATE AS AUTOEXTEND_SIZE AUTO_INCREMENT AVG_ROW_LENGTH BACKUP BROKER CACHE CHANGE_TRACKING CHARACTER
    CHARSET CHECKSUM CLUSTER CLUSTERED COLLATE COMMENT COMPOUND COMPRESS COMPRESSION CONNECTION COPY DATA
    DATA_RETENTION_TIME_IN_DAYS DEFAULT DEFAULT_DDL_COLLATION DELAY_KEY_WRITE DISABLE DISTKEY DISTRIBUTED
    DISTSTYLE DUPLICATE EMPTY ENABLE ENCODE ENCRYPTION ENGINE ENGINE_ATTRIBUTE EXTERNAL FILESTREAM_ON FOR FORMAT
    IN INDEX INHERITS INITRANS INSERT_METHOD INTERLEAVED KEY_BLOCK_SIZE LIFECYCLE LIKE LOCATION LOCK LOGGING
    MAXTRANS MAX_ROWS MIN_ROWS MONITORING NO NOCACHE NOCOMPRESS NOLOGGING NOMONITORING NOPARALLEL
    NOROWDEPENDENCIES NOT ON OPTIONS ORDER ORGANIZATION ORGANIZE PACK_KEYS PARALLEL PARTITION PARTITIONED
    PASSWORD PCTFREE PCTUSED PRIMARY PROPERTIES READ RESULT_CACHE ROW ROWDEPENDENCIES ROW_FORMAT SAMPLE SEGMENT
    SERVER SETTINGS SKEWED SORTED SORTKEY STAGE_FILE_FORMAT STATS_AUTO_RECALC STATS_PERSISTENT
    STATS_SAMPLE_PAGES STORAGE STORED STRICT SUBPARTITION SUPPLEMENTAL TABLEGROUP TABLESPACE TBLPROPERTIES
    TEXTIMAGE_ON TTL TYPE UNION UNIQUE USING WITH WITHOUT WRITE""".split()  # noqa: SIM905
)
"""Words that may follow the columns of a table."""
ALTER_ACTIONS = frozenset(
    """ADD ALGORITHM ALTER ATTACH AUTO_INCREMENT CACHE CHANGE CHARACTER CHARSET CHECK CLUSTER COALESCE COLLATE
    COMMENT COMPRESSION CONVERT DEFAULT DETACH DISABLE DISCARD DROP ENABLE ENGINE EXCHANGE FORCE IF IMPORT
    INHERIT LOCK LOGGING MODIFY MOVE NO NOCHECK NOLOGGING NOT OF OPTIONS ORDER OWNER PARALLEL PARTITION READ
    REBUILD RENAME REORGANIZE REPLACE REPLICA RESET ROW ROW_FORMAT SET SHRINK STORAGE SWITCH TABLESPACE TRUNCATE
    UNSET UPDATE UPGRADE VALIDATE WITH WITHOUT""".split()  # noqa: SIM905
)
"""First words of what ALTER TABLE does."""

_ROWS_OF_COPY = re.compile(r"^COPY\s[^;]*\sFROM\s+stdin\b[^;]*;.*?(^\\\.[ \t]*$|\Z)", re.I | re.M | re.S)
_SHELL_COMMAND = re.compile(
    r"^(\\(?:[.!?]|(?:c|connect|copy|echo|encoding|elif|else|endif|i|if|include|ir|o|pset|q|qecho|restrict|set|timing|"
    r"unrestrict|unset|warn)\b)|\.[a-z]+\b|:[a-z]+ ).*$",
    re.I | re.M,
)
_GO = re.compile(r"^[ \t]*GO[ \t]*[0-9]*[ \t]*$", re.I | re.M)


def without_shell(sql: str) -> str:
    """A script without the commands of psql, sqlite3 and sqlcmd and the rows of COPY, each line where it was."""
    sql = sql.removeprefix("\ufeff")
    for pattern in (_ROWS_OF_COPY, _SHELL_COMMAND):
        sql = pattern.sub(lambda match: "\n" * match[0].count("\n"), sql)
    # Behind a semicolon, sqlglot's tokenizer takes GO and all that follows, tables among it, for one command.
    return _GO.sub(";", sql)


def is_passed_over(statement: list[Piece]) -> bool:
    """Whether a statement is known to make no table."""
    if not statement or (statement[0].kind == "symbol" and statement[0].text == "/"):
        return True
    word = statement[0].word
    return word in _PASSED_OVER or (word in ("CREATE", "ALTER", "COMMENT") and bool(_object(statement)))


def opens_body(statement: list[Piece]) -> bool:
    """Whether a statement defines what holds statements, which were cut at its semicolons."""
    return statement[0].word in ("CREATE", "ALTER") and _object(statement) in _WITH_BODY


def begins_table(piece: Piece) -> bool:
    """Whether a statement may make a table, however it is written: it ends the body of a function before it."""
    return piece.word in ("CREATE", "ALTER", "COMMENT")


def _object(statement: list[Piece]) -> str:
    """The kind of thing that a CREATE or ALTER is about; empty where it is none that is known."""
    known = OBJECTS | _OTHER_OBJECTS
    words = [piece.word for piece in statement[1:_HEAD]]
    if statement[0].word == "COMMENT":
        words = words[1:]  # COMMENT ON
    for place, word in enumerate(words):
        if word in known and word not in _MODIFIERS:
            return word
        if word in _WITH_VALUE:  # DEFINER = `root`@`localhost`: how long that is, the object itself tells
            return next((later for later in words[place:] if later in known), "")
        if word not in _MODIFIERS:
            break
    return ""


def first_words(statement: list[Piece]) -> str:
    """What a statement begins with, for a message: words alone, as what is quoted may be a cell of a database."""
    words = []
    for piece in statement[:2]:
        if not piece.word or not re.fullmatch(r"\w{1,30}", piece.text):
            break
        words.append(piece.text)
        if words[0].upper() not in ("CREATE", "ALTER", "COMMENT"):
            break
    return " ".join(words) or "no word"
