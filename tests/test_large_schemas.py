"""A warehouse of 1,530 columns in 97 tables: its questions parse over the whole schema, and memory stays within a bound."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

MOST_MEMORY = 500
"""Mebibytes that a process may take at its peak with the bundled model and the whole schema: 373 were measured."""

PROGRAM = """
import json, sys
from pathlib import Path
import fastsql
from fastsql.datasets import read_examples, read_schemas
from fastsql.verification.verify import verify

folder = Path(sys.argv[1])
schema = read_schemas(folder / "schemas.json")["dw"]
parser = fastsql.load("ehr-en", threads=1)
found = []
for example in read_examples(folder / "dev.json")[::20]:
    result = parser.parse(example.question, schema)
    if result.best is not None:
        verify(result.best, schema)
    found.append([result.best is not None, result.abstained, bool(result.reason)])
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
print(json.dumps([len(schema.columns), found, int(status["VmHWM"].split()[0]) / 2**10]))
"""
"""In a process of its own, as the peak is a process's; SQL that does not verify ends it with an error. The peak that
`resource` tells would count the memory of the process that started this one."""


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="run it on Linux, which tells a process's peak in /proc"
)
def test_a_warehouse_parses_whole(fastsql_data: Path) -> None:
    beaver = fastsql_data / "beaver"
    if not beaver.is_dir():
        pytest.skip("put beaver into the folder that FASTSQL_DATA names to run this")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(beaver)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    columns, found, peak = json.loads(done.stdout)
    assert columns == 1530
    assert len(found) == 7
    # What is refused says why; what is not refused has SQL.
    assert all(reason if abstained else has_sql for has_sql, abstained, reason in found)
    assert any(has_sql for has_sql, _, _ in found)
    assert peak < MOST_MEMORY
