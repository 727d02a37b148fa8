"""SQL to programs and the literals of their columns, kept in a file so that a second run starts at once."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import fastsql.grammar as grammar_package
from fastsql.grammar import ConversionError, sql_to_program
from fastsql.grammar.program import Program
from fastsql.linking import column_literals, gold
from fastsql.schema import Schema, keys
from fastsql.synthesis.generate import Report
from fastsql.training.corpus.lexicon import ColumnKey
from fastsql.training.corpus.programs import dump_program, parse_program
from fastsql.training.corpus.split import Pair

ColumnLiterals = list[tuple[ColumnKey, str]]


def query_key(pair: Pair) -> str:
    """What tells a query from the others of a corpus: its database and its text."""
    return f"{pair.db_id}\n{pair.sql}\n{pair.program}" if pair.program else f"{pair.db_id}\n{pair.sql}"


def convert(
    pairs: Sequence[Pair], schemas: dict[str, Schema], cache: Path, left_out: Counter[str], report: Report
) -> tuple[dict[str, Program], dict[str, ColumnLiterals]]:
    """Programs and column literals by `query_key`, from the cache where they are known."""
    # Any change of the grammar, the converter or the reading of literals makes new programs.
    folder = Path(grammar_package.__file__).parent
    files = [
        *(path for path in sorted(folder.rglob("*")) if path.suffix in {".py", ".grammar"}),
        Path(gold.__file__),
        Path(keys.__file__),
    ]
    grammar = b"".join(path.read_bytes() for path in files)
    identity = b"".join(schemas[db_id].fingerprint.encode() for db_id in sorted(schemas))
    file = cache / f"programs-{hashlib.sha256(grammar + identity).hexdigest()[:16]}.jsonl"
    known = _read_cache(file)
    programs: dict[str, Program] = {}
    literals: dict[str, ColumnLiterals] = {}
    reasons: dict[str, str] = {}
    fresh = 0
    for pair in pairs:
        key = query_key(pair)
        if key in programs:
            continue
        if key not in known and key not in reasons:
            try:
                program = (
                    parse_program(pair.program)
                    if pair.program
                    else sql_to_program(pair.sql, schemas[pair.db_id])
                )
            except ConversionError as error:
                reasons[key] = str(error).partition(":")[0]
            else:
                known[key] = (dump_program(program), column_literals(pair.sql, schemas[pair.db_id]))
                fresh += 1
                if fresh % 1000 == 0:
                    report(f"{fresh} queries converted")
        if key in known:
            text, found = known[key]
            programs[key], literals[key] = parse_program(text), found
        else:
            left_out[f"not convertible: {reasons[key]}"] += 1
    if fresh:
        # Other sources of the same databases have theirs in the same file, which another process may have written meanwhile.
        _write_cache(file, _read_cache(file) | known)
    return programs, literals


def _read_cache(file: Path) -> dict[str, tuple[str, ColumnLiterals]]:
    known: dict[str, tuple[str, ColumnLiterals]] = {}
    if file.is_file():
        for line in file.read_text(encoding="utf-8").splitlines():
            key, program, literals = json.loads(line)
            known[key] = (program, [((table, column), text) for table, column, text in literals])
    return known


def _write_cache(file: Path, known: dict[str, tuple[str, ColumnLiterals]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(f".{os.getpid()}.tmp")
    with temporary.open("w", encoding="utf-8") as out:
        for key, (program, literals) in known.items():
            rows = [[table, column, text] for (table, column), text in literals]
            out.write(json.dumps([key, program, rows], ensure_ascii=False) + "\n")
    temporary.replace(file)
