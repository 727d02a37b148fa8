"""Collects the query templates that come with the package from the training parts of public data sets.

    FASTSQL_DATA=... python scripts/collect_templates.py

Writes python/fastsql/synthesis/schema/templates.json.gz. What training holds out gives none. A template is kept if it was
found more than once, and if a question is found for it over one of TRIALS schemas. Beside them stand those of
`template_forms.sql`, which clinics ask and such sets lack. It takes some four minutes of one processor.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fastsql.cli.console import Console
from fastsql.datasets import Example, read_examples, read_schemas, read_split_ids
from fastsql.schema import Schema
from fastsql.synthesis.pool import SchemaPool
from fastsql.synthesis.schema import SchemaSource, library
from fastsql.training.config import load_config

FORMS = Path(__file__).with_name("template_forms.sql")
FORM_WEIGHT = 25
"""How often a form is taken to have been found."""
CONFIGS = Path(__file__).resolve().parent.parent / "configs"
LEAST = 2
"""How often a template was found at least; most of those found once are too odd to be asked of another schema."""
MOST = 2000
"""As how many queries a set of one kind counts: of one hospital, of single tables, of machine-made turns or in Chinese."""
TRIALS = 80
"""Schemas over which templates are tried, designs and Spider's."""


@dataclass(frozen=True)
class Part:
    """A training part: a file of a set, the training configuration that says what is held out of it, and `most`."""

    file: str
    configuration: str = "ehr-en"
    most: float = MOST
    ids: str = ""
    reported: str = ""
    """Lists of ids of those that are taken, and of those whose questions are not."""

    @property
    def name(self) -> str:
        """The folder of the set."""
        return self.file.partition("/")[0]


PARTS = (
    Part("spider/train.json", most=float("inf")),
    Part("cosql/train.json", most=float("inf")),
    Part("bird/train.json", most=float("inf")),
    Part("qda_sql/train.json.gz"),
    Part("wikisql_partial/train.json.gz"),
    Part("ehrsql2024/train.json"),
    Part("ehrsql_v1/dev.json"),
    Part("mimicsql/dev.json"),
    Part("chase/train.json", "css-zh"),
    Part(
        "css/examples.json.gz",
        "css-zh",
        ids="css/splits.json:database.train",
        reported="css/splits.json:template.dev",
    ),
)
"""Sets whose licence lets weights be passed on; neither Archer nor ScienceBenchmark states one."""


def main() -> int:
    """Write the file, and say how many templates it holds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    options = parser.parse_args()
    found = collect(options.data)
    sayable = try_out(found, options.data)
    kept = merge(sayable, library.read_seeds(read_forms())[0])
    content = library.write_templates(kept)
    (Path(library.__file__).parent / library.FILE).write_bytes(content)
    sys.stdout.write(
        f"{len(found)} templates found {LEAST} times or more, {len(sayable)} of them with a question, "
        f"{len(kept)} kept, {len(content)} bytes\n"
    )
    return 0


def collect(data: Path) -> list[library.Weighted]:
    """The templates of all parts that were found LEAST times, those of a part that is larger than `most` scaled down."""
    counts: dict[library.Template, float] = {}
    levels: dict[library.Template, str] = {}
    for part in PARTS:
        pairs = list(read_part(data, part))
        found, left_out = library.read_seeds(Console().track(pairs, part.name, len(pairs)))
        sys.stdout.write(
            f"{part.name}: {len(pairs)} queries, {len(left_out)} without a template, {len(found)} templates\n"
        )
        for one in found:
            counts[one.template] = counts.get(one.template, 0) + one.count * min(1, part.most / len(pairs))
            levels.setdefault(one.template, one.level)
    return [
        library.Weighted(template, levels[template], round(count))
        for template, count in counts.items()
        if round(count) >= LEAST
    ]


def try_out(templates: Sequence[library.Weighted], data: Path) -> list[library.Weighted]:
    """Those of which a query that makes sense is drawn, and a question found for it, over any of TRIALS schemas."""
    able: set[library.Template] = set()
    held_out, _ = read_held_out("ehr-en")
    with SchemaPool(TRIALS, folder=data, kinds=("designs", "spider"), held_out=held_out) as pool:
        for one in Console().track(pool.schemas, "trying", TRIALS):
            with pool.open(one) as executor:
                source = SchemaSource(one.schema, executor, templates, profile=one.profile)
                able |= {
                    each.template
                    for each in templates
                    if each.template not in able
                    and source.makes_sense_of(each.template, f"{one.db_id}/{each.template.dump()}")
                }
    return [one for one in templates if one.template in able]


def read_forms() -> list[tuple[Example, Schema]]:
    """The queries of `template_forms.sql`, over the tables that it begins with. Each has a template."""
    ddl, *queries = FORMS.read_text(encoding="utf-8").split("-- queries\n")
    schema = Schema.from_ddl(ddl)
    lines = [line for line in "".join(queries).splitlines() if line and not line.startswith("--")]
    pairs = [(Example(str(number), "forms", "", line), schema) for number, line in enumerate(lines)]
    _, left_out = library.read_seeds(pairs)
    if left_out:
        raise SystemExit(f"{FORMS.name}: no template for queries {left_out}")
    return pairs


def merge(
    found: Sequence[library.Weighted], forms: Sequence[library.Weighted]
) -> tuple[library.Weighted, ...]:
    """Templates with those of forms, which count at least FORM_WEIGHT times; the most frequent first."""
    by_template = {one.template: one for one in found}
    for one in forms:
        known = by_template.get(one.template, one)
        by_template[one.template] = replace(known, count=max(known.count, FORM_WEIGHT))
    ordered = sorted(by_template.values(), key=lambda one: (-one.count, json.dumps(one.template.dump())))
    return tuple(ordered)


def read_held_out(configuration: str) -> tuple[set[str], set[tuple[str, str]]]:
    """The databases, and the single pairs by database and id, that a training configuration does not learn from."""
    data = load_config(CONFIGS / f"{configuration}.toml").data
    listed = json.loads(Path(data.held_out).read_text(encoding="utf-8"))
    databases = {*listed["databases"], *data.without}
    return databases, {(db_id, name) for part in ("templates", "examples") for db_id, name in listed[part]}


def read_part(data: Path, part: Part) -> Iterator[tuple[Example, Schema]]:
    """The examples of a training part that have SQL which runs, but for those that are held out or reported on."""
    databases, pairs = read_held_out(part.configuration)
    path = data / part.file
    schemas = read_schemas(path.with_name("schemas.json"))
    reported = set()
    if part.reported:
        listed = read_examples(path, ids=read_split_ids(f"{data}/{part.reported}"))
        reported = {one.question for one in listed}
    for one in read_examples(path, ids=read_split_ids(f"{data}/{part.ids}") if part.ids else None):
        left_out = one.db_id in databases or (one.db_id, one.id) in pairs or one.question in reported
        if one.sql and one.runs and not left_out:
            yield one, schemas[one.db_id]


if __name__ == "__main__":
    raise SystemExit(main())
