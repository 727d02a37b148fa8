"""Conversations over a hospital, with every way in which a query can take from earlier turns."""

from __future__ import annotations

from fastsql.grammar import (
    ColumnRef,
    DerivedRef,
    Literal,
    Production,
    Program,
    TableRef,
    TurnRef,
    sql_to_program,
)

from .grammar_hospitals import HOSPITAL

P, T = Production, TurnRef
END, KEEP = P("end"), P("keep")


def column(name: str, source: int = 0) -> ColumnRef:
    table, _, own = name.partition(".")
    return ColumnRef(HOSPITAL.column_index(table, own), source)


def query(sql: str) -> Program:
    return sql_to_program(sql, HOSPITAL)


ADMISSIONS = TableRef(HOSPITAL.table_index("admissions"))
CONVERSATIONS: tuple[tuple[tuple[str, Program], ...], ...] = (
    (
        ("show patients of gender f", query("SELECT subject_id, name FROM patients WHERE gender = 'f'")),
        (
            "only those without a dob",
            (P("extend"), T(0), P("is_null"), column("patients.dob"), KEEP),
        ),
        ("the names of these", (P("previous"), T(1), DerivedRef(0, 1), END)),
        ("the subject ids of those before", (P("previous"), T(0), DerivedRef(0, 0), END)),
    ),
    (
        ("which patients are of gender m", query("SELECT subject_id FROM patients WHERE gender = 'm'")),
        (
            "their admissions",
            (
                *(ADMISSIONS, P("in_previous"), T(0), column("admissions.subject_id")),
                *(column("admissions.hadm_id"), END),
            ),
        ),
        ("how many are there", (P("previous"), T(1), P("count"), DerivedRef(0, 0), END)),
    ),
    (
        ("the oldest age", query("SELECT MAX(age) FROM admissions")),
        (
            "admissions of that age",
            (
                *(ADMISSIONS, P("eq"), column("admissions.age"), P("previous_value"), T(0)),
                *(column("admissions.hadm_id"), END),
            ),
        ),
        (
            "sorted by time",
            (P("extend"), T(1), P("sort_rows"), P("asc"), column("admissions.admittime"), END),
        ),
    ),
    (
        ("admissions of each ward", query("SELECT ward, COUNT(*) FROM admissions GROUP BY ward")),
        (
            "wards with more than 9",
            (P("previous"), T(0), P("gt"), DerivedRef(0, 1), Literal(9), DerivedRef(0, 0), END),
        ),
        ("and how many each", (P("extend"), T(1), DerivedRef(0, 0), DerivedRef(0, 1), END)),
    ),
    (
        (
            "wards of patients seen twice",
            query("SELECT a.ward FROM admissions AS a JOIN admissions AS b ON a.subject_id = b.subject_id"),
        ),
        (
            "where the second has no age",
            (P("extend"), T(0), P("is_null"), column("admissions.age", 1), KEEP),
        ),
    ),
)
