"""One parser under load: eight threads, many parses, the answers of one thread, and memory that stays flat.

``FASTSQL_LOAD`` says how many parses; 100,000 show a leak of 200 bytes a parse, the default one of 40 kB.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from fastsql import Parser, Schema

from .worlds.toy_bundle import QUESTIONS, load_toy
from .worlds.toy_model import SCHEMA

PARSES = int(os.environ.get("FASTSQL_LOAD", "500"))
THREADS = 8
WARM_UP = 200
"""Parses after which caches are full and every thread has its own memory."""
GROWTH = 20 * 2**20
"""Bytes that may be added after the warm-up: what the allocator keeps for each thread comes and goes."""
PHARMACY = Schema.from_dict(
    {
        "orders": {"order_id": "INT", "drug": "TEXT", "dose": "REAL", "given": "TIMESTAMP"},
        "stays": {"stay_id": "INT", "order_id": "INT", "ward": "VARCHAR(20)"},
    }
).with_values({("stays", "ward"): ["icu", "surgery", "内科"]})
ASKED = (
    *QUESTIONS,
    "how many orders of 'heparin' in the icu ward last year",
    "top 5 drugs since 08/2100 with a dose above 2.5",
    "内科 的 orders 有多少",
    "",
    "🏥 ?",
)
CASES = tuple(product(ASKED, (SCHEMA, PHARMACY)))


def answer(parser: Parser, number: int) -> tuple[Any, ...]:
    """All of the outcome of a case but how long it took."""
    result = parser.parse(*CASES[number % len(CASES)], beam=2)
    return result.best, result.confidence, result.reason, result.links, result.values


def resident_bytes() -> int:
    """Memory of this process that is in use, not only reserved."""
    statistics = Path("/proc/self/statm")
    if not statistics.is_file():
        pytest.skip("resident memory is read from /proc/self/statm: run this on Linux")
    return int(statistics.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def disagreements(parser: Parser, expected: list[tuple[Any, ...]], numbers: range) -> Iterator[int]:
    """The cases of `numbers`, parsed by all threads at once, whose answer is not the expected one."""

    def differs(first: int) -> list[int]:
        mine = range(numbers[0] + first, numbers[-1] + 1, THREADS)
        return [n for n in mine if answer(parser, n) != expected[n % len(CASES)]]

    with ThreadPoolExecutor(THREADS) as pool:
        for found in pool.map(differs, range(THREADS)):
            yield from found


def test_threads_agree_with_one_and_memory_stays_flat(
    toy_bundle: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    parser = load_toy(toy_bundle)
    expected = [answer(load_toy(toy_bundle), number) for number in range(len(CASES))]
    assert len({best for best, *_ in expected}) > len(CASES) // 2, "the cases hardly differ"
    assert list(disagreements(parser, expected, range(WARM_UP))) == []
    before, began = resident_bytes(), time.perf_counter()
    assert list(disagreements(parser, expected, range(WARM_UP, WARM_UP + PARSES))) == []
    after, seconds = resident_bytes(), time.perf_counter() - began
    with capfd.disabled():
        if "FASTSQL_LOAD" in os.environ:
            sys.stdout.write(
                f"\n{PARSES:,} parses, {THREADS} threads, {seconds:.0f} s; "
                f"{before / 2**20:.1f} MiB before, {after / 2**20:.1f} MiB after\n"
            )
    assert after - before < GROWTH, f"{(after - before) / PARSES:.0f} bytes a parse"
