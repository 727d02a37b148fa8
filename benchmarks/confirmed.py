"""How many questions are answered rightly once their asker may say "yes"?

    python benchmarks/confirmed.py held/pairs.json.gz --schemas held/schemas.json --databases held/databases
    python benchmarks/confirmed.py ... --split-ids configs/ehr-en.held_out.json:databases

Each question begins a conversation. Where it is refused with what was probably meant, in words, "yes" is the next turn, or
"the first", "the second", "the third" where the refusal tells several readings; what is then answered is compared with what
gold's query returns. The asker here confirms what is right and nothing else, so the figures are an upper bound: people may
confirm what they misread.

In percent of the questions that have an answer:

given, right     answered at once, as gold does
given, wrong     answered at once, otherwise
"yes"            refused, and the one reading that was told is right
one of several   refused, and one of the readings that were told is right
none right       refused with readings of which none is right: what an asker has to turn down
no reading       refused without any
right in all     answered rightly at once, or once the right reading was confirmed
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import fastsql
from fastsql.cli.console import Console
from fastsql.parser import Parser
from fastsql.refusal.suggestions import BestGuess, SeveralReadings

sys.path.insert(0, str(Path(__file__).parent))
from asking import Question, add_data_set, questions
from record import save

PLACES = ("the first", "the second", "the third")
GIVEN, WRONG = "given, right", "given, wrong"
YES, SEVERAL, NONE, SILENT = '"yes"', "one of several", "none right", "no reading"


def outcome(parser: Parser, asked: Question) -> str:
    """What becomes of a question, at once or after one word more."""
    first = parser.parse(asked.example.question, asked.schema, history=[], values=asked.database)
    if first.sql is not None:
        return GIVEN if asked.answer(first.sql) == asked.gold else WRONG
    told = next((one for one in first.suggestions if isinstance(one, BestGuess | SeveralReadings)), None)
    if told is None:
        return SILENT
    for said in ("yes",) if isinstance(told, BestGuess) else PLACES[: len(told.descriptions)]:
        then = parser.parse(said, asked.schema, history=[first], values=asked.database)
        if asked.answer(then.sql) == asked.gold:
            return YES if isinstance(told, BestGuess) else SEVERAL
    return NONE


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_set(parser)
    parser.add_argument("--model", default="ehr-en", help="a model's name, or a bundle's folder")
    parser.add_argument("--json", type=Path, help="write figures here")
    options = parser.parse_args(arguments)
    console = Console(out=sys.stdout)
    model = fastsql.load(options.model)
    found = Counter(outcome(model, asked) for asked in questions(options, console))
    total = found.total()
    shares = {name: 100 * found[name] / total for name in (GIVEN, WRONG, YES, SEVERAL, NONE, SILENT)}
    shares["right in all"] = shares[GIVEN] + shares[YES] + shares[SEVERAL]
    console.table(["", "%"], [[name, f"{share:.1f}"] for name, share in shares.items()])
    if options.json:
        save(options.json, {"questions": total, "shares": shares}, __file__, arguments)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
