"""Whatever schema, question, weights and rows are drawn, both searches find the same.

``FASTSQL_FUZZ_SECONDS`` says how long, ``FASTSQL_FUZZ_SEED`` which cases; ``python -m tests.fuzz.native`` goes on for hours.
"""

from __future__ import annotations

import os
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ..fuzz.native import Case, DifferenceError, fuzz
from .searches import BothDecoders

SECONDS = float(os.environ.get("FASTSQL_FUZZ_SECONDS", "5"))
SEED = int(os.environ.get("FASTSQL_FUZZ_SEED", "0"))


def test_both_searches_find_the_same(core: ModuleType) -> None:
    ended = fuzz(core, SEED, SECONDS)
    assert ended["the same"] > 0.7 * ended.total(), ended


def test_a_case_is_the_same_whenever_it_is_drawn() -> None:
    for number in range(3):
        one, other = Case.draw(7, number), Case.draw(7, number)
        assert (one.space.text, one.space.sizes, one.config, one.width) == (
            other.space.text,
            other.space.sizes,
            other.config,
            other.width,
        )
        for name, weight in one.weights.items():
            np.testing.assert_array_equal(weight, other.weights[name])


def test_a_difference_is_found(core: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    right = BothDecoders.search_natively

    def wrong(*arguments: Any, **options: Any) -> Any:
        found = right(*arguments, **options)
        first, *others = found.finished
        gains = (first.log_probabilities[0] - 0.01, *first.log_probabilities[1:])
        return replace(found, finished=(replace(first, log_probabilities=gains), *others))

    monkeypatch.setattr(BothDecoders, "search_natively", wrong)
    with pytest.raises(DifferenceError, match=r"AssertionError in case \d+ of seed 0"):
        fuzz(core, 0, 60)
