"""Do the CUDA core and the C++ core give the same answers?

    python benchmarks/gpu/check.py                        2,000 questions of all sets in FASTSQL_DATA
    python benchmarks/gpu/check.py --questions 200 --set demo --json check.json

Each question goes from token ids to action sequences in both, on the GPU in batches of questions to one schema. Sequences
are compared as `benchmarks/parity.py` does; attention on the GPU is bfloat16, so scores may differ by 1e-2 (of the score, or
of 1). Where two decisions, or the hypotheses of each rank, are that near each other, either may win: it is "tied". It is
"tied earlier" where hypotheses of the two ends of the search were that near after one of its steps: the beam may have kept
either. "different" is none of these. "best" counts the questions whose best hypothesis is the same. A part of them is parsed
alone, too: "alone" counts those whose sequences and scores are the same to the bit as in their batch.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import accumulate, groupby, islice
from pathlib import Path
from typing import Any

from fastsql.decode import Hypothesis, Search
from fastsql.limits import DEFAULT, Limits
from fastsql.linking.lexicon import Lexicon
from fastsql.model import open_bundle
from fastsql.parser.bundles import find_bundle
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import show
from gpu.device import Report, card
from gpu.engines import Asked, Cores, Encoded, search_of
from parity import Tally, compare, questions_of
from record import measured

TOLERANCE = 1e-2
"""Of scores, as far as issue and documentation promise them."""
EVERY = 16
"""Of so many questions, one is parsed alone, too."""
COUNTS = (
    "questions",
    "same",
    "tied",
    "tied earlier",
    "different",
    "failed",
    "best",
    "alone",
    "asked alone",
    "hypotheses",
    "decisions",
)


def batches(
    cores: Cores, asked: Sequence[tuple[str, str, Schema]], size: int
) -> Iterator[tuple[str, Encoded, list[Asked]]]:
    """(set, schema, linked questions): at most `size` to one schema at a time."""
    lexicon = Lexicon.from_settings(cores.bundle.config.settings)
    for (name, _), group in groupby(asked, key=lambda item: (item[0], item[2].fingerprint)):
        items = list(group)
        encoded = cores.encode(lexicon.apply(items[0][2]))
        texts = iter([question for _, question, _ in items])
        while taken := list(islice(texts, size)):
            yield name, encoded, [cores.ask(question, encoded) for question in taken]


class Comparison:
    """Counts by data set."""

    def __init__(self, cores: Cores, beam: int) -> None:
        self._cores = cores
        self._beam = beam
        self.tallies: dict[str, Tally] = {}
        self.more: dict[str, Counter[str]] = {}
        self.failures: Counter[str] = Counter()
        self.differing: list[dict[str, Any]] = []

    def add(self, name: str, encoded: Encoded, asked: Sequence[Asked], pool: ThreadPoolExecutor) -> None:
        """Parse a batch with both cores."""
        tally, more = self.tallies.setdefault(name, Tally()), self.more.setdefault(name, Counter())
        wanted = self._cores.on_cpu(encoded, asked, self._beam, pool)
        found = self._cores.on_cuda(encoded, asked, self._beam)
        for ours, theirs in zip(found, wanted, strict=True):
            if isinstance(ours, Exception):
                more["failed"] += 1
                self.failures[f"{type(ours).__name__}: {ours}"] += 1
                tally.questions += 1
                continue
            mine, reference = search_of(ours), search_of(theirs)
            outcome = compare(mine, reference, TOLERANCE)
            if outcome.different and outcome.largest <= TOLERANCE:
                if near_by_rank(mine, reference):
                    outcome.different, outcome.tied = 0, 1
                elif near_earlier(mine, reference):
                    outcome.different = 0
                    more["tied earlier"] += 1
            tally.add(outcome)
            more["best"] += mine.finished[0].actions == reference.finished[0].actions
            if outcome.different:
                numbers = {"number": tally.questions - 1, "largest": outcome.largest}
                scores = {
                    "cuda": [h.score for h in mine.finished],
                    "cpu": [h.score for h in reference.finished],
                }
                self.differing.append({"set": name, **numbers, **scores})
        for number in range(0, len(asked), EVERY):
            (alone,) = self._cores.on_cuda(encoded, [asked[number]], self._beam)
            more["asked alone"] += 1
            more["alone"] += _same_bits(alone, found[number])

    def rows(self) -> dict[str, dict[str, float]]:
        """Counts of every set, and of all."""
        total, more = Tally(), Counter[str]()
        for tally in self.tallies.values():
            total.add(tally)
        for counts in self.more.values():
            more.update(counts)
        every = {name: (tally, self.more[name]) for name, tally in self.tallies.items()} | {
            "all": (total, more)
        }
        return {
            name: {**dict.fromkeys(COUNTS, 0), **asdict(tally), **counts}
            for name, (tally, counts) in every.items()
        }


def near(score: float, other: float) -> bool:
    """Whether two scores are the same as far as is promised."""
    return abs(score - other) <= TOLERANCE * max(1.0, abs(other))


def near_by_rank(ours: Search, theirs: Search) -> bool:
    """Whether hypotheses of the same rank have the same scores, and there are as many."""
    pairs = zip(ours.finished, theirs.finished, strict=False)
    return len(ours.finished) == len(theirs.finished) and all(near(a.score, b.score) for a, b in pairs)


def near_earlier(ours: Search, theirs: Search) -> bool:
    """Whether our first hypothesis that they lack was as likely, after some step, as one of theirs that we lack."""
    known = [{hypothesis.actions for hypothesis in search.finished} for search in (ours, theirs)]
    mine = next((hypothesis for hypothesis in ours.finished if hypothesis.actions not in known[1]), None)
    lacking = [hypothesis for hypothesis in theirs.finished if hypothesis.actions not in known[0]]
    return mine is not None and any(_meet(mine, other) for other in lacking)


def _meet(one: Hypothesis, other: Hypothesis) -> bool:
    parted = False
    sums = zip(accumulate(one.log_probabilities), accumulate(other.log_probabilities), strict=False)
    for (action, other_action), (score, other_score) in zip(
        zip(one.actions, other.actions, strict=False), sums, strict=False
    ):
        parted = parted or action != other_action
        if parted and near(score, other_score):
            return True
    return False


def _same_bits(one: Any, other: Any) -> bool:
    if isinstance(one, Exception) or isinstance(other, Exception):
        return type(one) is type(other)
    return search_of(one) == search_of(other)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write JSON where asked. Returns 1 if a question differs, failed, or depends on its batch."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="ehr-en", help="a bundled model or a bundle's folder")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    parser.add_argument("--set", nargs="+", help="names of data sets; all that are found")
    parser.add_argument("--questions", type=int, default=2000, metavar="N")
    parser.add_argument("--actions", type=int, default=DEFAULT.actions, help="decisions of a query at most")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=90.0, help="after which no further batch is begun")
    parser.add_argument("--simulated", action="store_true", help="the GPU is")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    end = time.monotonic() + options.seconds
    asked = list(questions_of(options.data, options.set, options.questions))
    if not asked:
        print(f"no questions in {options.data}/*; set FASTSQL_DATA or give --data", file=sys.stderr)
        return 2
    cores = Cores(open_bundle(find_bundle(options.model)), 1, Limits(actions=options.actions))
    comparison = Comparison(cores, options.beam)
    report = Report(
        options.json,
        measured(__file__, arguments),
        card=card(options.simulated),
        model=cores.bundle.config.name,
    )
    report.add(beam=options.beam, batch=options.batch, tolerance=TOLERANCE, asked=len(asked))
    with ThreadPoolExecutor() as pool:
        for name, encoded, batch in batches(cores, asked, options.batch):
            comparison.add(name, encoded, batch, pool)
            rows = comparison.rows()
            report.add(sets=rows, failures=dict(comparison.failures), differing=comparison.differing)
            if time.monotonic() > end:
                break
    shown = {name: {**row, "largest": f"{row['largest']:.1e}"} for name, row in rows.items()}
    show("CUDA against the C++ core", shown, [*COUNTS, "largest"], 0)
    total = rows["all"]
    if total["questions"] < len(asked):
        print(f"{len(asked) - int(total['questions'])} more were not asked: no time was left")
    for message, count in comparison.failures.most_common(5):
        print(f"{count} failed: {message}")
    for differing in comparison.differing[:5]:
        print(f"different: {json.dumps(differing)}")
    return int(total["different"] > 0 or total["failed"] > 0 or total["alone"] < total["asked alone"])


if __name__ == "__main__":
    sys.exit(main())
