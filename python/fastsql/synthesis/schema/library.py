"""The templates that come with the package, and those of a user's own queries."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from fastsql.datasets import Example
from fastsql.evaluation.hardness import hardness
from fastsql.grammar import ConversionError, render, sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.schema.templates import Template, TemplateError, read_template
from fastsql.verification.parse import parse_query

FILE = "templates.json.gz"


@dataclass(frozen=True)
class Weighted:
    """A template, how hard its queries are (`evaluation/hardness.py`), and how often it was found."""

    template: Template
    level: str
    count: int


@lru_cache(maxsize=1)
def known_templates() -> tuple[Weighted, ...]:
    """Templates of what people ask of databases of all kinds, the most frequent first."""
    content = json.loads(gzip.decompress((files(__package__) / FILE).read_bytes()))
    return tuple(Weighted(Template.load(template), level, count) for template, level, count in content)


def write_templates(templates: Sequence[Weighted]) -> bytes:
    """The content of the file of `known_templates`; the same templates give the same bytes."""
    rows = [[one.template.dump(), one.level, one.count] for one in templates]
    return gzip.compress(json.dumps(rows, separators=(",", ":")).encode(), mtime=0)


def read_seeds(pairs: Iterable[tuple[Example, Schema]]) -> tuple[tuple[Weighted, ...], dict[str, str]]:
    """The templates of gold queries, the most frequent first, and by id of example why others have none."""
    counts: Counter[Template] = Counter()
    levels: dict[Template, str] = {}
    left_out: dict[str, str] = {}
    for example, schema in pairs:
        if example.sql is None:
            continue
        try:
            program = sql_to_program(example.sql, schema)
            template = read_template(program, schema)
        except (ConversionError, TemplateError) as error:
            left_out[example.id] = str(error)
            continue
        counts[template] += 1
        if template not in levels:
            levels[template] = hardness(parse_query(render(program, schema)))
    # Those that occur equally often in one order, wherever they were found.
    ordered = sorted(counts, key=lambda template: (-counts[template], json.dumps(template.dump())))
    return tuple(Weighted(template, levels[template], counts[template]) for template in ordered), left_out
