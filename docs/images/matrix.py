"""The picture of the relation matrix."""

from __future__ import annotations

from itertools import groupby

from parses import QUESTION, Parse
from svg import CHARACTER, box, path, picture, text, turned

from fastsql.linking.relations import RELATIONS

_MARKED_RELATIONS = {
    "token-table-name": ("N", "lilac", "words are the name of the table"),
    "token-column-name": ("N", "lilac", "words are the name of the column"),
    "token-table-part": ("p", "sky", "words are part of the name of the table"),
    "token-column-part": ("p", "sky", "words are part of the name of the column"),
    "token-column-value": ("V", "mint", "words are a value of the column"),
    "token-in-candidate": ("c", "mint", "token within a candidate"),
    "token-beside-candidate": ("b", "panel", "token beside a candidate"),
    "candidate-column-value": ("V", "mint", "the column holds the candidate"),
    "candidate-column-type": ("t", "panel", "the candidate fits the column's type"),
    "candidate-table-value": ("v", "mint", "the table holds the candidate"),
    "column-references": ("K", "peach", "foreign key"),
    "table-references": ("K", "peach", "foreign key"),
    "column-same-name": ("=", "sand", "columns of the same name"),
    "token-before-1": ("1", "panel", "the token before"),
    "token-before-2": ("2", "panel", "the token before that"),
    "table-own-key": ("P", "peach", "a primary key of the table"),
    "table-own-column": ("o", "panel", "a column of the table"),
    "column-same-table": (" ", "panel", "columns of the same table"),
}
"""Letter, colour and meaning of the relations that the matrix shows, from row to column; inverses are left blank."""
_CELL = 15.0


def relations(parse: Parse) -> str:
    """The relation matrix over the question's tokens, its candidates, and the tables of the query with their columns."""
    names, nodes = _nodes(parse)
    left, top = 10 + max(map(len, names)) * 11 * CHARACTER, 16 + max(map(len, names)) * 11 * CHARACTER * 0.78
    shapes: list[str] = []
    used: dict[str, None] = {}
    for row, (name, node) in enumerate(zip(names, nodes, strict=True)):
        y = top + row * _CELL
        shapes.append(text(left - 5, y + 11, name, size=11, anchor="end"))
        shapes.append(turned(left + row * _CELL + 11, top - 5, name, angle=-52))
        cells = [RELATIONS[parse.prepared.relations[node, other]] for other in nodes]
        for relation, run in groupby(range(len(cells)), key=cells.__getitem__):
            columns = list(run)
            if relation not in _MARKED_RELATIONS:
                continue
            letter, colour, _ = _MARKED_RELATIONS[relation]
            used[relation] = None
            shapes.append(box(left + columns[0] * _CELL, y, len(columns) * _CELL, _CELL, colour))
            if letter.strip():
                xs = (left + (column + 0.5) * _CELL for column in columns)
                shapes += [text(x, y + 11, letter, size=10, anchor="middle") for x in xs]
    size = len(names) * _CELL
    grid = "".join(
        f"M{left + k * _CELL:g} {top:g}v{size:g}M{left:g} {top + k * _CELL:g}h{size:g}"
        for k in range(len(names) + 1)
    )
    shapes.append(path(grid, "line", width=0.5))
    x = left + size + 24
    meanings = dict.fromkeys(_MARKED_RELATIONS[one] for one in _MARKED_RELATIONS if one in used)
    for number, (letter, colour, meaning) in enumerate(meanings):
        y = top + number * 22
        shapes += [
            box(x, y, _CELL, _CELL, colour, edge="line"),
            text(x + 7.5, y + 11, letter, size=10, anchor="middle"),
        ]
        shapes.append(text(x + 24, y + 12, meaning, "faint", size=11))
    return picture(
        x + 300,
        top + size + 14,
        "Relations between tokens, candidates, tables and columns",
        f"A part of the relation matrix: {len(names)} of {len(parse.prepared.relations)} nodes. A letter in a cell is the "
        "relation of the row's node to the column's; an empty cell is its inverse or one of the unremarkable ones.",
        shapes,
    )


def _nodes(parse: Parse) -> tuple[list[str], list[int]]:
    """Names and indices of the matrix's nodes that are shown: of the schema, the tables of the query and their columns."""
    schema, prepared = parse.links.schema, parse.prepared
    chosen = {reason.target for reason in parse.result.explain().reasons if reason.kind == "table"}
    names = [QUESTION[start:end] for start, end in prepared.offsets]
    names += [f"{candidate.value!r}" for candidate in prepared.candidates]
    nodes = list(range(len(names)))
    base = len(nodes)
    tables = [number for number, table in enumerate(schema.tables) if table.name in chosen]
    columns = [column for table in tables for column in schema.tables[table].columns]
    names += [schema.tables[table].name for table in tables]
    names += [schema.qualified_name(column) for column in columns]
    nodes += [base + table for table in tables]
    nodes += [base + len(schema.tables) + column for column in columns]
    return names, nodes
