"""Tables of several namespaces in one schema: read, written as SQL, verified and run, in every dialect."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fastsql.errors import ExecutionError, SchemaError, VerificationError
from fastsql.execution import ReadOnlyExecutor, open_executor
from fastsql.grammar import render, sql_to_program
from fastsql.grammar.render import DIALECTS
from fastsql.schema import Schema
from fastsql.verification.readable import Readable
from fastsql.verification.verify import runnable, verify

from ..databases import PostgresServer

TABLES = """
CREATE TABLE patients (id INT PRIMARY KEY, name TEXT, sex VARCHAR(1));
CREATE TABLE billing.patients (id INT PRIMARY KEY, name TEXT, owed INT);
CREATE TABLE billing.invoices (id INT PRIMARY KEY, patient INT REFERENCES billing.patients (id), status TEXT);
CREATE TABLE audit.patients (id INT PRIMARY KEY, name TEXT, owed INT, secret TEXT);
CREATE TABLE audit.logins (id INT PRIMARY KEY, secret TEXT);
CREATE TABLE "Odd Name".labs (id INT PRIMARY KEY, value INT);
"""
ROWS = """
INSERT INTO patients VALUES (1, 'Ada', 'F'), (2, 'Ben', 'M');
INSERT INTO billing.patients VALUES (1, 'Ada L.', 40), (3, 'Cid', 7);
INSERT INTO billing.invoices VALUES (10, 1, 'open'), (11, 3, 'paid');
INSERT INTO audit.patients VALUES (1, 'hunter2', 99, 'hunter2');
INSERT INTO audit.logins VALUES (1, 'hunter2');
INSERT INTO "Odd Name".labs VALUES (5, 77);
"""
NAMESPACES = ("billing", "audit", '"Odd Name"')
SCHEMA = Schema.from_ddl(
    "CREATE TABLE patients (id INT, name TEXT, sex TEXT); CREATE TABLE billing.patients (id INT, name TEXT, owed INT);"
    "CREATE TABLE billing.invoices (id INT, patient INT REFERENCES patients (id), status TEXT);"
    'CREATE TABLE "Odd Name".labs (id INT, value INT);'
)
QUERIES = {
    "SELECT name FROM patients WHERE id = 1": [("Ada",)],
    "SELECT name FROM billing.patients WHERE id = 1": [("Ada L.",)],
    "SELECT COUNT(*) FROM billing.patients": [(2,)],
    "SELECT T2.name, T1.sex FROM patients AS T1 JOIN billing.patients AS T2 ON T1.id = T2.id": [
        ("Ada L.", "F")
    ],
    "SELECT T2.name FROM billing.invoices AS T1 JOIN billing.patients AS T2 ON T1.patient = T2.id "
    "WHERE T1.status = 'paid'": [("Cid",)],
    "SELECT name FROM billing.patients WHERE id IN (SELECT id FROM patients)": [("Ada L.",)],
    'SELECT value FROM "Odd Name".labs': [(77,)],
    "SELECT COUNT(*) FROM billing.invoices WHERE patient IN (SELECT id FROM billing.patients WHERE owed > 10)": [
        (1,)
    ],
}
HIDDEN = (
    "SELECT name FROM audit.patients",
    "SELECT secret FROM audit.logins",
    "SELECT secret FROM logins",
    "SELECT status FROM invoices",  # of a namespace that is not the default one
    "SELECT value FROM labs",
    "SELECT name FROM main.patients",
    "SELECT name FROM public.patients",
    'SELECT name FROM "".patients',
    "SELECT sex FROM billing.patients",
    "SELECT name FROM other.billing.patients",
    "SELECT billing.patients.name FROM billing.patients",
    "SELECT name FROM patients WHERE id IN (SELECT id FROM audit.logins)",
    "SELECT (SELECT MAX(secret) FROM audit.logins) FROM billing.patients",
    "WITH invoices AS (SELECT secret FROM audit.logins) SELECT secret FROM invoices",
    "SELECT name FROM patients UNION SELECT secret FROM audit.logins",
    "SELECT relname FROM pg_catalog.pg_class",
    "SELECT table_name FROM information_schema.tables",
    "SELECT name FROM temp.sqlite_master",
    "SELECT name FROM billing.sqlite_master",
)


def written(dialect: str) -> dict[str, str]:
    """What a decoder's program for each query is written as."""
    return {gold: render(sql_to_program(gold, SCHEMA), SCHEMA, dialect=dialect) for gold in QUERIES}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_sql_names_the_namespace_and_passes_the_verifier(dialect: str) -> None:
    for gold, sql in written(dialect).items():
        assert gold.count("billing.") <= sql.replace("[", "").replace("]", "").replace("`", "").count(
            "billing."
        )
        verify(sql, SCHEMA, dialect=dialect)
        assert sql_to_program(sql, SCHEMA) if dialect == "sqlite" else True


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("sql", HIDDEN)
def test_what_is_in_no_namespace_of_the_schema_is_refused(dialect: str, sql: str) -> None:
    with pytest.raises(VerificationError):
        verify(sql, SCHEMA, dialect=dialect)
    with pytest.raises(VerificationError):
        runnable(sql, SCHEMA, dialect=dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_system_namespace_is_refused_even_if_the_schema_lists_it(dialect: str) -> None:
    namespace = {"sqlite": "temp", "mysql": "mysql"}.get(dialect, "information_schema")
    schema = Schema.from_dict(
        {"tables": [{"name": "t", "namespace": namespace, "columns": [{"name": "c", "type": "text"}]}]}
    )
    with pytest.raises(VerificationError, match="system namespace"):
        verify(f"SELECT c FROM {namespace}.t", schema, dialect=dialect)


def test_a_name_means_the_table_that_only_it_can_mean() -> None:
    assert SCHEMA.warnings == ()
    assert [SCHEMA.table_name(i) for i in range(4)] == [
        "patients", "billing.patients", "billing.invoices", "Odd Name.labs",
    ]  # fmt: skip
    assert SCHEMA.table_index("patients") == 0
    assert SCHEMA.table_index("Billing.Patients") == 1
    assert SCHEMA.table_index("invoices") == 2
    assert SCHEMA.qualified_name(SCHEMA.column_index("invoices", "status")) == "billing.invoices.status"
    twice = Schema.from_ddl("CREATE TABLE a.t (x INT); CREATE TABLE b.t (x INT)")
    assert twice.find_table("t") is None
    with pytest.raises(
        SchemaError, match=r"several tables of this name\. Write it with its namespace: a\.t, b\.t"
    ):
        twice.table_index("t")


def test_a_key_leads_to_the_table_of_its_own_namespace() -> None:
    (key,) = SCHEMA.foreign_keys
    assert SCHEMA.qualified_name(key.references[0]) == "billing.patients.id"


def test_labels_tell_tables_of_one_name_apart() -> None:
    assert [table.label for table in SCHEMA.tables] == ["patients", "billing patients", "invoices", "labs"]
    other = SCHEMA.annotated(
        {"billing.patients": {"label": "debtors"}, "invoices.status": {"values": ["open"]}}
    )
    assert other.tables[1].label == "debtors"
    assert other.columns[other.column_index("billing.invoices", "status")].values == ("open",)


def test_a_schema_with_namespaces_comes_back_from_its_forms() -> None:
    with_constant = SCHEMA.with_values({"billing.patients.name": ["Cid"]})
    assert Schema.from_dict(with_constant.to_dict()) == with_constant
    for dialect in ("sqlite", "postgres", "duckdb"):
        again = Schema.from_ddl(SCHEMA.to_ddl(dialect), dialect)
        assert [again.table_name(i) for i in range(4)] == [SCHEMA.table_name(i) for i in range(4)]
        assert again.warnings == ()


def test_the_usual_namespace_is_the_default_one_where_nobody_says_another() -> None:
    def shown(dialect: str, namespace: str, **more: str) -> str:
        tables = [{"name": "t", "namespace": namespace, "columns": [{"name": "c", "type": "text"}]}]
        return Schema.from_dict({"dialect": dialect, "tables": tables, **more}).table_name(0)

    assert [shown("sqlite", name) for name in ("main", "public", "dbo", "x")] == ["t", "t", "t", "x.t"]
    assert [shown("postgres", name) for name in ("main", "public", "dbo", "")] == [
        "main.t",
        "t",
        "dbo.t",
        "t",
    ]
    assert shown("postgres", "public", default_namespace="x") == "public.t"
    assert shown("sqlite", "public", default_namespace="main") == "public.t"
    assert shown("mysql", "main") == "main.t"


def test_another_default_namespace_takes_its_tables_names_without_it() -> None:
    schema = Schema.from_ddl("CREATE TABLE hosp.stays (id INT); CREATE TABLE hosp.beds (id INT)")
    assert schema.table_name(0) == "hosp.stays"
    moved = schema.with_default_namespace("hosp")
    assert moved.table_name(0) == "stays"
    assert render(sql_to_program("SELECT COUNT(*) FROM stays", moved), moved) == "SELECT COUNT(*) FROM stays"
    verify("SELECT COUNT(*) FROM stays", moved)
    assert runnable("SELECT id FROM stays", moved).endswith('FROM "main"."stays" AS "t1"')
    assert runnable("SELECT id FROM stays", moved, dialect="postgres").count('"hosp"."stays"') == 1
    assert Schema.from_dict(moved.to_dict()) == moved != schema
    with pytest.raises(SchemaError, match="there is no table of this namespace"):
        schema.with_default_namespace("hops")


# ---------------------------------------------------------------- PostgreSQL


@pytest.fixture(scope="module")
def server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    import psycopg

    postgres.create_database("namespaces")
    with psycopg.connect(postgres.conninfo("namespaces"), autocommit=True) as connection:
        for namespace in NAMESPACES:
            connection.execute(f"CREATE SCHEMA {namespace}".encode())
        connection.execute((TABLES + ROWS).encode())
        connection.execute(
            "CREATE VIEW billing.open_invoices AS SELECT id FROM billing.invoices WHERE status = 'open'"
        )
        connection.execute(
            "CREATE MATERIALIZED VIEW billing.totals AS SELECT SUM(owed) AS owed FROM billing.patients"
        )
        connection.execute(
            "CREATE TABLE billing.visits (id INT, who INT REFERENCES public.patients (id), note TEXT)"
        )
        connection.execute("DROP ROLE IF EXISTS clerk; CREATE ROLE clerk LOGIN; DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN")
        connection.execute("GRANT USAGE ON SCHEMA billing TO clerk, guest; GRANT SELECT ON patients TO clerk")
        connection.execute("GRANT SELECT ON billing.patients, billing.open_invoices TO clerk")
        connection.execute("GRANT SELECT (id, who) ON billing.visits TO clerk")
    yield postgres
    with psycopg.connect(postgres.conninfo("namespaces"), autocommit=True) as connection:
        connection.execute("DROP OWNED BY clerk, guest CASCADE; DROP ROLE clerk, guest")


def test_sql_of_a_namespace_of_postgresql_runs(server: PostgresServer) -> None:
    import psycopg

    schema = Schema.from_sqlalchemy(server.url("namespaces"), namespace="billing")
    assert sorted(schema.table_name(i) for i in range(len(schema.tables))) == [
        "billing.invoices", "billing.patients", "billing.visits",
    ]  # fmt: skip
    assert schema.warnings == ()
    assert schema.columns[schema.column_index("invoices", "status")].values == ("open", "paid")
    sql = render(
        sql_to_program("SELECT name FROM billing.patients WHERE owed = 7", schema), schema, dialect="postgres"
    )
    assert sql == "SELECT patients.name FROM billing.patients WHERE patients.owed = 7"
    with psycopg.connect(server.conninfo("namespaces")) as connection:
        assert connection.execute(sql.encode()).fetchall() == [("Cid",)]
    with open_executor(server.url("namespaces"), schema=schema) as executor:
        assert executor.run(sql).rows == (("Cid",),)
        with pytest.raises(VerificationError):
            executor.run("SELECT name FROM public.patients")


@pytest.mark.parametrize("isolated", [False, True])
def test_several_namespaces_of_postgresql_are_read_and_run_side_by_side(
    server: PostgresServer, isolated: bool
) -> None:
    url = server.url("namespaces")
    schema = Schema.from_sqlalchemy(url, namespace=["public", "billing", "Odd Name"])
    assert schema.table_name(schema.table_index("public.patients")) == "patients"
    with open_executor(url, schema=schema, isolated=isolated) as executor:
        for gold, rows in QUERIES.items():
            sql = render(sql_to_program(gold, schema), schema, dialect="postgres")
            assert list(executor.run(sql).rows) == rows, gold
        for sql in HIDDEN:
            if "public.patients" not in sql:
                with pytest.raises(VerificationError):
                    executor.run(sql)


def test_keys_out_of_the_namespaces_that_are_read_are_no_warning(server: PostgresServer) -> None:
    both = Schema.from_sqlalchemy(server.url("namespaces"), namespace=["billing", "public"], strict=True)
    alone = Schema.from_sqlalchemy(server.url("namespaces"), namespace="billing", strict=True)
    assert len(both.foreign_keys) == 2
    assert len(alone.foreign_keys) == 1


def test_a_namespace_that_is_not_there_is_an_error(server: PostgresServer) -> None:
    with pytest.raises(
        SchemaError, match=r"namespace 'biling': the database has no such namespace\. It has: .*billing"
    ):
        Schema.from_sqlalchemy(server.url("namespaces"), namespace="biling")


def test_tables_that_the_role_may_not_read_are_left_out_with_one_warning(server: PostgresServer) -> None:
    url = server.url("namespaces", "clerk")
    schema = Schema.from_sqlalchemy(url, namespace=["public", "billing"], views=True)
    assert sorted(schema.table_name(i) for i in range(len(schema.tables))) == [
        "billing.open_invoices", "billing.patients", "billing.visits", "patients",
    ]  # fmt: skip
    assert set(schema.warnings) == {
        "columns billing.visits.note: the role may not read them; they are left out",
        "tables billing.invoices, billing.totals: the role may not read them; they are left out",
    }
    with pytest.raises(SchemaError, match="the role may not read"):
        Schema.from_sqlalchemy(url, namespace="billing", strict=True)
    with open_executor(url, schema=schema) as executor:
        assert executor.run("SELECT who FROM billing.visits").rows == ()


def test_a_role_that_may_read_nothing_is_told_so(server: PostgresServer) -> None:
    for namespace in ("billing", "audit"):
        with pytest.raises(
            SchemaError, match="the role may not read them, and there are no others"
        ) as caught:
            Schema.from_sqlalchemy(server.url("namespaces", "guest"), namespace=namespace)
        assert "cannot be read" not in str(caught.value)
        assert "GRANT" in str(caught.value).upper()


def test_views_are_chosen_by_name(server: PostgresServer) -> None:
    url = server.url("namespaces")
    schema = Schema.from_sqlalchemy(url, namespace="billing", tables=["invoices"], views=["open_invoices"])
    assert sorted(schema.table_name(i) for i in range(len(schema.tables))) == [
        "billing.invoices",
        "billing.open_invoices",
    ]
    every = Schema.from_sqlalchemy(url, namespace="billing", views=True, exclude=["billing.pat*"])
    assert {table.name for table in every.tables} == {"invoices", "visits", "open_invoices", "totals"}
    with open_executor(url, schema=schema) as executor:
        assert executor.run("SELECT id FROM billing.open_invoices").rows == ((10,),)
        with pytest.raises(VerificationError):
            executor.run("SELECT owed FROM billing.totals")


# ---------------------------------------------------------------- SQLite and DuckDB


@pytest.fixture
def attached(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "main.sqlite")) as connection:
        for namespace in NAMESPACES:
            connection.execute(
                f"ATTACH ? AS {namespace}", [str(tmp_path / f"{namespace.strip(chr(34))}.sqlite")]
            )
        connection.executescript(TABLES.replace("REFERENCES billing.patients", "REFERENCES patients") + ROWS)
        yield connection


def test_attached_databases_of_sqlite_are_namespaces(attached: sqlite3.Connection) -> None:
    schema = Schema.from_sqlite(attached, namespace=["main", "billing", "Odd Name"])
    assert [schema.table_name(i) for i in range(len(schema.tables))] == [
        "patients", "billing.patients", "billing.invoices", "Odd Name.labs",
    ]  # fmt: skip
    assert [schema.qualified_name(key.references[0]) for key in schema.foreign_keys] == [
        "billing.patients.id"
    ]
    assert schema.columns[schema.column_index("invoices", "status")].values == ("open", "paid")
    for gold, rows in QUERIES.items():
        sql = render(sql_to_program(gold, schema), schema)
        assert attached.execute(sql).fetchall() == rows, gold
        assert attached.execute(runnable(sql, schema)).fetchall() == rows, gold
    with pytest.raises(
        SchemaError, match=r"no database is attached under this name\. There are: main, billing"
    ):
        Schema.from_sqlite(attached, namespace="bills")


@pytest.fixture
def files(attached: sqlite3.Connection, tmp_path: Path) -> dict[str, Path]:
    """The attached files by name, the main one as "main"."""
    return {name: tmp_path / f"{name}.sqlite" for name in ("main", "billing", "audit", "Odd Name")}


@pytest.mark.parametrize("isolated", [False, True])
def test_an_executor_attaches_files_and_lets_queries_read_what_the_schema_has_of_them(
    files: dict[str, Path], isolated: bool
) -> None:
    main, others = files["main"], {name: files[name] for name in ("billing", "Odd Name", "audit")}
    named = {name: others[name] for name in ("billing", "Odd Name")}
    schema = Schema.from_sqlite(main, attached=named)
    assert [schema.table_name(i) for i in range(len(schema.tables))] == [
        "patients", "billing.patients", "billing.invoices", "Odd Name.labs",
    ]  # fmt: skip
    with open_executor(main, schema=schema, attached=others, isolated=isolated) as executor:
        for gold, rows in QUERIES.items():
            sql = render(sql_to_program(gold, schema), schema)
            assert list(executor.run(sql).rows) == rows, gold
        for sql in set(HIDDEN) - {"SELECT name FROM main.patients"}:  # which this schema has
            with pytest.raises(VerificationError):
                executor.run(sql)


def test_sqlite_itself_lets_no_query_read_what_the_schema_lacks_of_an_attached_file(
    files: dict[str, Path],
) -> None:
    with closing(sqlite3.connect(files["billing"])) as connection, connection:
        connection.execute("CREATE VIEW owing AS SELECT name FROM patients WHERE owed > 10")
        connection.execute("CREATE VIEW statuses AS SELECT status FROM invoices")
    readable = Readable.of_names(
        {"patients": ["name"], "billing\0patients": ["name"], "billing\0owing": ["name"]}
    )
    others = {name: files[name] for name in ("billing", "audit")}
    with ReadOnlyExecutor(files["main"], readable=readable, attached=others) as executor:
        assert executor.run("SELECT name FROM billing.patients WHERE name = 'Cid'").rows == (("Cid",),)
        assert executor.run("SELECT name FROM billing.owing").rows == (("Ada L.",),)
        assert executor.run("SELECT COUNT(*) FROM billing.patients").rows == ((2,),)
        for sql in (
            "SELECT owed FROM billing.patients",
            "SELECT status FROM billing.invoices",
            "SELECT status FROM invoices",
            "SELECT status FROM billing.statuses",
            "SELECT COUNT(*) FROM billing.invoices",
            "SELECT name FROM audit.patients",
            "SELECT COUNT(*) FROM audit.patients",
            "SELECT secret FROM logins",
            "SELECT sql FROM billing.sqlite_master",
            "SELECT name FROM temp.sqlite_master",
            "WITH patients AS (SELECT secret AS name FROM audit.logins) SELECT name FROM patients",
            "SELECT name FROM pragma_table_list",
            "ATTACH 'x.sqlite' AS more",
            "SELECT sex FROM patients",
        ):
            with pytest.raises(ExecutionError):
                executor.run(sql)


def test_an_attached_file_is_read_anew_when_it_was_written(files: dict[str, Path]) -> None:
    others = {"billing": files["billing"]}
    schema = Schema.from_sqlite(files["main"], attached=others, tables=["billing.*"])
    with open_executor(files["main"], schema=schema, attached=others) as executor:
        assert executor.run("SELECT COUNT(*) FROM billing.invoices").rows == ((2,),)
        with closing(sqlite3.connect(files["billing"])) as connection, connection:
            connection.execute("INSERT INTO invoices VALUES (12, 1, 'open')")
        assert executor.run("SELECT COUNT(*) FROM billing.invoices").rows == ((3,),)
        files["billing"].unlink()
        with pytest.raises(ExecutionError, match="no such database"):
            executor.run("SELECT COUNT(*) FROM billing.patients")


@pytest.mark.parametrize("isolated", [False, True])
def test_a_namespace_that_is_not_attached_is_told_at_once(files: dict[str, Path], isolated: bool) -> None:
    with pytest.raises(ExecutionError, match="no file that is attached: billing, odd name"):
        open_executor(files["main"], schema=SCHEMA, isolated=isolated)
    with pytest.raises(SchemaError, match="no such file"):
        Schema.from_sqlite(files["main"], attached={"x": files["main"].with_name("gone.sqlite")})


def test_schemas_of_duckdb_run(duckdb_driver: None, tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "hospital.duckdb"
    with duckdb.connect(str(path)) as connection:
        for namespace in NAMESPACES:
            connection.execute(f"CREATE SCHEMA {namespace}")
        connection.execute(TABLES + ROWS)
        for gold, sql in written("duckdb").items():
            assert connection.execute(sql).fetchall() == QUERIES[gold], gold
    with open_executor(path, schema=SCHEMA) as executor:
        for gold, sql in written("duckdb").items():
            assert list(executor.run(sql).rows) == QUERIES[gold], gold
        for sql in HIDDEN:
            with pytest.raises(VerificationError):
                executor.run(sql)


def test_a_file_of_duckdb_may_be_called_as_one_of_its_schemas(duckdb_driver: None, tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "billing.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE SCHEMA billing; CREATE TABLE billing.billing.patients (id INT, name TEXT, owed INT)"
        )
        connection.execute("INSERT INTO billing.billing.patients VALUES (3, 'Cid', 7)")
    with open_executor(path, schema=SCHEMA) as executor:
        assert executor.run("SELECT name FROM billing.patients").rows == (("Cid",),)
