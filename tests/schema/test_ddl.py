"""DDL as hospitals and vendors write it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastsql.errors import DialectError, FastSQLError, SchemaError
from fastsql.schema import ForeignKey, Schema


def names(schema: Schema) -> list[str]:
    return [schema.qualified_name(index) for index in range(len(schema.columns))]


def types(schema: Schema) -> list[str]:
    return [column.type for column in schema.columns]


MYSQL = """
/*!40101 SET NAMES utf8mb4 */;
SET FOREIGN_KEY_CHECKS = 0;
DROP TABLE IF EXISTS `t_kc21`;
CREATE TABLE `t_kc21` (
  `MED_CLINIC_ID` varchar(11) CHARACTER SET utf8 COLLATE utf8_bin NOT NULL COMMENT '医疗就诊ID',
  `性别` enum('男','女') DEFAULT '男' COMMENT '性别：1表示男性，2表示女性，其他值一律不得填写',
  `MED_AMOUT` decimal(11, 2) unsigned DEFAULT NULL COMMENT 'total, in yuan; the patient''s share excluded',
  `IN_DATE` datetime(0) NULL ON UPDATE CURRENT_TIMESTAMP(0),
  `key` varchar(20),
  PRIMARY KEY (`MED_CLINIC_ID`) USING BTREE,
  UNIQUE KEY `u` (`key`(10)),
  KEY `idx_date` (`IN_DATE`),
  FULLTEXT KEY `ft` (`key`)
) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8 COMMENT='就诊表';
INSERT INTO `t_kc21` VALUES ('1','男',1.5,NULL,'a;b'),('2','CREATE TABLE x (a int);',2,NULL,'--');
CREATE TABLE t_kc22 (`ID` int(11), `CLINIC` varchar(11),
  CONSTRAINT `fk` FOREIGN KEY (`CLINIC`) REFERENCES `db`.`t_kc21` (`MED_CLINIC_ID`) ON DELETE CASCADE) ENGINE = MyISAM;
ALTER TABLE `t_kc22` ADD COLUMN `note` mediumtext, ADD PRIMARY KEY (`ID`), ADD KEY `k` (`CLINIC`);
ALTER TABLE `t_kc22` MODIFY `ID` int(11) NOT NULL AUTO_INCREMENT;
"""


@pytest.mark.parametrize("dialect", ["mysql", "mariadb", None])
def test_a_chinese_mysql_dump(dialect: str | None) -> None:
    schema = Schema.from_ddl(MYSQL, dialect, strict=True)
    assert schema.dialect == "mysql"
    assert [(table.name, table.label) for table in schema.tables] == [
        ("t_kc21", "就诊表"),
        ("t_kc22", "t kc22"),
    ]
    assert names(schema) == [
        "t_kc21.MED_CLINIC_ID",
        "t_kc21.性别",
        "t_kc21.MED_AMOUT",
        "t_kc21.IN_DATE",
        "t_kc21.key",
        "t_kc22.ID",
        "t_kc22.CLINIC",
        "t_kc22.note",
    ]
    assert types(schema) == ["text", "text", "number", "time", "text", "number", "text", "text"]
    assert [column.label for column in schema.columns[:4]] == ["医疗就诊ID", "性别", "med amout", "in date"]
    assert schema.columns[0].description == ""
    assert schema.columns[1].description.startswith("性别：")
    assert schema.columns[1].values == ("男", "女")
    assert schema.columns[2].description == "total, in yuan; the patient's share excluded"
    assert [table.primary_key for table in schema.tables] == [(0,), (5,)]
    assert schema.foreign_keys == (ForeignKey((6,), (0,)),)


POSTGRES = """
-- PostgreSQL database dump
SET statement_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);
CREATE TYPE public.mood AS ENUM ('calm', 'agitated');
CREATE DOMAIN public.score AS integer CHECK (VALUE >= 0);
CREATE TABLE public.Patients (
    subjectId bigint DEFAULT nextval('public.seq'::regclass) NOT NULL,
    "Gender" character varying(5) CHECK ("Gender" IN ('f', 'm')),
    dob timestamp(0) without time zone NOT NULL,
    seen timestamp with time zone DEFAULT now(),
    weight double precision,
    tags text[],
    mood public.mood,
    gcs score,
    code integer,
    CONSTRAINT codes CHECK (((code IN (1, -2)))),
    EXCLUDE USING gist (code WITH =)
);
ALTER TABLE public.patients OWNER TO postgres;
COMMENT ON TABLE public.patients IS '患者';
COMMENT ON COLUMN public.patients.dob IS 'the date of birth, shifted';
CREATE UNLOGGED TABLE IF NOT EXISTS stays (id serial PRIMARY KEY, who bigint REFERENCES public.patients);
ALTER TABLE ONLY public.patients ADD CONSTRAINT patients_pkey PRIMARY KEY (subjectid);
CREATE INDEX i ON public.patients USING btree (dob);
CREATE VIEW v AS SELECT 1 AS one;
CREATE FUNCTION f() RETURNS integer AS $$ BEGIN CREATE TABLE hidden (a int); RETURN 1; END; $$ LANGUAGE plpgsql;
"""


@pytest.mark.parametrize("dialect", ["postgres", "PostgreSQL", None])
def test_a_postgres_dump(dialect: str | None) -> None:
    schema = Schema.from_ddl(POSTGRES, dialect, strict=True)
    assert schema.dialect == "postgres"
    assert names(schema) == [
        "patients.subjectid",  # what is not quoted is held in lower case
        "patients.Gender",
        "patients.dob",
        "patients.seen",
        "patients.weight",
        "patients.tags",
        "patients.mood",
        "patients.gcs",
        "patients.code",
        "stays.id",
        "stays.who",
    ]
    assert types(schema) == [
        *("number", "text", "time", "time", "number", "other", "text", "number", "number"),
        *("number", "number"),
    ]
    assert schema.columns[0].label == "subject id"
    assert schema.columns[1].values == ("f", "m")
    assert schema.columns[6].values == ("calm", "agitated")
    assert schema.columns[8].values == (1, -2)
    assert schema.columns[2].description == "the date of birth, shifted"
    assert schema.tables[0].label == "患者"
    assert [table.primary_key for table in schema.tables] == [(0,), (9,)]
    assert schema.foreign_keys == (ForeignKey((10,), (0,)),)


TSQL = """
CREATE TABLE [dbo].[Order Details] (
    [OrderID] [int] IDENTITY(1,1) NOT NULL,
    [Name] [nvarchar](40) COLLATE Latin1_General_CI_AS NULL,
    [price] money,
    CONSTRAINT [PK] PRIMARY KEY CLUSTERED ([OrderID] ASC, [Name] DESC) WITH (PAD_INDEX = OFF) ON [PRIMARY]
) ON [PRIMARY]
GO
SET ANSI_NULLS ON
GO
CREATE TABLE [dbo].[Stock] ([ID] [uniqueidentifier] ROWGUIDCOL, [Order] [int], [day] [datetime2](7))
ALTER TABLE [dbo].[Stock] WITH CHECK ADD CONSTRAINT [FK] FOREIGN KEY([Order]) REFERENCES [dbo].[Order Details] ([OrderID])
GO
"""


@pytest.mark.parametrize("dialect", ["tsql", "mssql", None])
def test_a_script_of_sql_server(dialect: str | None) -> None:
    schema = Schema.from_ddl(TSQL, dialect, strict=True)
    assert schema.dialect == "tsql"
    assert names(schema) == [
        "Order Details.OrderID",
        "Order Details.Name",
        "Order Details.price",
        "Stock.ID",
        "Stock.Order",
        "Stock.day",
    ]
    assert [column.sql_type for column in schema.columns] == [
        *("int", "nvarchar(40)", "money", "uniqueidentifier", "int", "datetime2(7)")
    ]
    assert schema.tables[0].primary_key == (0, 1)
    assert schema.foreign_keys == (ForeignKey((4,), (0,)),)


ORACLE = """
CREATE GLOBAL TEMPORARY TABLE patients (
  id NUMBER(10,0) NOT NULL ENABLE, "Name" VARCHAR2(20 BYTE), notes CLOB, born DATE DEFAULT SYSDATE,
  PRIMARY KEY (id) USING INDEX PCTFREE 10 ENABLE
) SEGMENT CREATION DEFERRED
/
;
ALTER TABLE patients ADD (weight NUMBER, height FLOAT);
COMMENT ON COLUMN patients.born IS '出生日期';
"""


@pytest.mark.parametrize("dialect", ["oracle", None])
def test_a_script_of_oracle(dialect: str | None) -> None:
    schema = Schema.from_ddl(ORACLE, dialect, strict=True)
    assert names(schema) == [
        *(
            "PATIENTS.ID",
            "PATIENTS.Name",
            "PATIENTS.NOTES",
            "PATIENTS.BORN",
            "PATIENTS.WEIGHT",
            "PATIENTS.HEIGHT",
        )
    ]
    assert types(schema) == ["number", "text", "text", "time", "number", "number"]
    assert [column.label for column in schema.columns[:4]] == ["id", "name", "notes", "出生日期"]


SQLITE = """
CREATE TABLE t (
    a NATIVE CHARACTER(70), b UNSIGNED BIG INT, [odd name] INT, `back` real, "y""z" TEXT, 'string' date,
    id INTEGER PRIMARY KEY AUTOINCREMENT, s TEXT COLLATE NOCASE DEFAULT ('a,b)' || "c"),
    g INT GENERATED ALWAYS AS (id * 2) STORED, "check" text, key text, "select" int, period int, like_ int,
    -- a remark, with a comma and a quote '
    /* another ; */ last blob
) WITHOUT ROWID;
CREATE TRIGGER tr AFTER INSERT ON t BEGIN UPDATE t SET a = 1; END;
create table if not exists main.u (x, y int references t, foreign key (x, y) references t (a, "B"));
"""


def test_ddl_of_sqlite() -> None:
    schema = Schema.from_ddl(SQLITE)
    assert schema.dialect == "sqlite"
    assert [column.name for column in schema.columns] == [
        *(
            "a",
            "b",
            "odd name",
            "back",
            'y"z',
            "string",
            "id",
            "s",
            "g",
            "check",
            "key",
            "select",
            "period",
            "like_",
        ),
        *("last", "x", "y"),
    ]
    assert types(schema)[:6] == ["text", "number", "number", "number", "text", "time"]
    assert schema.foreign_keys == (ForeignKey((15, 16), (0, 1)), ForeignKey((16,), (6,)))
    assert schema.warnings == ("column u.x: it has no type; it is taken as 'other'",)


OTHERS = {
    "bigquery": (
        "CREATE TABLE d.t (a INT64 OPTIONS(description='the a'), s STRUCT<x INT64, y ARRAY<STRING>>, b STRING NOT NULL)",
        [("a", "number"), ("s", "other"), ("b", "text")],
    ),
    "hive": (
        "CREATE EXTERNAL TABLE t (a STRING COMMENT 'x', b MAP<STRING,INT>) PARTITIONED BY (dt STRING) STORED AS PARQUET",
        [("a", "text"), ("b", "other"), ("dt", "text")],
    ),
    "clickhouse": (
        "CREATE TABLE t (a Nullable(Int64), b LowCardinality(String) CODEC(ZSTD), c DateTime64(3)) ENGINE = Memory",
        [("a", "number"), ("b", "text"), ("c", "time")],
    ),
    "snowflake": (
        "create or replace TRANSIENT TABLE t (Id NUMBER(38,0) autoincrement, v VARIANT, ts TIMESTAMP_NTZ(9))",
        [("ID", "number"), ("V", "other"), ("TS", "time")],
    ),
    "redshift": (
        "CREATE TABLE t (a bigint ENCODE az64 DISTKEY, b character(3) ENCODE lzo) SORTKEY (a)",
        [("a", "number"), ("b", "text")],
    ),
    "duckdb": ("CREATE TABLE 表 (列一 整数, 列二 文本 PRIMARY KEY)", [("列一", "number"), ("列二", "text")]),
}


@pytest.mark.parametrize("dialect", OTHERS)
def test_ddl_of_every_other_dialect_is_read_with_its_types(dialect: str) -> None:
    ddl, expected = OTHERS[dialect]
    schema = Schema.from_ddl(ddl, dialect)
    assert [(column.name, column.type) for column in schema.columns] == expected
    assert schema.dialect == dialect


def test_every_dialect_reads_plain_ddl() -> None:
    from sqlglot.dialects.dialect import Dialects

    for dialect in Dialects:
        if dialect.value and dialect.value not in ("prql", "dax"):
            schema = Schema.from_ddl("CREATE TABLE a (x INT, y VARCHAR(3))", dialect.value, strict=True)
            assert [column.name.lower() for column in schema.columns] == ["x", "y"], dialect


ODD = [
    ("CREATE TABLE t AS SELECT 1; CREATE TABLE u (a INT)", "table 't'"),
    ("CREATE TABLE t (LIKE u); CREATE TABLE u (a INT)", "table 't'"),
    ("CREATE TABLE; CREATE TABLE u (a INT)", "CREATE TABLE"),
    ("CREATE VIRTUAL TABLE f USING fts5(a, b); CREATE TABLE u (a INT)", "table 'f'"),
    ("CREATE TABLE u (a INT); ALTER TABLE v ADD b INT", "table 'v'"),
    ("CREATE TABLE u (a INT); ALTER TABLE u RENAME TO v", "table 'u'"),
    ("CREATE TABLE u (a INT); ALTER TABLE u DROP COLUMN b", "table 'u'"),
    ("CREATE TABLE u (a INT REFERENCES v(b))", "foreign key u(a) -> v(b)"),
]


@pytest.mark.parametrize(("ddl", "item"), ODD)
def test_what_cannot_be_followed_is_recorded_or_refused(ddl: str, item: str) -> None:
    schema = Schema.from_ddl(ddl, "sqlite")
    assert names(schema) == ["u.a"]
    assert len(schema.warnings) == 1
    assert schema.warnings[0].startswith(f"{item}: ")
    with pytest.raises(SchemaError) as caught:
        Schema.from_ddl(ddl, "sqlite", strict=True)
    assert caught.value.where == item


@pytest.mark.parametrize(
    "ddl",
    [
        "",
        "   ",
        ";;;",
        "hello world",
        "SELECT 1",
        "DROP TABLE t",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE t",
        "CREATE TABLE t (",
        "CREATE TABLE t ()",
        "CREATE TABLE t (a INT",
        "CREATE TABLE t (a 'x",
        "CREATE TABLE t (a INT /* ",
        "CREATE TABLE (a INT)",
        "CREATE TABLE t (a INT, b VARCHAR(20)",
        "CREATE TABLE t (1, 2)",
        "\0\1\2",
        "😀",
        "((((((((",
        "CREATE TABLE t " + "(" * 50_000,
    ],
)
def test_text_without_a_whole_table_is_a_schema_error(ddl: str) -> None:
    with pytest.raises(SchemaError):
        Schema.from_ddl(ddl, "sqlite")


def test_monstrous_ddl_costs_no_time() -> None:
    brackets = "(" * 10_000 + ")" * 10_000
    for ddl in (
        f"CREATE TABLE t (a INT CHECK {brackets})",
        "CREATE TABLE t (a INT " + "REFERENCES t " * 8_000 + ")",
        "CREATE TABLE t (a INT) " + "PARTITIONED BY (" * 10_000,
    ):
        assert names(Schema.from_ddl(ddl, "sqlite")) == ["t.a"]


def test_an_unknown_dialect_is_a_dialect_error_that_lists_the_known() -> None:
    with pytest.raises(DialectError, match=r"'klingon'.*postgres.*sqlite"):
        Schema.from_ddl("CREATE TABLE t (a INT)", "klingon")
    with pytest.raises(DialectError, match="'klingon'"):
        Schema.from_ddl("CREATE TABLE t (a INT)").to_ddl("klingon")


def test_to_ddl_of_another_dialect_reads_back() -> None:
    schema = Schema.from_ddl(MYSQL)
    for dialect in ("postgres", "mysql", "tsql", "duckdb", "oracle", "snowflake", "bigquery"):
        again = Schema.from_ddl(schema.to_ddl(dialect), dialect)
        assert names(again) == names(schema), dialect
        assert types(again) == types(schema), dialect


WORDS = """CREATE TABLE ALTER COMMENT ON COLUMN ADD PRIMARY KEY FOREIGN REFERENCES CHECK IN ( ) ( ) , , ; . t u a b
    INT TEXT 'x' "q" 1 ENUM CONSTRAINT UNIQUE LIKE AS IS DEFAULT - = < > STRUCT TYPE DOMAIN GO IF NOT EXISTS ONLY OPTIONS
    患者 [ ]"""
pieces = st.sampled_from(WORDS.split())


@given(st.lists(pieces, max_size=30), st.sampled_from(["sqlite", "mysql", "postgres", "tsql", None]))
@settings(max_examples=300, deadline=None)
def test_whatever_the_words_the_outcome_is_a_schema_or_our_error(
    words: list[str], dialect: str | None
) -> None:
    try:
        schema = Schema.from_ddl("CREATE TABLE t (a INT, " + " ".join(words), dialect)
    except FastSQLError:
        return
    assert Schema.from_dict(schema.to_dict()).fingerprint == schema.fingerprint


def test_reading_ddl_does_not_import_numpy_or_torch() -> None:
    code = (
        "import sys; from fastsql.schema import Schema; Schema.from_ddl('CREATE TABLE t (a INT)');"
        "print([m for m in ('numpy', 'sqlalchemy', 'torch') if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert found.stdout.strip() == "[]"
