"""Collects the query templates that come with the package from the training parts of public data sets.

    FASTSQL_DATA=... python scripts/collect_templates.py

Writes python/fastsql/synthesis/schema/templates.json.gz. Databases that training holds out give none. A template is kept
if it was found more than once. Beside them stand those of `template_forms.sql`, which clinics ask and such sets lack.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fastsql.cli.console import Console
from fastsql.datasets import Example, read_examples, read_schemas
from fastsql.schema import Schema
from fastsql.synthesis.schema import library

FORMS = Path(__file__).with_name("template_forms.sql")
FORM_WEIGHT = 25
"""How often a form is taken to have been found."""
ROOT = Path(__file__).resolve().parent.parent
SETS = ("spider", "bird", "archer", "sciencebenchmark", "cosql")
LEAST = 2
"""How often a template was found at least; most of those found once are too odd to be asked of another schema."""


def main() -> int:
    """Write the file, and say how many templates it holds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    options = parser.parse_args()
    held_out = set(json.loads((ROOT / "configs" / "ehr-en.held_out.json").read_text())["databases"])
    pairs = [pair for name in SETS for pair in read_set(options.data / name, held_out)]
    templates, left_out = library.read_seeds(Console().track(pairs, "reading", len(pairs)))
    kept = merge([one for one in templates if one.count >= LEAST], library.read_seeds(read_forms())[0])
    content = library.write_templates(kept)
    (Path(library.__file__).parent / library.FILE).write_bytes(content)
    sys.stdout.write(
        f"{len(pairs)} queries, {len(left_out)} without a template, {len(templates)} templates, {len(kept)} kept, "
        f"{len(content)} bytes\n"
    )
    return 0


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


def read_set(folder: Path, held_out: set[str]) -> Iterator[tuple[Example, Schema]]:
    """The examples of a set's training part, but for those of databases that are held out."""
    schemas = read_schemas(folder / "schemas.json")
    for example in read_examples(folder / "train.json"):
        if example.sql and example.runs and example.db_id not in held_out:
            yield example, schemas[example.db_id]


if __name__ == "__main__":
    raise SystemExit(main())
