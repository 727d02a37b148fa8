"""Are the reverse model's questions what people ask, and does it tell a question's program from others?

    python benchmarks/reverse_model.py --json reverse_model.json
    python benchmarks/reverse_model.py --model run/weights.safetensors --limit 100 --show 40

FASTSQL_DATA names the folder of the data sets; Spider's dev questions are asked, whose databases no training saw. Needs
the package sacrebleu (pip install sacrebleu). Of the likeliest question that a beam finds, and of one chosen among eight
drawn ones by the geometric median:

BLEU         SacreBLEU, each question of the set against what was made of its query
several      the same with all questions of a query as its references
similarity   the mean cosine of sentence embeddings (the bundled encoder's)

Then how often a question is likelier with its own program than with each of seven others of its database. Times are of the
processor.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from fastsql.cli.console import Console
from fastsql.datasets import read_examples, read_schemas
from fastsql.grammar import ConversionError, sql_to_program
from fastsql.grammar.program import Program
from fastsql.parser.bundles import DEFAULT_MODEL, open_model
from fastsql.reverse import SchemaReverse, bundled_reverse, load_reverse
from fastsql.synthesis.choice import nearest_to_median
from fastsql.synthesis.embedding import SentenceEncoder

sys.path.insert(0, str(Path(__file__).parent))
from record import save

OTHERS = 7
"""Programs of the same database that a question's own is compared with."""
DRAWN = 8
COLUMNS = ("way", "BLEU", "several", "similarity", "ms a query")
Key = tuple[str, Program]


@dataclass(frozen=True)
class Asked:
    """A question of the set, and what it asks for."""

    question: str
    sql: str
    key: Key


def main(arguments: Sequence[str] | None = None) -> int:
    """Print tables; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, default=bundled_reverse())
    parser.add_argument("--style", default="spider")
    parser.add_argument("--beam", type=int, default=8)
    parser.add_argument("--limit", type=int, help="so many questions, spread over the set")
    parser.add_argument(
        "--show", type=int, default=0, help="questions to print, with queries and the set's own"
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    data = Path(os.environ["FASTSQL_DATA"]) / "spider"
    bundle = open_model(DEFAULT_MODEL)
    model = load_reverse(options.model, bundle.tokenizer())
    schemas = read_schemas(data / "schemas.json")
    asked = read_asked(data, options.limit)
    over = {name: model.over(schemas[name]) for name in {one.key[0] for one in asked}}
    embed = SentenceEncoder(bundle.path).embed

    def drawn(reverse: SchemaReverse, program: Program) -> str:
        (found,) = reverse.questions([program], DRAWN, style=options.style)
        return found[nearest_to_median(embed(found), 1)[0]]

    ways = {
        "beam": lambda reverse, program: reverse.best([program], beam=options.beam, style=options.style)[0],
        "median of eight": drawn,
    }
    rows, made = [], {}
    for way, write in ways.items():
        made, milliseconds = {}, []
        for one in asked:
            if one.key not in made:
                start = time.process_time()
                made[one.key] = write(over[one.key[0]], one.key[1])
                milliseconds.append(1000 * (time.process_time() - start))
        if way == "beam":
            likeliest = made
        texts = [made[one.key] for one in asked]
        cosine = (embed([one.question for one in asked]) * embed(texts)).sum(axis=1).mean()
        rows.append((way, *bleu(asked, made), float(cosine), median(milliseconds)))
    first, each = own_program_first(asked, over, options.style)
    console = Console(out=sys.stdout)
    console.table(COLUMNS, [[row[0], *(f"{cell:.3f}" for cell in row[1:])] for row in rows])
    console.line(
        f"{100 * first:.1f} % of {len(asked)} questions are likeliest with their own program; {each:.1f} ms a program"
    )
    for one in random.Random(1).sample(asked, min(options.show, len(asked))):
        console.line(f"{one.sql}\n    {likeliest[one.key]}\n    {one.question}")
    figures = {
        "questions": len(asked),
        "rows": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
        "own_program_first": first,
        "ms_log_probability": each,
    }
    save(options.json, figures, __file__, arguments)
    return 0


def read_asked(data: Path, limit: int | None) -> list[Asked]:
    """The questions of the set whose query the grammar has."""
    examples = read_examples(data / "dev.json")
    schemas = read_schemas(data / "schemas.json", databases={example.db_id for example in examples})
    if limit:
        examples = examples[:: max(1, len(examples) // limit)][:limit]
    asked = []
    for example in examples:
        try:
            program = sql_to_program(str(example.sql), schemas[example.db_id])
        except ConversionError:
            continue
        asked.append(Asked(example.question, str(example.sql), (example.db_id, program)))
    return asked


def bleu(asked: Sequence[Asked], made: dict[Key, str]) -> tuple[float, float]:
    """SacreBLEU with one reference for each question, and with all questions of a query for its one."""
    sacrebleu = importlib.import_module("sacrebleu")
    single = sacrebleu.corpus_bleu([made[one.key] for one in asked], [[one.question for one in asked]]).score
    references: defaultdict[Key, list[str]] = defaultdict(list)
    for one in asked:
        references[one.key].append(one.question)
    most = max(map(len, references.values()))
    columns = [
        [several[min(number, len(several) - 1)] for several in references.values()] for number in range(most)
    ]
    return float(single), float(sacrebleu.corpus_bleu([made[key] for key in references], columns).score)


def own_program_first(
    asked: Sequence[Asked], over: dict[str, SchemaReverse], style: str
) -> tuple[float, float]:
    """The share of questions that are likelier with their own program than with others, and milliseconds a program, which is
    judged among eight of one question.
    """
    programs: defaultdict[str, dict[Program, None]] = defaultdict(dict)
    for one in asked:
        programs[one.key[0]][one.key[1]] = None
    rng, first, seconds, judged = random.Random(1), 0, 0.0, 0
    for one in asked:
        db_id, own = one.key
        others = [program for program in programs[db_id] if program != own]
        compared = [own, *rng.sample(others, min(OTHERS, len(others)))]
        start = time.process_time()
        scores = over[db_id].log_probability([one.question] * len(compared), compared, style=style)
        seconds += time.process_time() - start
        judged += len(compared)
        first += int(scores.argmax() == 0)
    return first / len(asked), 1000 * seconds / judged


if __name__ == "__main__":
    sys.exit(main())
