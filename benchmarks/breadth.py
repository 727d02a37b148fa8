"""What synthetic pairs bring to schemas never seen, and whether more schemas beat more pairs of each.

    python benchmarks/breadth.py --output runs/breadth              5,000 pairs over 10, 100 and 1,000 schemas, and none
    python benchmarks/breadth.py --output runs/breadth --epochs 4   longer

Each run starts from the bundled model and sees as many examples: of Spider's train databases alone, or half of them of these
and half pairs over so many schemas (`fastsql corpus`). Judged are Spider's databases that training holds out whole, and
Riverside (`benchmarks/riverside`). FASTSQL_DATA names the folder of the data sets. What is done is not done again, so it can
be stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastsql.cli.console import Console
from fastsql.datasets import read_examples
from fastsql.training.corpus.split import HeldOut

sys.path.insert(0, str(Path(__file__).parent))
from record import ROOT, save
from riverside.make import make

HELD_OUT = ROOT / "configs" / "ehr-en.held_out.json"
CONFIG = """\
name = "breadth"
seed = {seed}

[data]
held_out = "{held_out}"

[[data.sources]]
examples = "${{FASTSQL_DATA}}/spider/train.json"
schemas = "${{FASTSQL_DATA}}/spider/schemas.json"
database = "${{FASTSQL_DATA}}/spider/databases/train_databases.tar.xz"
weight = {weight}
lexicon = false
report = ["${{FASTSQL_DATA}}/spider/dev.json", "${{FASTSQL_DATA}}/spider_variants/dev.json"]
{pairs}
[model]
frozen_layers = 4

[optim]
batch_size = 16
accumulate = 2
rate = 8e-4
ema = 0.997

[schedule]
epochs = {epochs}
dev_minutes = 1e6

[augment]
no_dictionary = 0.15
drop_candidate = 0.05
schema = 0.5
labels = 0.5
no_domains = 0.1
"""
PAIRS = """
[[data.sources]]
examples = "{folder}/pairs.json.gz"
schemas = "{folder}/schemas.json"
values = "{folder}/values.json.gz"
weight = {weight}
lexicon = false
carve = false
dev = false
"""


@dataclass(frozen=True)
class Judged:
    """A set of questions that `fastsql eval` judges."""

    name: str
    arguments: tuple[str, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and judge what is missing in the folder; print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True, help="folder of corpora and runs")
    parser.add_argument("--schemas", default="0,10,100,1000", help="numbers of schemas, 0 for no pairs")
    parser.add_argument("--pairs", type=int, default=5000, help="pairs of each corpus")
    parser.add_argument(
        "--epochs", type=float, default=1.0, help="an epoch shows as many as Spider's train has"
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path, help="write figures here")
    options = parser.parse_args(arguments)
    output = options.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    judged = _judged(output)
    rows: list[dict[str, Any]] = [{"schemas": "as bundled", **_scores("ehr-en", output / "bundled", judged)}]
    for number in map(int, options.schemas.split(",")):
        folder = output / f"schemas-{number}"
        _train(folder, number, options)
        rows.append({"schemas": number, **_scores(str(folder / "bundle"), folder, judged)})
    Console().table(list(rows[0]), [list(row.values()) for row in rows])
    if options.json:
        save(options.json, {"breadth": rows, "epochs": options.epochs, "pairs": options.pairs})
    return 0


def _judged(output: Path) -> list[Judged]:
    spider = Path(os.environ["FASTSQL_DATA"]) / "spider"
    hospital = output / "riverside"
    if not (hospital / "schemas.json").exists():
        make(hospital)
    questions = Path(__file__).parent / "riverside" / "questions.json"
    return [
        Judged(
            "held-out databases",
            (
                *(str(spider / "train.json"), "--schemas", str(spider / "schemas.json")),
                *("--databases", str(spider / "databases" / "train_databases.tar.xz")),
                *("--split-ids", f"{HELD_OUT}:databases"),
            ),
        ),
        Judged(
            "Riverside",
            (
                *(str(questions), "--schemas", str(hospital / "schemas.json")),
                *("--databases", str(hospital / "riverside.sqlite"), "--now", "2024-12-31 12:00:00"),
            ),
        ),
    ]


def _train(folder: Path, schemas: int, options: argparse.Namespace) -> None:
    if (folder / "bundle").exists():
        return
    pairs, weight = "", 1.0
    if schemas:
        corpus = folder.with_name(f"pairs-{schemas}")
        if not (corpus / "pairs.json.gz").exists():
            _fastsql(
                *("corpus", "--schemas", schemas, "--pairs", options.pairs, "--seed", options.seed),
                *("--held-out", HELD_OUT, "-o", corpus),
            )
        weight = 0.5
        shown = weight * _spider_examples() / len(read_examples(corpus / "pairs.json.gz"))
        pairs = PAIRS.format(folder=corpus, weight=shown)
    config = folder.with_suffix(".toml")
    config.write_text(
        CONFIG.format(
            seed=options.seed, held_out=HELD_OUT, weight=weight, pairs=pairs, epochs=options.epochs
        ),
        encoding="utf-8",
    )
    started = ["--resume"] if (folder / "last.pt").exists() else ["--warm-start", "ehr-en"]
    _fastsql("train", config, "--output", folder, "--threads", options.threads, *started)


def _spider_examples() -> int:
    """Those of Spider's train part that no database holds out."""
    held = HeldOut.load(HELD_OUT).databases
    examples = read_examples(Path(os.environ["FASTSQL_DATA"]) / "spider" / "train.json")
    return sum(example.db_id not in held for example in examples)


def _scores(model: str, folder: Path, judged: Sequence[Judged]) -> dict[str, float]:
    folder.mkdir(exist_ok=True)
    scores = {}
    for one in judged:
        report = folder / f"{one.name.split()[0].lower()}.json"
        if not report.exists():
            _fastsql("eval", *one.arguments, "--model", model, "--json", report)
        found = json.loads(report.read_text(encoding="utf-8"))
        scores[f"{one.name}, EX %"] = found["ex"]
    return scores


def _fastsql(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "fastsql", *map(str, arguments)], check=True)


if __name__ == "__main__":
    sys.exit(main())
