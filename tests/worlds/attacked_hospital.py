"""The hospital under attack: two tables of the schema, one table that is not in it, a counter, a file beside it."""

from __future__ import annotations

from pathlib import Path

from fastsql.schema import Schema

TABLES = """
CREATE TABLE patients (subject_id INT PRIMARY KEY, gender VARCHAR(1), name TEXT);
CREATE TABLE admissions (hadm_id INT PRIMARY KEY, subject_id INT REFERENCES patients (subject_id), age INT);
"""
HIDDEN = "CREATE TABLE staff (staff_id INT PRIMARY KEY, password TEXT);"
ROWS = """
INSERT INTO patients VALUES (1, 'F', 'Ada'), (2, 'M', 'Ben');
INSERT INTO admissions VALUES (10, 1, 61), (11, 2, 47);
INSERT INTO staff VALUES (1, 'hunter2');
"""
SCHEMA = Schema.from_ddl(TABLES)
SECRET = "planted-file-secret"
"""What stands in the file that must not be read."""


def plant_files(folder: Path) -> None:
    """A folder with files that attacks try to read."""
    (folder / "secret.csv").write_text(f"a\n{SECRET}\n")
    (folder / "secret.json").write_text(f'{{"a": "{SECRET}"}}\n')


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder with their content."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def holds_file_content(rows: object) -> bool:
    """Whether rows hold what stands in a file."""
    text = repr(rows)
    return SECRET in text or "root:" in text
