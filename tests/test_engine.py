"""The engines: the reference's own parts here; that the native one gives the same is in tests/native."""

from __future__ import annotations

import numpy as np

from fastsql.engine.reference import mean_state


def test_a_questions_state_is_the_mean_of_its_tokens() -> None:
    assert mean_state(np.array([[1.0, 2.0], [3.0, 6.0]], np.float32)).tolist() == [2.0, 4.0]
    assert mean_state(np.zeros((0, 2), np.float32)).tolist() == [0.0, 0.0]
