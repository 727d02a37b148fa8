"""Are values found that a question says almost: misspelled, in the plural, in another order, in part?

    python benchmarks/near_matches.py --database mimic_iv.sqlite --json near_matches.json

FASTSQL_DATA names the folder of the data sets; `--database` is what the values of ehrsql2024's schema are read from. The
literals of gold queries of the valid split that a question says are spoilt, each way with a seed of its own, and put back:

typo       one letter in five or more is dropped, doubled, swapped with the next or replaced; the first stays
plural     an s at the end of the last word
order      the first word goes to the end
dropped    one of three words or more is left out
punctuated blanks become hyphens, or a hyphen or comma becomes a blank

Counted are literals of columns that are known whole and whose values do not stand with the schema. linked: the gold value is
a candidate of linking; first: it is the nearest at its place; top 1, top 5: of `ValueDictionary.nearest`, given the spoilt
literal alone; rapidfuzz: the best of all values of the column by `fuzz.ratio`, of folded text. Last, the candidates of the
questions as they are, with and without near matches.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fastsql import backends
from fastsql.datasets import Example, read_examples, read_schemas, with_known_values
from fastsql.linking import Candidate, ValueDictionary, explain_literal, find_candidates, gold_literals
from fastsql.linking.folding import keys
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parent))
from figures import show
from record import machine, save

WAYS = ("typo", "plural", "order", "dropped", "punctuated")
Spoilt = tuple[str, str, str, int]
"""Question, literal as it stands there, gold value, its column."""


def spoil(text: str, way: str, seed: int) -> str:
    """The text spoilt one way; as it is where that way does not apply."""
    chance, words = random.Random(f"{way} {seed} {text}"), text.split()
    if way == "typo":
        place = chance.choice([n for n, word in enumerate(words) if len(word) == max(map(len, words))])
        word = words[place]
        if len(word) < 5 or not word.isalpha():
            return text
        at = chance.randrange(1, len(word) - 1)
        words[place] = chance.choice(
            (
                word[:at] + word[at + 1 :],
                word[:at] + word[at] + word[at:],
                word[:at] + word[at + 1] + word[at] + word[at + 2 :],
                word[:at] + chance.choice("aeionrst") + word[at + 1 :],
            )
        )
    elif way == "plural" and words[-1].isalpha() and len(words[-1]) > 3:
        words[-1] += "s"
    elif way == "order" and len(words) > 1:
        words = [*words[1:], words[0]]
    elif way == "dropped" and len(words) > 2:
        del words[chance.randrange(len(words))]
    elif way == "punctuated":
        return text.replace(" ", "-", 1) if " " in text else text.replace("-", " ", 1)
    return " ".join(words)


def spoilt(
    examples: Sequence[Example], way: str, schema: Schema, dictionary: ValueDictionary
) -> Iterator[Spoilt]:
    """The literals of gold queries that can be spoilt one way, each with its question."""
    for seed, example in enumerate(examples):
        for literal in gold_literals(example.sql, schema) if example.sql else ():
            value, column = literal.value, literal.column
            if not isinstance(value, str) or column is None or column not in dictionary.whole:
                continue
            place = example.question.lower().find(value.lower())
            if (
                schema.columns[column].values
                or len(value) < 5
                or place < 0
                or column not in dictionary.holding(value)
            ):
                continue
            said = example.question[place : place + len(value)]
            other = spoil(said, way, seed)
            if other != said:
                yield (
                    example.question[:place] + other + example.question[place + len(said) :],
                    other,
                    value,
                    column,
                )


def measure(cases: Sequence[Spoilt], schema: Schema, dictionary: ValueDictionary) -> dict[str, Any]:
    """Shares in percent."""
    core = backends.native()
    counts = dict.fromkeys(("linked", "first", "top 1", "top 5", "rapidfuzz"), 0)
    for question, said, value, column in cases:
        found = find_candidates(question, schema, dictionary, core=core)
        gold = [one for one in found if one.value == value]
        counts["linked"] += bool(gold)
        counts["first"] += any(one.distance <= _least(found, one) for one in gold)
        near = [one.value for one in dictionary.nearest(said, column)]
        counts["top 1"] += near[:1] == [value]
        counts["top 5"] += value in near
        counts["rapidfuzz"] += _by_rapidfuzz(said, column, dictionary) == value
    return {"cases": len(cases)} | {
        name: round(100 * n / max(1, len(cases)), 1) for name, n in counts.items()
    }


def _least(found: Sequence[Candidate], of: Candidate) -> float:
    return min(one.distance for one in found if one.span == of.span)


_texts: dict[int, tuple[list[str], list[str]]] = {}


def _by_rapidfuzz(said: str, column: int, dictionary: ValueDictionary) -> str | None:
    try:
        from rapidfuzz import fuzz, process
    except ImportError:
        return None
    if column not in _texts:
        held = [value for value, columns in dictionary._index.items() if column in columns]
        _texts[column] = held, [" ".join(keys(value)) for value in held]
    held, folded = _texts[column]
    best = process.extractOne(" ".join(keys(said)), folded, scorer=fuzz.ratio)
    return held[best[2]] if best else None


def recall(
    examples: Sequence[Example], schema: Schema, dictionary: ValueDictionary, *, near: bool
) -> dict[str, Any]:
    """Gold literals that can be had, and candidates of a question, with near matches and without."""
    core, literals, had, candidates = backends.native(), 0, 0, 0
    for example in examples:
        found = find_candidates(example.question, schema, dictionary, core=core)
        found = tuple(one for one in found if near or not one.distance)
        candidates += len(found)
        for literal in gold_literals(example.sql, schema) if example.sql else ():
            literals += 1
            had += (
                explain_literal(literal.value, example.question, found, schema, literal.column, dictionary)
                is not None
            )
    return {
        "questions": len(examples),
        "literals": literals,
        "had": round(100 * had / max(1, literals), 2),
        "candidates a question": round(candidates / max(1, len(examples)), 3),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print tables; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    parser.add_argument(
        "--database", type=Path, required=True, help="an SQLite database of ehrsql2024's schema"
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take one question in N")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    folder = options.data / "ehrsql2024"
    if not (folder / "valid.json").is_file():
        print(f"{options.data} has no ehrsql2024: set FASTSQL_DATA, or give --data", file=sys.stderr)
        return 2
    examples = list(read_examples(folder / "valid.json"))[:: options.every]
    plain = next(iter(read_schemas(folder / "schemas.json").values()))
    schema, read = with_known_values(plain, options.database, None)
    assert read is not None
    with tempfile.TemporaryDirectory() as place:
        # Of a dictionary of this size, only a file brings the grams that a question asks for.
        read.save(Path(place) / "values")
        dictionary = ValueDictionary.load(Path(place) / "values", schema)
    print(machine())
    report: dict[str, Any] = {"values": len(dictionary), "ways": {}}
    for way in WAYS:
        cases = list(spoilt(examples, way, schema, dictionary))
        report["ways"][way] = measure(cases, schema, dictionary)
    columns = ["cases", "linked", "first", "top 1", "top 5", "rapidfuzz"]
    show("gold values found for spoilt literals, percent", report["ways"], columns, digits=1)
    report["recall"] = {
        name: recall(examples, schema, dictionary, near=near)
        for name, near in (("exact", False), ("with near", True))
    }
    show("as the questions are", report["recall"], list(report["recall"]["exact"]), digits=3)
    save(options.json, report, __file__, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
