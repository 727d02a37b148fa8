"""CSS's table anew: three splits by two encoders, each with and without role prediction (Zhang et al., 2023, section 6).

    python benchmarks/css_cells.py --start css-start --into FOLDER --lanes 2 --json css_cells.json

Each cell is a model of its own, trained on its split's train alone from START, a bundle that knows nothing of CSS
(configs/css-start.toml), by as many updates as every other, and asked its split's dev. For the database split, variants of
the two original databases are learnt from, too, none of them of the form of a database that is not in train. What is done
lies in FOLDER, a folder a cell, and the same command goes on from there; runs that were stopped are resumed.

exact match   without and with values (docs/evaluation.md), in percent, of queries as the model writes them
right         by results, on two small databases made for each question
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from css_variants import write_variants
from fastsql.cli.console import Console, note
from fastsql.datasets import read_examples, read_schemas
from record import save

ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "configs" / "css-cells.toml"
SPLITS = ("example", "template", "database")
GRAPHS = ("rat", "lge")
ROLES = 16.0
"""Weight of role prediction, whose loss is a mean over tokens and 16 parts: so a token counts as much as a decision, as
where both are sums (section 5.2)."""
PAPER = {
    "example": {"rat": (90.2, 81.1), "lge": (91.7, 82.2)},
    "template": {"rat": (60.5, 55.2), "lge": (59.5, 54.4)},
    "database": {"rat": (36.6, 35.7), "rat+srp": (38.3, 37.4)},
}
"""Exact match without and with values on the paper's dev sets (Tables 3, 5 and 6); its database split is another."""


@dataclass(frozen=True)
class Cell:
    """A model of the table."""

    split: str
    graph: str
    roles: bool
    seed: int

    @property
    def column(self) -> str:
        """What the paper calls it."""
        return f"{self.graph}+srp" if self.roles else self.graph

    @property
    def name(self) -> str:
        """Its folder."""
        return f"{self.split}-{self.column}-{self.seed}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and evaluate what is not done yet, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--start", type=Path, required=True, help="folder of the bundle that cells begin from"
    )
    parser.add_argument("--into", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--splits", nargs="+", choices=SPLITS, default=list(SPLITS))
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, default=list(GRAPHS))
    parser.add_argument("--roles", nargs="+", choices=("no", "yes"), default=["no", "yes"])
    parser.add_argument(
        "--role-weight",
        type=float,
        default=ROLES,
        help="of role prediction; 16 counts a token as much as a decision (default: %(default)g)",
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[7])
    parser.add_argument(
        "--updates", type=int, default=1000, help="of each cell's weights (default: %(default)s)"
    )
    parser.add_argument("--lanes", type=int, default=1, help="cells at a time, each on one core")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    cells = [
        Cell(split, graph, roles == "yes", seed)
        for split in options.splits
        for seed in options.seeds
        for roles in options.roles
        for graph in options.graphs
    ]
    options.into.mkdir(parents=True, exist_ok=True)
    if any(cell.split == "database" for cell in cells):
        extended(options.into)
    with ThreadPoolExecutor(options.lanes) as lanes:
        done = list(lanes.map(lambda cell: figures(cell, options), cells))
    found = dict(zip((cell.name for cell in cells), done, strict=True))
    Console(out=sys.stdout).table(
        ("cell", "questions", "exact match", "with values", "right", "minutes"),
        [
            (name, one["n"], one["em"], one["em_values"], one["ex"], one["minutes"])
            for name, one in found.items()
        ],
    )
    told = {"updates": options.updates, "role_weight": options.role_weight, "cells": found, "paper": PAPER}
    save(options.json, told, __file__, arguments)
    return 0


def extended(into: Path) -> Path:
    """The folder of the variants, which are made where they are not there."""
    folder, css = into / "extended", css_folder()
    if not (folder / "pairs.json").exists():
        schemas = read_schemas(css / "schemas.json")
        parents = {
            entry["db_id"]: entry.get("parent")
            for entry in json.loads((css / "schemas.json").read_text("utf-8"))
        }
        train = set(json.loads((css / "splits.json").read_text("utf-8"))["database"]["train"])
        examples = [one for one in read_examples(css / "examples.json.gz") if one.id in train]
        learnt = {one.db_id for one in examples}
        originals = [schemas[name] for name in sorted(schemas) if parents[name] is None]
        write_variants(folder, originals, examples, [schemas[name] for name in schemas if name not in learnt])
    return folder


def figures(cell: Cell, options: argparse.Namespace) -> dict[str, Any]:
    """Of a cell, which is trained and asked where that is not done."""
    folder = options.into / cell.name
    report, config = folder / "report.json", folder / "config.toml"
    text = config_of(cell, options)
    if config.exists() and config.read_text(encoding="utf-8") != text:
        raise SystemExit(
            f"{config}: this cell was begun otherwise. Give its --start, --updates and --role-weight, or another --into."
        )
    if not report.exists():
        folder.mkdir(exist_ok=True)
        config.write_text(text, encoding="utf-8")
        run = folder / "run"
        resumed = ["--resume"] if (run / "last.pt").exists() else []
        note(f"{cell.name}: training")
        fastsql(
            folder,
            "train",
            str(config),
            "--output",
            str(run),
            "--cache",
            str(options.into / "cache"),
            "--warm-start",
            str(options.start),
            "--threads",
            "1",
            "--no-bundle",
            *resumed,
        )
        fastsql(folder, "export", str(run / "last.pt"), "--output", str(folder / "bundle"))
        css = css_folder()
        note(f"{cell.name}: asking")
        fastsql(
            folder,
            "eval",
            str(css / "examples.json.gz"),
            "--schemas",
            str(css / "schemas.json"),
            "--split-ids",
            f"{css / 'splits.json'}:{cell.split}.dev",
            "--made",
            "2",
            "--jobs",
            "1",
            "--model",
            str(folder / "bundle"),
            "--as-written",
            "--json",
            str(report),
        )
    told = json.loads(report.read_text(encoding="utf-8"))
    kept = {name: told[name] for name in ("n", "em", "em_values", "ex")}
    return {**kept, "minutes": minutes(folder), "intervals": told["details"]["intervals"]}


def config_of(cell: Cell, options: argparse.Namespace) -> str:
    """The cell's configuration, as `fastsql train` takes it."""
    text = CONFIG.read_text(encoding="utf-8")
    if cell.split != "database":
        text = re.sub(r"# Schema extension.*?(?=\[model\])", "", text, flags=re.DOTALL)
    for pattern, value in (
        (r"SPLIT(?=\.train)", cell.split),
        (r"EXTENDED(?=/)", str((options.into / "extended").resolve())),
        (r'(?<=encoder = ")css-start', str(options.start.resolve())),
        (r"(?m)^seed = \d+", f"seed = {cell.seed}"),
        (r"(?m)^updates = \d+", f"updates = {options.updates}"),
    ):
        text = re.sub(pattern, lambda _, value=value: value, text)
    text = text.replace("[model]\n", f'[model]\ngraph = "{cell.graph}"\n')
    return text + (f"\n[objectives]\nroles = {options.role_weight}\n" if cell.roles else "")


def minutes(folder: Path) -> float | None:
    """What the run took, as its curve says."""
    metrics = folder / "run" / "metrics.jsonl"
    lines = metrics.read_text(encoding="utf-8").splitlines() if metrics.exists() else []
    return round(float(json.loads(lines[-1])["minutes"]), 1) if lines else None


def fastsql(folder: Path, *command: str) -> None:
    """A command on one core; what it says goes to the cell's log."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS")}
    with (folder / "log.txt").open("a", encoding="utf-8") as log:
        subprocess.run(
            [sys.executable, "-m", "fastsql", *command],
            env=os.environ | threads,
            stdout=log,
            stderr=log,
            check=True,
        )


def css_folder() -> Path:
    """Where CSS lies."""
    return Path(os.environ["FASTSQL_DATA"]) / "css"


if __name__ == "__main__":
    sys.exit(main())
