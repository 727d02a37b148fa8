#!/usr/bin/env python3
"""Write the English words by which names of tables and columns are cut, the more common ones first.

    python scripts/english_words.py TOKENIZER DATA > python/fastsql/profile/english.txt

TOKENIZER is a bundle's tokenizer.json, whose vocabulary (BERT's, Apache-2.0) is in order of frequency. DATA is a folder
of data sets (docs/data.md), of which words of training questions are counted. Words are placed by the better of their
two ranks.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

TRAINING = ("spider", "bird", "ehrsql2024")
KEPT = 12_000
"""Words of the list: behind them come mostly names of people and places."""
SHORTEST = 3
MET = 8
"""Times that training questions must have a word which the vocabulary lacks, or which has three letters."""
COMMON = 3_500
"""Rank in the vocabulary up to which words of three letters are taken: others are rather pieces of words."""
LINE = 110


def main() -> None:
    """Write the list to the standard output."""
    tokenizer, data = Path(sys.argv[1]), Path(sys.argv[2])
    vocabulary: dict[str, int] = json.loads(tokenizer.read_text(encoding="utf-8"))["model"]["vocab"]
    whole = [word for word in sorted(vocabulary, key=vocabulary.__getitem__) if _is_word(word)]
    ranks = {word: rank for rank, word in enumerate(whole) if len(word) > SHORTEST or rank < COMMON}
    counts = Counter(word for name in TRAINING for word in _asked(data / name / "train.json"))
    asked = [word for word, count in counts.most_common() if count >= MET and _is_word(word)]
    asked = [word for word in asked if word in vocabulary or not _is_joined(word, vocabulary)]
    for rank, word in enumerate(asked):
        ranks[word] = min(ranks.get(word, rank if word in vocabulary else 2 * rank), 2 * rank)
    ordered = sorted(ranks, key=lambda word: (ranks[word], word))[:KEPT]
    line = ""
    for word in ordered:
        if len(line) + len(word) >= LINE:
            sys.stdout.write(line + "\n")
            line = ""
        line += f" {word}" if line else word
    sys.stdout.write(line + "\n")


def _is_word(word: str) -> bool:
    return len(word) >= SHORTEST and bool(re.fullmatch("[a-z]+", word))


def _is_joined(word: str, vocabulary: Mapping[str, int]) -> bool:
    """Whether it is two words written as one, as names of columns are."""
    return any(word[:place] in vocabulary and word[place:] in vocabulary for place in range(2, len(word) - 1))


def _asked(path: Path) -> list[str]:
    questions = (example["question"] for example in json.loads(path.read_text(encoding="utf-8")))
    return [word for question in questions for word in re.findall(r"[a-z]+", question.lower())]


if __name__ == "__main__":
    main()
