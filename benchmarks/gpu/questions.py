"""Questions for the benchmarks of the GPU: those of data sets, or synthetic ones to the demo hospital, which need no data.

python benchmarks/gpu/questions.py --folder build/gpu/data       writes the synthetic ones in the form of a data set
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from fastsql.datasets import read_examples, read_schemas
from fastsql.linking.question import clean_question, has_words
from fastsql.schema import Schema
from fastsql.synthesis.generate import generate
from fastsql.synthesis.hospital import DATABASE, Hospital
from fastsql.synthesis.write import write_pairs

sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import spread

HOSPITALS = (("ehrsql2024", "valid.json"), ("demo", "valid.json"))
"""(set, file) with one schema, the first that is there; the second is what `write_demo` makes."""


class NoQuestionsError(RuntimeError):
    """A folder has no questions to one hospital."""


def write_demo(folder: Path, count: int) -> Path:
    """A data folder of synthetic questions, `demo/valid.json` beside its `schemas.json`. Some 25 ms a question."""
    inner = folder / "demo"
    inner.mkdir(parents=True, exist_ok=True)
    with Hospital() as source:
        pairs = generate(source, count, report=str)
    schema = {**source.schema.to_dict(), "db_id": DATABASE}
    (inner / "schemas.json").write_text(json.dumps([schema]), encoding="utf-8")
    write_pairs(pairs, inner / "valid.json")
    return folder


def hospital(data: Path, count: int) -> tuple[Schema, Sequence[str]]:
    """A schema and at most `count` different questions to it, evenly spread. Raises NoQuestionsError."""
    for name, file in HOSPITALS:
        if (data / name / file).is_file():
            examples = read_examples(data / name / file)
            schema = read_schemas(data / name / "schemas.json")[examples[0].db_id]
            texts = dict.fromkeys(clean_question(example.question) for example in examples)
            return schema, spread([text for text in texts if has_words(text)], count)
    wanted = " or ".join(f"{name}/{file}" for name, file in HOSPITALS)
    raise NoQuestionsError(f"{data} has no {wanted}: set FASTSQL_DATA or give --data")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a data folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=600, metavar="N")
    options = parser.parse_args(arguments)
    print(f"{options.questions} synthetic questions in {write_demo(options.folder, options.questions)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
