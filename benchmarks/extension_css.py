"""How near schema extension comes to CSS's extended databases, remade from its two original ones.

    python benchmarks/extension_css.py --json extension_css.json

FASTSQL_DATA names the folder of the data sets. Each of the 19 databases is made anew by the operations that its entry names,
from rows made up for its original, and its original's queries are carried over with their literals changed to such as the
rows hold: one query a template, and only of templates that CSS has for the database. Counted are

tables, columns, keys, references   CSS's that the remade schema has, too, of CSS's (and how many it has beyond)
queries                             templates that CSS has for the database, and here; carried: those that are carried over
same, as sets                       carried ones whose answer is that of CSS's own query, row for row; or but for repetitions
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlglot import exp

from fastsql.cli.console import Console
from fastsql.datasets import Example, read_examples, read_schemas
from fastsql.errors import FastSQLError
from fastsql.execution import Executor, open_executor
from fastsql.schema import Schema
from fastsql.schema.model import ForeignKey
from fastsql.schema.names import fold
from fastsql.synthesis.extension import extend_at
from fastsql.synthesis.extension.facts import Facts
from fastsql.synthesis.extension.merge import merge_sites
from fastsql.synthesis.extension.operation import Site
from fastsql.synthesis.extension.relation import relation_sites
from fastsql.synthesis.extension.split import split_sites
from fastsql.verification.parse import parse_query, write

sys.path.insert(0, str(Path(__file__).parent))
from made_rows import ROWS, MadeRows, Row
from record import save

REPORTS, KIND, CLINIC, WARD = "jybgb", "JZLX", "门诊", "住院"
"""A report of CSS's hospital is of an outpatient's visit or of an inpatient's, as its column says; the other key is NULL."""


class CssRows(MadeRows):
    """Rows of an original: each report is of one kind of visit, and twice as many, so that every visit has one."""

    def number_of(self, table: int) -> int:
        """How many rows a table gets."""
        return ROWS * 2 if self.schema.tables[table].name in (REPORTS, "jyjgzbb") else ROWS

    def row(self, table: int, number: int) -> Row:
        """A row, a report of the first half being an outpatient's."""
        row = super().row(table, number)
        if self.schema.tables[table].name == REPORTS:
            clinic = number < ROWS
            row[self.schema.column_index(REPORTS, KIND)] = CLINIC if clinic else WARD
            for name in ("YLJGDM", "JZLSH"):
                row[self.schema.column_index(REPORTS, f"{name}_{'ZYJZJLB' if clinic else 'MZJZJLB'}")] = None
        return row


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each database; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    folder = Path(os.environ["FASTSQL_DATA"]) / "css"
    schemas, examples = read_schemas(folder / "schemas.json"), read_examples(folder / "examples.json.gz")
    entries = json.loads((folder / "schemas.json").read_text("utf-8"))
    made_from = {entry["db_id"]: entry for entry in entries if entry.get("parent")}
    figures: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as place:
        rows = {
            name: with_rows(schemas[name], Path(place)) for name in sorted(schemas) if name not in made_from
        }
        for name, entry in made_from.items():
            made, file = rows[entry["parent"]]
            figures[name] = remade(schemas[name], entry, made, file, examples, Path(place))
    total = Counter[str]()
    for one in figures.values():
        total.update({key: value for key, value in one.items() if isinstance(value, int)})
    lines = [*figures.items(), ("all", {"operations": "", **total})]
    Console(out=sys.stdout).table(
        ("database", "operations", *HEADS), [(name, one["operations"], *line(one)) for name, one in lines]
    )
    save(options.json, {"databases": figures, "all": dict(total)}, __file__, arguments)
    return 0


HEADS = ("tables", "columns", "keys", "references", "queries", "carried", "same", "as sets")


def line(one: Mapping[str, Any]) -> list[str]:
    """The figures of a database as the table shows them."""
    parts = [f"{one[f'{key} equal']}/{one[key]} +{one[f'{key} more']}" for key in HEADS[:4]]
    return [*parts, *(str(one[key]) for key in HEADS[4:])]


def with_rows(schema: Schema, place: Path) -> tuple[CssRows, Path]:
    """An original with rows, and the file of them."""
    if schema.find_table(REPORTS) is not None:
        schema = schema.with_values({f"{REPORTS}.{KIND}": [CLINIC, WARD]})
        column = schema.column_index(REPORTS, KIND)
        columns = tuple(
            replace(one, type="text", sql_type="text") if index == column else one
            for index, one in enumerate(schema.columns)
        )
        schema = replace(schema, columns=columns)
    made, path = CssRows(schema), place / f"{schema.name}.sqlite"
    made.write(path)
    return made, path


def remade(
    theirs: Schema,
    entry: Mapping[str, Any],
    rows: CssRows,
    file: Path,
    examples: Iterable[Example],
    place: Path,
) -> dict[str, Any]:
    """The figures of one database."""
    by_id = {one.id: one for one in examples}
    chosen: dict[int, tuple[Example, Example]] = {}
    for one in by_id.values():
        original = by_id.get(one.extra.get("source_id") or "")
        if one.db_id == theirs.name and original is not None and one.runs and original.runs:
            chosen.setdefault(one.extra["template_id"], (original, one))
    pairs: dict[str, tuple[Example, str]] = {}
    for original, one in chosen.values():
        pairs.update(fitted(rows, original, one))
    sites = [chooser(operation) for operation in entry["operations"]]
    target = place / f"{theirs.name}.sqlite"
    made = extend_at(rows.schema, file, target, sites, [pair for pair, _ in pairs.values()])
    found: dict[str, Any] = {
        "operations": " ".join(one["op"].partition("_")[0] for one in entry["operations"])
    }
    found |= compared(theirs, made.schema)
    found |= {"queries": len(chosen), "carried": len(made.pairs), "same": 0, "as sets": 0}
    names = table_names(theirs, made.schema)
    with open_executor(target) as executor:
        for carried in made.pairs:
            source = carried.example.id.partition("@")[0]
            same, alike = agree(executor, carried.example.sql or "", renamed(pairs[source][1], names))
            found["same"] += same
            found["as sets"] += alike
    found["dropped"] = dict(Counter(one.why for one in made.dropped))
    return found


def fitted(rows: MadeRows, original: Example, theirs: Example) -> dict[str, tuple[Example, str]]:
    """By its id an original and CSS's rewriting of it, with literals that the rows hold; none if it cannot be read."""
    try:
        sql = rows.with_literals(original.sql or "")
        mapping = literals(original.sql or "", sql)
        return {original.id: (replace(original, sql=sql), with_literals(theirs.sql or "", mapping))}
    except FastSQLError:  # nested so deeply that nobody reads it here
        return {}


def chooser(operation: Mapping[str, Any]) -> Callable[[Schema, Facts], Site | None]:
    """What finds the site that an entry of CSS names."""

    def choose(schema: Schema, facts: Facts) -> Site | None:
        if operation["op"] == "split":
            column = schema.column_index(operation["table"], operation["column"])
            return next((site for site in split_sites(schema, facts) if site.column == column), None)
        finder = merge_sites if operation["op"] == "merge" else relation_sites
        wanted = operation["child"], operation["parent"]
        return next(
            (s for s in finder(schema, facts) if ends(schema, schema.foreign_keys[s.key]) == wanted), None
        )

    return choose


def ends(schema: Schema, key: ForeignKey) -> tuple[str, str]:
    """The names of the tables of a key."""
    return (
        schema.tables[schema.columns[key.columns[0]].table].name,
        schema.tables[schema.columns[key.references[0]].table].name,
    )


def table_names(theirs: Schema, ours: Schema) -> dict[str, str]:
    """By CSS's table the one of ours with the most columns in common, each once; parts by the value in their labels."""
    left = list(range(len(ours.tables)))
    found = {}
    for number, table in enumerate(theirs.tables):
        if not left:
            break
        value = table.label.partition("(")[2].rstrip(")")
        best = max(
            left,
            key=lambda other: (
                *_likeness(theirs, number, ours, other),
                bool(value) and value in ours.tables[other].label,
            ),
        )
        left.remove(best)
        found[fold(table.name)] = ours.tables[best].name
    return found


def _likeness(one: Schema, number: int, other: Schema, place: int) -> tuple[float]:
    columns = [
        {fold(s.columns[c].name) for c in s.tables[n].columns} for s, n in ((one, number), (other, place))
    ]
    return (len(columns[0] & columns[1]) / len(columns[0] | columns[1]),)


def compared(theirs: Schema, ours: Schema) -> dict[str, int]:
    """What both schemas have, under the names of ours."""
    names = table_names(theirs, ours)
    sides = [described(theirs, names), described(ours, {})]
    found = {}
    for key, (one, other) in zip(HEADS[:4], zip(*sides, strict=True), strict=True):
        found |= {key: len(one), f"{key} equal": len(one & other), f"{key} more": len(other - one)}
    return found


def described(schema: Schema, names: Mapping[str, str]) -> tuple[set[object], ...]:
    """Tables by their columns, columns, columns of primary keys, and pairs of columns that foreign keys equate."""

    def column(index: int) -> tuple[str, str]:
        table = schema.tables[schema.columns[index].table].name
        return fold(names.get(fold(table), table)), fold(schema.columns[index].name)

    tables: set[object] = {frozenset(map(column, table.columns)) for table in schema.tables}
    columns: set[object] = {column(index) for index in range(len(schema.columns))}
    keys: set[object] = {column(index) for table in schema.tables for index in table.primary_key}
    references: set[object] = {
        (column(one), column(other))
        for key in schema.foreign_keys
        for one, other in zip(key.columns, key.references, strict=True)
    }
    return tables, columns, keys, references


def literals(before: str, after: str) -> dict[str, str]:
    """What literals of a query became, by their text; one that became several things is left out."""
    both = [
        [node for node in parse_query(sql).walk() if isinstance(node, exp.Literal)] for sql in (before, after)
    ]
    found: dict[str, set[str]] = {}
    for one, other in zip(*both, strict=True):
        found.setdefault(one.name, set()).add(other.sql("sqlite"))
    return {text: next(iter(values)) for text, values in found.items() if len(values) == 1}


def with_literals(sql: str, mapping: Mapping[str, str]) -> str:
    """A query with other literals."""
    tree = parse_query(sql)
    for node in list(tree.find_all(exp.Literal)):
        if node.name in mapping:
            node.replace(exp.maybe_parse(mapping[node.name], dialect="sqlite"))
    return write(tree, "sqlite")


def renamed(sql: str, names: Mapping[str, str]) -> str:
    """A query of CSS's with our names of tables."""
    tree = parse_query(sql)
    for node in tree.find_all(exp.Table, exp.Column):
        key = "this" if isinstance(node, exp.Table) else "table"
        old = node.args.get(key)
        if isinstance(old, exp.Identifier) and fold(old.name) in names:
            node.set(key, exp.to_identifier(names[fold(old.name)], quoted=True))
    return write(tree, "sqlite")


def agree(executor: Executor, ours: str, theirs: str) -> tuple[bool, bool]:
    """Whether two queries give the same rows, and whether they do but for repetitions."""
    try:
        one, other = executor.run(ours).rows, executor.run(theirs).rows
    except FastSQLError:
        return False, False
    return Counter(one) == Counter(other), set(one) == set(other)


if __name__ == "__main__":
    sys.exit(main())
