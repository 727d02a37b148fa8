"""Do the native core and the reference give the same answers?

    python benchmarks/parity.py                           2,000 questions of all sets in FASTSQL_DATA
    python benchmarks/parity.py --questions 200 --set spider --beam 1 --json parity.json

Each question goes through linking, encoder, graph and beam search of both engines. Compared are the action sequences of all
finished hypotheses, in their order, and their log-probabilities. Where two actions or hypotheses are as likely as each other
to within rounding, as tables are whose Chinese names an English model cannot read, either may win: it is "tied".
The reference's encoder is NumPy's, or ONNX Runtime's with `--encoder onnxruntime`.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from fastsql.cli.console import Console
from fastsql.datasets import read_examples, read_schemas
from fastsql.decode import Search
from fastsql.engine import Engine
from fastsql.engine.native import NativeEngine
from fastsql.engine.reference import ReferenceEngine
from fastsql.errors import FastSQLError
from fastsql.grammar import ActionSpace
from fastsql.linking.lexicon import Lexicon
from fastsql.linking.question import clean_question, has_words
from fastsql.model import open_bundle
from fastsql.parser.bundles import find_bundle
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parent))
from record import save

FILES = ("train.json", "train.json.gz", "dev.json", "examples.json.gz", "valid.json")
TOLERANCE = 1e-4
"""What scores may differ by, relative to the score or to 1, whichever is larger."""
LARGEST = 400
"""Columns of a schema at most: the reference takes seconds for larger ones."""


@dataclass
class Tally:
    """What was compared over one data set."""

    questions: int = 0
    same: int = 0
    tied: int = 0
    different: int = 0
    hypotheses: int = 0
    decisions: int = 0
    largest: float = 0.0
    """Of the differences between scores."""

    def add(self, other: Tally) -> None:
        """Counts the other's questions, too."""
        for name, value in asdict(other).items():
            setattr(
                self, name, max(self.largest, value) if name == "largest" else getattr(self, name) + value
            )


def compare(native: Search, reference: Search, tolerance: float = TOLERANCE) -> Tally:
    """One question's outcome, where scores may differ by so much."""
    tally = Tally(1, hypotheses=len(reference.finished))
    tally.decisions = sum(len(h.actions) for h in reference.finished)
    scores = {h.actions: h.score for h in native.finished}
    for hypothesis in reference.finished:
        if hypothesis.actions in scores:
            difference = abs(scores[hypothesis.actions] - hypothesis.score) / max(1.0, abs(hypothesis.score))
            tally.largest = max(tally.largest, difference)
    ours, theirs = ([h.actions for h in search.finished] for search in (native, reference))
    if ours == theirs and tally.largest <= tolerance:
        tally.same = 1
    elif tally.largest <= tolerance and _tied(native, reference, tolerance):
        tally.tied = 1
    else:
        tally.different = 1
    return tally


def _tied(native: Search, reference: Search, tolerance: float) -> bool:
    """Whether the first pair of hypotheses that are not the same part at decisions of one probability, or have one score."""
    for ours, theirs in zip(native.finished, reference.finished, strict=False):
        if ours.actions == theirs.actions:
            continue
        gains = zip(
            ours.actions, theirs.actions, ours.log_probabilities, theirs.log_probabilities, strict=False
        )
        parting = next((abs(p - q) for a, b, p, q in gains if a != b), math.inf)
        return min(parting, abs(ours.score - theirs.score)) <= tolerance
    return False


def questions_of(data: Path, names: Sequence[str] | None, count: int) -> Iterator[tuple[str, str, Schema]]:
    """(set, question, schema): about `count` in all, spread over the sets and over each set's examples."""
    found = []
    for file in sorted(data.glob("*/schemas.json")):
        folder = file.parent
        path = next((folder / name for name in FILES if (folder / name).is_file()), None)
        if path is None or (names and folder.name not in names):
            continue
        schemas = read_schemas(file)
        usable = [
            (example.db_id, clean_question(example.question))
            for example in read_examples(path)
            if len(schemas[example.db_id].columns) <= LARGEST and has_words(clean_question(example.question))
        ]
        if usable:
            found.append((folder.name, schemas, usable))
    for number, (name, schemas, usable) in enumerate(found):
        wanted = min(count // len(found) + (number < count % len(found)), len(usable))
        for db_id, question in sorted(usable[i * len(usable) // wanted] for i in range(wanted)):
            yield name, question, schemas[db_id]


def search(engine: Engine, question: str, schema: Schema, known: dict[str, object], beam: int) -> Search:
    """One engine's hypotheses; `known` keeps the last schema's encoding."""
    if schema.fingerprint not in known:
        known.clear()
        known[schema.fingerprint] = engine.encode_schema(schema)
    encoded = known[schema.fingerprint]
    prepared = engine.link(question, encoded, None)
    space = ActionSpace.for_question(schema, question, prepared.offsets, prepared.candidates)
    return engine.decode(prepared, encoded, space, beam).search


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked. Returns 1 if any question differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="ehr-en", help="a bundled model or a bundle's folder")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    parser.add_argument("--set", nargs="+", help="names of data sets; all that are found")
    parser.add_argument("--questions", type=int, default=2000, metavar="N")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1, help="of both engines")
    parser.add_argument("--encoder", choices=("numpy", "onnxruntime"), default="numpy")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    bundle = open_bundle(find_bundle(options.model))
    lexicon = Lexicon.from_settings(bundle.config.settings)
    native = NativeEngine(bundle, options.threads)
    encoder = {"numpy": "numpy", "onnxruntime": "onnx"}[options.encoder]
    reference = ReferenceEngine(bundle.model(encoder, options.threads))
    asked = list(questions_of(options.data, options.set, options.questions))
    if not asked:
        print(f"no questions in {options.data}/*; set FASTSQL_DATA or give --data", file=sys.stderr)
        return 1
    console = Console()
    kept: tuple[dict[str, object], dict[str, object]] = ({}, {})
    tallies: dict[str, Tally] = {}
    for name, question, plain in console.track(asked, "comparing", len(asked)):
        schema = lexicon.apply(plain)
        ours, theirs = (
            search(engine, question, schema, known, options.beam)
            for engine, known in zip((native, reference), kept, strict=True)
        )
        tallies.setdefault(name, Tally()).add(compare(ours, theirs))
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    reports = {name: asdict(tally) for name, tally in {**tallies, "all": total}.items()}
    rows = [
        [name, *(f"{v:.1e}" if isinstance(v, float) else v for v in report.values())]
        for name, report in reports.items()
    ]
    console.table(["set", *asdict(total)], rows)
    content = {"model": bundle.config.name, "beam": options.beam, "encoder": options.encoder}
    save(options.json, {**content, "tolerance": TOLERANCE, "sets": reports}, __file__, arguments)
    return int(total.different > 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FastSQLError as failure:
        sys.exit(f"parity: {failure}")
