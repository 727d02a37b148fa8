"""A query gives the rows of its subqueries' own SQL when what these returned takes their place: parameters or a table."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from fastsql.errors import ExecutionError, VerificationError
from fastsql.execution import Bounds, Rows, open_executor
from fastsql.execution.deadline import Deadline
from fastsql.execution.isolation.wire import frame, message, message_statement, statement_message
from fastsql.execution.reuse import Earlier, Reuse, Reusing, Statement, TemporaryTable, plan, unusable
from fastsql.execution.sqlite_session import SQLiteSession
from fastsql.schema import Schema
from fastsql.schema.sqlite_file import SQLiteFile
from fastsql.synthesis.hospital.ward import Ward
from fastsql.verification.readable import Readable

from ..worlds.asked_hospital import DIALECTS, HOSPITAL, Step, copied, interactions
from ..worlds.database import hasty_connection

if TYPE_CHECKING:
    from ..databases import PostgresServer

INTERACTIONS = 50
WAYS = ("parameters", "table")
MOST = 500


@dataclass(frozen=True)
class Engine:
    """Where executors are opened on databases of one dialect."""

    dialect: str
    folder: Path
    server: PostgresServer | None

    def filled(self, ddl: str, rows: dict[str, list[tuple[Any, ...]]], **options: Any) -> Reusing:
        """An executor on a new database with these tables and rows, which come as Python has them."""
        target = self._made(ddl, rows)
        schema = Schema.from_ddl(ddl, dialect=self.dialect)
        return cast("Reusing", open_executor(target, schema=schema, **options))

    def _made(self, ddl: str, rows: dict[str, list[tuple[Any, ...]]]) -> str:
        number = len(list(self.folder.iterdir()))
        path = self.folder / f"{number}.{self.dialect}"
        if self.dialect == "postgres":
            import psycopg

            assert self.server is not None
            path.touch()
            self.server.create_database("reuse")
            with psycopg.connect(self.server.conninfo("reuse")) as connection:
                _fill(connection.execute, ddl, rows, "%s")
            return self.server.url("reuse")
        if self.dialect == "duckdb":
            import duckdb

            with duckdb.connect(str(path)) as instance:
                _fill(instance.execute, ddl, rows, "?")
        else:
            with closing(hasty_connection(path)) as file, file:
                _fill(file.execute, ddl, rows, "?")
        return str(path)


def _fill(execute: Callable[..., Any], ddl: str, rows: dict[str, list[tuple[Any, ...]]], mark: str) -> None:
    for statement in ddl.split(";"):
        execute(statement)
    for table, cells in rows.items():
        for row in cells:
            execute(f"INSERT INTO {table} VALUES ({', '.join([mark] * len(row))})", row)


@pytest.fixture(params=DIALECTS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    if request.param == "duckdb":
        request.getfixturevalue("duckdb_driver")
    server = request.getfixturevalue("postgres") if request.param == "postgres" else None
    return Engine(request.param, tmp_path, server)


@pytest.fixture
def in_sqlite(tmp_path: Path) -> Engine:
    return Engine("sqlite", tmp_path, None)


def kept(number: int, sql: str, rows: Rows, way: str = "parameters", most: int = MOST) -> Earlier:
    """An answer as a session keeps it."""
    return Earlier(number, sql, rows, unusable(rows, way, most))


def reused(
    executor: Reusing, sql: str, earlier: Sequence[str], schema: Schema, way: str
) -> tuple[Rows, tuple[Reuse, ...]]:
    given = [kept(number, one, executor.run(one), way) for number, one in enumerate(earlier, start=1)]
    return executor.run_reusing(sql, given, schema, way=way)


def multiset(rows: Rows) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(map(_cell, row)) for row in rows)


def _cell(cell: Any) -> Any:
    """Another plan adds numbers up in another order, which may be seen in the last digit of a mean."""
    return float(f"{cell:.12g}") if isinstance(cell, float) and math.isfinite(cell) else (type(cell), cell)


# ---------------------------------------------------------------- interactions


def check_interaction(executor: Reusing, steps: Sequence[Step], ways: Counter[str]) -> None:
    texts = [step.sql(executor.dialect) for step in steps]
    answers = [executor.run(text) for text in texts]
    for place, step in enumerate(steps):
        numbers = {texts[one]: one for one in sorted(step.stands_on)}
        for way in WAYS if numbers else ():
            given = [kept(one, text, answers[one], way) for text, one in numbers.items()]
            rows, reuses = executor.run_reusing(texts[place], given, HOSPITAL, way=way)
            assert rows.columns == answers[place].columns, texts[place]
            assert multiset(rows) == multiset(answers[place]), texts[place]
            found = {one.turn for one in reuses}
            assert {numbers[texts[one]] for one in step.results} <= found, texts[place]
            ways.update(f"{way}: {one.way}" for one in reuses)


def test_interactions_have_the_same_answers(engine: Engine) -> None:
    ways: Counter[str] = Counter()
    with Ward() as ward:
        target = copied(ward.path, engine.dialect, engine.folder, engine.server)
        with open_executor(target, schema=HOSPITAL) as opened:
            for steps in interactions(ward, INTERACTIONS):
                check_interaction(cast("Reusing", opened), steps, ways)
    assert ways["table: subquery"] == 0
    assert ways["table: table"] > 2 * INTERACTIONS
    assert ways["parameters: parameters"] > 0.8 * ways["table: table"]


# ---------------------------------------------------------------- what comparing depends on

X = [(None,), (1,), (2,), (3,)]
Y = {"none": [], "null": [(None,)], "some": [(1,), (1,), (9,)], "some, null": [(1,), (None,), (2,)]}
FORMS = (
    "SELECT x.a FROM x WHERE x.a IN ({0})",
    "SELECT x.a FROM x WHERE NOT x.a IN ({0})",
    "SELECT x.a FROM x WHERE x.a IN ({0}) OR x.a IS NULL",
    "SELECT COUNT(*) FROM x WHERE NOT (x.a IN ({0}) AND x.a > 0)",
    "SELECT q.b FROM ({0}) AS q",
    "SELECT COUNT(*) FROM x JOIN ({0}) AS q ON x.a = q.b",
)
VALUES = ("SELECT x.a FROM x WHERE x.a = ({0})", "SELECT x.a FROM x WHERE x.a <> ({0})")


@pytest.mark.parametrize("kept", Y)
def test_null_duplicates_and_nothing(engine: Engine, kept: str) -> None:
    ddl = "CREATE TABLE x (a INTEGER); CREATE TABLE y (b INTEGER)"
    schema = Schema.from_ddl(ddl, dialect=engine.dialect)
    with engine.filled(ddl, {"x": X, "y": Y[kept]}) as executor:
        for form, way in product((*FORMS, *VALUES), WAYS):
            inner = "SELECT MAX(y.b) FROM y" if form in VALUES else "SELECT y.b FROM y"
            rows, (reuse,) = reused(executor, form.format(inner), [inner], schema, way)
            assert multiset(rows) == multiset(executor.run(form.format(inner))), (form, way)
            assert (reuse.way == way) == (way == "table" or "AS q" not in form), (form, way)


AFFINITIES = ("INTEGER", "REAL", "TEXT", "NUMERIC", "BLOB", "VARCHAR(9)")
ODD = (None, 5, 5.0, 5.5, "5", "05", "5.0", "abc", "", b"5", -1, 2**60)


def test_reused_answers_compare_as_their_declared_types_in_sqlite_do(in_sqlite: Engine) -> None:
    """Each declared type against each, with values that a conversion changes."""
    names = [f"c{number}" for number in range(len(AFFINITIES))]
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, AFFINITIES, strict=True))
    ddl = f"CREATE TABLE x ({columns}); CREATE TABLE y (n INTEGER, {columns})"
    schema = Schema.from_ddl(ddl)
    rows = {
        "x": [(value,) * len(names) for value in ODD],
        "y": [(number, *[value] * len(names)) for number, value in enumerate(ODD)],
    }
    bound = 0
    with in_sqlite.filled(ddl, rows) as executor:
        answered = cache(executor.run)
        for left, right in product(names, names):
            sets = [
                f"SELECT y.{right} FROM y",
                f"SELECT y.{right} FROM y WHERE y.n > 6",
                f"SELECT MAX(y.{right}) FROM y",
            ]
            values = [f"SELECT y.{right} FROM y WHERE y.n = {number}" for number in range(len(ODD))]
            for form, inner in [
                *product(("x.{0} IN ({1})", "NOT x.{0} IN ({1})"), sets),
                *product(
                    ("(x.{0} || '') IN ({1})", "CAST(x.{0} AS TEXT) IN ({1})", "x.{0} + 0 IN ({1})"), sets
                ),
                *product(("x.{0} = ({1})", "x.{0} < ({1})", "({1}) >= x.{0}", "1 + ({1}) = 6"), values),
            ]:
                sql = f"SELECT x.{left} FROM x WHERE {form.format(left, inner)}"
                expected = multiset(executor.run(sql))
                for way in WAYS:
                    given = [kept(1, inner, answered(inner), way)]
                    found, (reuse,) = executor.run_reusing(sql, given, schema, way=way)
                    assert multiset(found) == expected, (left, right, sql, reuse)
                    assert way == "parameters" or reuse.way == "table"
                    bound += reuse.way == "parameters"
    assert bound > 1_000


TYPED = {
    "INTEGER": [1, 2, None],
    "BIGINT": [1, 2**40, 7],
    "DECIMAL(8,2)": ["1.50", "2.00", None],
    "DOUBLE PRECISION": [1.5, 0.1, 2.0],
    "REAL": [1.5, 0.1, 2.0],
    "VARCHAR(20)": ["a", "5% x_y", "血糖"],
    "CHAR(4)": ["a", "bc", "abcd"],
    "DATE": ["2100-01-01", "2100-12-31", None],
    "TIMESTAMP": ["2100-01-01 10:00:00", "2100-12-31 23:59:00.123456", None],
    "BOOLEAN": [True, False, None],
    "UUID": ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002", None],
}


def test_typed_values_of_duckdb_and_postgresql_give_the_same_rows_when_reused(engine: Engine) -> None:
    if engine.dialect == "sqlite":
        pytest.skip("SQLite has affinities: see the test above")
    names = [f"c{number}" for number in range(len(TYPED))]
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, TYPED, strict=True))
    ddl = f"CREATE TABLE x ({columns}); CREATE TABLE y (n INTEGER, {columns})"
    schema = Schema.from_ddl(ddl, dialect=engine.dialect)
    cells = list(zip(*TYPED.values(), strict=True))
    ways: Counter[str] = Counter()
    with engine.filled(ddl, {"x": cells, "y": [(n, *row) for n, row in enumerate(cells)]}) as executor:
        for name in names:
            inner = f"SELECT y.{name} FROM y"
            forms = [(f"x.{name} IN ({inner})", inner), (f"NOT x.{name} IN ({inner})", inner)]
            one = f"SELECT y.{name} FROM y WHERE y.n = 1"
            for condition, text in (*forms, (f"x.{name} = ({one})", one), (f"x.{name} >= ({one})", one)):
                sql = f"SELECT x.{name} FROM x WHERE {condition}"
                expected = multiset(executor.run(sql))
                for way in WAYS:
                    found, (reuse,) = reused(executor, sql, [text], schema, way)
                    assert multiset(found) == expected, (sql, reuse)
                    ways[reuse.way] += 1
    assert ways["table"] == 4 * len(TYPED)
    assert ways["parameters"] >= 4 * (len(TYPED) - 2)


# ---------------------------------------------------------------- where the subquery stays

COLLATED = {
    "sqlite": "CREATE TABLE x (a TEXT COLLATE NOCASE); CREATE TABLE y (b TEXT COLLATE NOCASE)",
    "duckdb": "CREATE TABLE x (a VARCHAR); CREATE TABLE y (b VARCHAR COLLATE NOCASE)",
    "postgres": (
        "CREATE COLLATION free (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
        'CREATE TABLE x (a TEXT); CREATE TABLE y (b TEXT COLLATE "free")'
    ),
}


def test_reused_answers_keep_the_collation_of_their_columns(engine: Engine) -> None:
    schema = Schema.from_dict({"x": {"a": "TEXT"}, "y": {"b": "TEXT"}})
    cells = {"x": [("Ab",), ("c",)], "y": [("AB",)]}
    target = engine._made(COLLATED[engine.dialect], cells)
    with cast("Reusing", open_executor(target, schema=schema)) as executor:
        for form, way in product(
            ("x.a IN ({0})", "x.a = ({0})", "x.a IN (SELECT q.b FROM ({0}) AS q)"), WAYS
        ):
            for inner in ("SELECT y.b FROM y", "SELECT x.a FROM x WHERE x.a = 'Ab'"):
                sql = f"SELECT x.a FROM x WHERE {form.format(inner).replace('q.b FROM (SELECT x', 'q.a FROM (SELECT x')}"
                rows, _ = reused(executor, sql, [inner], schema, way)
                assert rows == executor.run(sql), (sql, way)


WARD = "CREATE TABLE p (id INTEGER, name TEXT); CREATE TABLE v (pid INTEGER, cost REAL)"
FILLED: dict[str, list[tuple[Any, ...]]] = {
    "p": [(number, f"Zoe Sealed-{number}") for number in range(1, 7)],
    "v": [(number, number / 2) for number in (1, 1, 2, 5)],
}
SCHEMA = Schema.from_ddl(WARD)
SEEN = "SELECT v.pid FROM v"
NAMES = f"SELECT p.name FROM p WHERE p.id IN ({SEEN})"


def planned(sql: str, earlier: Earlier, way: str = "parameters") -> tuple[str, str]:
    """The way that is taken, and why."""
    (reuse,) = plan(sql, [earlier], SCHEMA, "sqlite", way=way).reuses
    return reuse.way, reuse.reason


def answer(*cells: Any) -> Rows:
    return Rows(("c",), tuple((cell,) for cell in cells))


def test_the_values_of_an_answer_are_bounded() -> None:
    assert planned(NAMES, kept(1, SEEN, answer(1, 2, 3, 3, 1), most=3)) == ("parameters", "")
    reason = "it has more than 3 different values"
    assert planned(NAMES, kept(1, SEEN, answer(1, 2, 3, 4), most=3)) == ("subquery", reason)
    assert planned(NAMES, kept(1, SEEN, answer(1, 2, 3, 4), "table", most=3), "table") == ("table", "")


@pytest.mark.parametrize("cell", [math.inf, Decimal("NaN"), {"a": 1}, [1], timedelta(days=30)])
@pytest.mark.parametrize("way", WAYS)
def test_what_no_driver_gives_back_is_not_bound(cell: object, way: str) -> None:
    taken, reason = planned(NAMES, kept(1, SEEN, answer(1, cell), way), way)
    assert (taken, "given back" in reason) == ("subquery", True)


@pytest.mark.parametrize("flaw", ["truncated", "cut", "repaired"])
@pytest.mark.parametrize("way", WAYS)
def test_what_was_not_read_whole_is_not_bound(flaw: str, way: str) -> None:
    rows = replace(answer(1, 2), **{flaw: 1})
    assert planned(NAMES, kept(1, SEEN, rows, way), way)[0] == "subquery"


def test_several_rows_are_no_value() -> None:
    sql = f"SELECT p.name FROM p WHERE p.id = ({SEEN})"
    for way in WAYS:
        assert planned(sql, Earlier(1, SEEN, answer(1, 2)), way)[0] == "subquery"
        assert planned(sql, Earlier(1, SEEN, answer(1)), way)[0] == way


def test_an_answer_takes_part_in_one_way_wherever_it_is_used() -> None:
    sql = f"SELECT COUNT(*) FROM ({SEEN}) AS q WHERE q.pid IN ({SEEN})"
    assert planned(sql, Earlier(1, SEEN, answer(1)))[0] == "subquery"
    assert planned(sql, Earlier(1, SEEN, answer(1)), "table")[0] == "table"


def test_only_the_very_query_is_replaced() -> None:
    for sql in (
        "SELECT p.name FROM p WHERE p.id IN (SELECT v.pid FROM v WHERE v.cost > 1)",
        "WITH v AS (SELECT p.id AS pid FROM p) SELECT p.name FROM p WHERE p.id IN (SELECT v.pid FROM v)",
        "SELECT p.name FROM p WHERE EXISTS (SELECT v.pid FROM v)",
        SEEN,
    ):
        found = plan(sql, [Earlier(1, SEEN, answer(1))], SCHEMA, "sqlite", way="parameters")
        assert (found.statement, found.reuses) == (None, ())


def test_the_outermost_earlier_query_is_replaced() -> None:
    sql = f"SELECT COUNT(*) FROM p WHERE p.name IN ({NAMES})"
    given = [Earlier(1, SEEN, answer(1)), Earlier(2, NAMES, answer("Zoe"))]
    found = plan(sql, given, SCHEMA, "sqlite", way="parameters")
    assert [one.turn for one in found.reuses] == [2]
    assert found.statement is not None
    assert found.statement.values == ("Zoe",)


def test_what_does_not_verify_is_not_planned() -> None:
    for sql in (
        "DELETE FROM p",
        "SELECT p.name FROM p; SELECT 1",
        "SELECT p.secret FROM p",
        "SELECT @1 FROM p",
    ):
        with pytest.raises(VerificationError):
            plan(sql, [Earlier(1, SEEN, answer(1))], SCHEMA, "sqlite", way="parameters")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("way", WAYS)
def test_no_cell_is_part_of_a_text(dialect: str, way: str) -> None:
    hostile = "Sealed'); DROP TABLE p; --"
    sql = "SELECT p.id FROM p WHERE p.name IN (SELECT p.name FROM p WHERE p.id = 1)"
    given = [Earlier(1, "SELECT p.name FROM p WHERE p.id = 1", answer(hostile))]
    statement = plan(sql, given, SCHEMA, dialect, way=way).statement
    assert statement is not None
    assert "Sealed" not in statement.text + "".join(table.like for table in statement.tables)
    assert "Sealed" not in repr((statement, *statement.tables, *given))
    assert [*statement.values, *(cell for table in statement.tables for (cell,) in table.rows)] == [hostile]


# ---------------------------------------------------------------- the walls stay


@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize("with_schema", [False, True])
def test_tables_do_not_outlive_their_query(engine: Engine, isolated: bool, with_schema: bool) -> None:
    target = engine._made(WARD, FILLED)
    schema = SCHEMA if with_schema else None
    with cast("Reusing", open_executor(target, schema=schema, isolated=isolated, workers=1)) as executor:
        for _ in range(3):
            rows, (reuse,) = reused(executor, NAMES, [SEEN], SCHEMA, "table")
            assert (len(rows), reuse.way) == (3, "table")
            with pytest.raises((ExecutionError, VerificationError)):
                executor.run_statement(Statement('SELECT * FROM "fastsql_earlier_1"'))
        assert len(executor.run(NAMES)) == 3


def test_nothing_can_be_written_while_there_is_a_table(engine: Engine) -> None:
    table = TemporaryTable("fastsql_earlier_1", "SELECT v.pid AS c1 FROM v LIMIT 0", ((1,),))
    namespace = {"sqlite": "temp", "duckdb": "temp.main", "postgres": "pg_temp"}[engine.dialect]
    with engine.filled(WARD, FILLED) as executor:
        for text in (
            f"INSERT INTO {namespace}.fastsql_earlier_1 VALUES (5)",
            "INSERT INTO v VALUES (9, 9)",
            "CREATE TEMP TABLE other AS SELECT 1",
            f"DROP TABLE {namespace}.fastsql_earlier_1",
            "DELETE FROM p",
        ):
            with pytest.raises(ExecutionError):
                executor.run_statement(Statement(text, (), (table,)))
        found = executor.run_statement(
            Statement(f"SELECT * FROM {namespace}.fastsql_earlier_1", (), (table,))
        )
        assert found.rows == ((1,),)
        assert len(executor.run(SEEN)) == 4


def test_a_table_is_made_of_nothing_that_is_hidden(in_sqlite: Engine) -> None:
    target = in_sqlite._made(f"{WARD}; CREATE TABLE sealed (note TEXT)", FILLED)
    with cast("Reusing", open_executor(target, schema=SCHEMA)) as executor:
        for like in (
            "SELECT note AS c1 FROM sealed LIMIT 0",
            "SELECT sql AS c1 FROM sqlite_master LIMIT 0",
            "SELECT load_extension('x') AS c1",
        ):
            table = TemporaryTable("fastsql_earlier_1", like, ((1,),))
            with pytest.raises(ExecutionError, match=r"AUTH|SQLITE_ERROR"):
                executor.run_statement(Statement("SELECT * FROM temp.fastsql_earlier_1", (), (table,)))


def test_a_role_that_may_make_no_tables_gets_the_subquery(postgres: PostgresServer, tmp_path: Path) -> None:
    import psycopg

    engine = Engine("postgres", tmp_path, postgres)
    engine._made(WARD, FILLED)
    with psycopg.connect(postgres.conninfo("reuse"), autocommit=True) as connection:
        connection.execute("REVOKE TEMPORARY ON DATABASE reuse FROM PUBLIC")
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    with cast("Reusing", open_executor(postgres.url("reuse", "reader"), schema=SCHEMA)) as executor:
        rows, (reuse,) = reused(executor, NAMES, [SEEN], SCHEMA, "table")
        assert (len(rows), reuse.way) == (3, "subquery")
        assert reuse.reason == "the database does not take them: failed (42501)"
        rows, (reuse,) = reused(executor, NAMES, [SEEN], SCHEMA, "parameters")
        assert (len(rows), reuse.way) == (3, "parameters")


def test_threads_share_an_executor(engine: Engine) -> None:
    with engine.filled(WARD, FILLED) as executor, ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: reused(executor, NAMES, [SEEN], SCHEMA, WAYS[n % 2]), range(12)))
    assert {(len(rows), one.way) for rows, (one,) in found} == {(3, "parameters"), (3, "table")}


def test_the_shape_changes_with_tables_and_columns_alone(engine: Engine) -> None:
    with engine.filled(WARD, FILLED) as executor:
        before = executor.shape(SCHEMA)
        assert executor.shape(SCHEMA) == before
    more = {**FILLED, "v": [(7, 7.0)]}
    with engine.filled(WARD, more) as executor:
        assert executor.shape(SCHEMA) == before
    for other in (WARD.replace("cost REAL", "cost TEXT"), WARD.replace("cost REAL", "cost REAL, day TEXT")):
        with engine.filled(other, {}) as executor:
            assert executor.shape(SCHEMA) != before


def test_the_time_of_one_query_is_not_that_of_the_next(in_sqlite: Engine) -> None:
    """A schema so large that the clock is looked at while it is read."""
    tables = ";".join(f"CREATE TABLE t{number} (a INTEGER)" for number in range(200))
    path = in_sqlite._made(tables, {})
    readable = Readable.of_schema(Schema.from_ddl(tables))
    session = SQLiteSession(SQLiteFile(path), readable, Bounds(), None)
    long = Deadline(60.0)
    session.run("SELECT a FROM t1", long)
    for ended in range(2):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(f"CREATE TABLE more{ended} (a INTEGER)")
        session._deadline = Deadline(1e-9)
        assert session.run("SELECT a FROM t1", long).rows == ()
        session._deadline = Deadline(1e-9)
        assert session.shape(long)
    session.close()


def test_text_that_is_not_utf8_is_counted(in_sqlite: Engine) -> None:
    with in_sqlite.filled(WARD, FILLED) as executor:
        assert executor.run("SELECT p.name FROM p").repaired == 0
    path = Path(in_sqlite._made(WARD, FILLED))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE p SET name = CAST(x'61ff62' AS TEXT) WHERE id < 3")
    for isolated in (False, True):
        with open_executor(path, isolated=isolated, workers=1) as opened:
            assert opened.run("SELECT name FROM p").repaired == 2
            assert opened.run("SELECT id FROM p").repaired == 0


def test_a_statement_goes_through_the_pipe() -> None:
    tables = (
        TemporaryTable("t", "SELECT 1", ((b"\xff", None), (2.5, "血糖"))),
        TemporaryTable("u", "SELECT 2", ()),
    )
    statement = Statement("SELECT $1", (1, None, "x", math.pi), tables)
    assert message_statement(message(frame(statement_message(statement))[4:])) == statement
    assert message_statement({"run": "SELECT 1", "seconds": 1.0}) == Statement("SELECT 1")
