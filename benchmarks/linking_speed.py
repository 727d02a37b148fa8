"""What does it cost to link a question: by part, in Python and natively, and with a dictionary of a million values?

    python benchmarks/linking_speed.py                            questions of ehrsql2024 valid and beaver dev
    python benchmarks/linking_speed.py --database mimic_iv.sqlite --json linking_speed.json

FASTSQL_DATA names the folder of the data sets; `--database` is what the values of ehrsql2024's schema are read from. Every
question is linked three times by each, one after the other, and its fastest counts: what is compared is the work. The large
dictionary has `--values` values of one to six words, most of them words of the questions, so that many begin alike, and
knows its columns whole. It is saved, and opened by a fresh process, which links `--questions` questions twice: at first, it
reads the file. Its resident memory counts the pages of the file that it has read, which the system can take back.

Times are of the processor, so that what else runs on the machine counts little.

link: the link stage of a parse, near matches and the literals that exist included; match: values that are said exactly.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from fastsql import backends
from fastsql.datasets import read_examples, read_schemas, with_known_values
from fastsql.linking import ValueDictionary, find_candidates
from fastsql.linking.candidates import schema_value_index
from fastsql.linking.dates import find_dates
from fastsql.linking.folding import fold
from fastsql.linking.grounds import find_grounds
from fastsql.linking.numbers import find_numbers
from fastsql.linking.prepare import prepare
from fastsql.linking.relations import SchemaLinks
from fastsql.model import open_bundle
from fastsql.model.tokenizer import Tokenizer
from fastsql.parser import BUNDLED, DEFAULT_MODEL
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parent))
from figures import SPREAD, Figures, percentiles, show, spread
from record import machine, save

SETS = {"ehrsql2024": "valid.json", "beaver": "dev.json"}
OPENING = """
import json, sys, time
from pathlib import Path
from fastsql import backends
from fastsql.linking import ValueDictionary
from fastsql.linking.grounds import find_grounds
from fastsql.linking.prepare import prepare
from fastsql.linking.relations import SchemaLinks
from fastsql.model import open_bundle
from fastsql.parser import BUNDLED, DEFAULT_MODEL
from fastsql.schema import Schema

path, schema, questions, native = json.loads(sys.stdin.read())
schema, core = Schema.from_dict(schema), backends.native() if native else None
def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))
links, tokenizer = SchemaLinks(schema, core=core), open_bundle(BUNDLED / DEFAULT_MODEL).tokenizer()
prepare(questions[0], links, tokenizer)
before, start = resident(), time.perf_counter()
dictionary = ValueDictionary.load(path, schema)
opened = time.perf_counter()
def match(question):
    dictionary.match(question, core)
def link(question):
    find_grounds(prepare(question, links, tokenizer, dictionary=dictionary), dictionary, core)
runs = {}
for name, work in (("match", match), ("link", link)):
    for turn in ("first", "again"):
        times = runs[f"{name}, {turn}"] = []
        for question in questions:
            begin = time.thread_time()
            work(question)
            times.append(1000 * (time.thread_time() - begin))
print(json.dumps([1000 * (opened - start), before, resident(), runs]))
"""

Linker = Callable[[str], object]


def fastest(questions: Sequence[str], linkers: dict[str, Linker]) -> dict[str, Figures]:
    """Milliseconds of the processor a question of each, taken in turn."""
    times: dict[str, list[float]] = {name: [] for name in linkers}
    for question in questions:
        runs: dict[str, list[float]] = {name: [] for name in linkers}
        for _ in range(3):
            for name, linker in linkers.items():
                start = time.thread_time()
                linker(question)
                runs[name].append(1000 * (time.thread_time() - start))
        for name, found in runs.items():
            times[name].append(min(found))
    return {name: percentiles(found) for name, found in times.items()}


def parts(
    schema: Schema, dictionary: ValueDictionary | None, tokenizer: Tokenizer, core: ModuleType | None
) -> dict[str, Linker]:
    """The link stage and what it is made of."""
    links = SchemaLinks(schema, core=core)
    ready: dict[str, Any] = {}

    def relations(question: str) -> object:
        if question not in ready:
            ready[question] = prepare(question, links, tokenizer, dictionary=dictionary)
        prepared = ready[question]
        return links.relations(question, prepared.offsets, prepared.candidates)

    way = "native" if core else "python"

    def link(question: str) -> object:
        return find_grounds(prepare(question, links, tokenizer, dictionary=dictionary), dictionary, core)

    found: dict[str, Linker] = {
        f"{way}: link": link,
        f"{way}: without literals that exist": lambda question: prepare(
            question, links, tokenizer, dictionary=dictionary
        ),
        f"{way}: relations": relations,
        f"{way}: candidates": lambda question: find_candidates(question, schema, dictionary, core=core),
        f"{way}: schema values": lambda question: schema_value_index(schema).match(question, core),
    }
    if dictionary is not None:
        found[f"{way}: dictionary"] = lambda question: dictionary.match(question, core)
    return found


def saved(dictionary: ValueDictionary | None, schema: Schema) -> ValueDictionary | None:
    """The dictionary as its file brings it, with its index by letters."""
    if dictionary is None:
        return None
    with tempfile.TemporaryDirectory() as place:
        dictionary.save(Path(place) / "values.fsv")
        return ValueDictionary.load(Path(place) / "values.fsv", schema)


def measure(name: str, folder: Path, database: Path | None, count: int) -> dict[str, Any]:
    """Milliseconds by part, over one set's widest schema."""
    examples = list(read_examples(folder / SETS[name]))
    schemas = read_schemas(folder / "schemas.json")
    widest = max({one.db_id for one in examples}, key=lambda db_id: len(schemas[db_id].columns))
    schema, read = with_known_values(schemas[widest], database, None)
    dictionary = saved(read, schema)
    questions = spread([one.question for one in examples if one.db_id == widest], count)
    tokenizer = open_bundle(BUNDLED / DEFAULT_MODEL).tokenizer()
    linkers: dict[str, Linker] = {
        "tokens": tokenizer.tokenize,
        "dates": lambda question: find_dates(fold(question)),
        "numbers": lambda question: find_numbers(fold(question)),
    }
    core = backends.native()
    for module in (None, core) if core else (None,):
        linkers |= parts(schema, dictionary, tokenizer, module)
    return {
        "set": name,
        "columns": len(schema.columns),
        "values": len(dictionary) if dictionary else 0,
        "questions": len(questions),
        "ms": fastest(questions, linkers),
    }


def many_values(questions: Sequence[str], count: int) -> list[str]:
    """Distinct values of one to six words, six tenths of them words of questions."""
    said = sorted({word for question in questions for word in question.lower().replace("?", " ").split()})
    chance = random.Random(0)
    letters = "abcdefghijklmnop"
    found: set[str] = set()
    while len(found) < count:
        words = [
            chance.choice(said) if chance.random() < 0.6 else "".join(chance.choices(letters, k=6))
            for _ in range(chance.choice((1, 2, 2, 3, 3, 4, 5, 6)))
        ]
        found.add(" ".join(words))
    return sorted(found)


def large_dictionary(folder: Path, count: int, asked: int) -> dict[str, Any]:
    """Seconds to build and save, bytes of the file, and what fresh processes need to open and use it."""
    every = [one.question for one in read_examples(folder / SETS["ehrsql2024"])]
    schema = next(iter(read_schemas(folder / "schemas.json").values()))
    values = many_values(every, count)
    start = time.perf_counter()
    dictionary = ValueDictionary(
        {value: (number % 4,) for number, value in enumerate(values)}, schema, whole=range(4)
    )
    built = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "values.fsv"
        dictionary.save(path)
        saved = time.perf_counter()
        report: dict[str, Any] = {
            "values": len(dictionary),
            "text_mb": sum(len(value.encode()) for value in values) / 1e6,
            "file_mb": path.stat().st_size / 1e6,
            "build_s": built - start,
            "save_s": saved - built,
        }
        opening = partial(opened, path, schema, spread(every, asked))
        report["python"] = opening(native=False)
        if backends.native():
            report["native"] = opening(native=True)
    return report


def opened(path: Path, schema: Schema, questions: Sequence[str], *, native: bool) -> dict[str, Any]:
    """What a fresh process needs."""
    request = json.dumps([str(path), schema.to_dict(), list(questions), native])
    done = subprocess.run(
        [sys.executable, "-c", OPENING], input=request, capture_output=True, text=True, check=True
    )
    open_ms, before, after, runs = json.loads(done.stdout)
    times = {name: percentiles(found) for name, found in runs.items()}
    return {"open_ms": open_ms, "before_mib": before, "after_mib": after, "ms": times}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print tables; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    parser.add_argument("--database", type=Path, help="an SQLite database of ehrsql2024's schema")
    parser.add_argument("--questions", type=int, default=100, metavar="N")
    parser.add_argument("--values", type=int, default=1_000_000, metavar="N", help="0 leaves this part out")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    names = [name for name, file in SETS.items() if (options.data / name / file).is_file()]
    if "ehrsql2024" not in names:
        print(f"{options.data} has no ehrsql2024: set FASTSQL_DATA, or give --data", file=sys.stderr)
        return 2
    print(machine())
    report: dict[str, Any] = {"sets": []}
    for name in names:
        database = options.database if name == "ehrsql2024" else None
        found = measure(name, options.data / name, database, options.questions)
        report["sets"].append(found)
        title = (
            f"{name}: milliseconds; {found['columns']:,} columns, {found['values']:,} values in a dictionary"
        )
        show(title, found["ms"], SPREAD, digits=3)
    if options.values:
        large = large_dictionary(options.data / "ehrsql2024", options.values, options.questions)
        report["large"] = large
        sizes = {name: figure for name, figure in large.items() if not isinstance(figure, dict)}
        show("a large dictionary", {name: {"figure": figure} for name, figure in sizes.items()}, ["figure"])
        ways = [way for way in ("python", "native") if way in large]
        columns = ["open_ms", "before_mib", "after_mib"]
        show("opened by a fresh process", {way: large[way] for way in ways}, columns)
        rows = {f"{way}: {name}": found for way in ways for name, found in large[way]["ms"].items()}
        show("milliseconds a question, the first time and again", rows, SPREAD, digits=3)
    save(options.json, report, __file__, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
