"""The engines: the reference's own parts here; that the native one gives the same is in tests/native."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np

from fastsql.engine.base import LastReading
from fastsql.engine.reference import mean_state

from .worlds.toy_model import link


def test_a_questions_state_is_the_mean_of_its_tokens() -> None:
    assert mean_state(np.array([[1.0, 2.0], [3.0, 6.0]], np.float32)).tolist() == [2.0, 4.0]
    assert mean_state(np.zeros((0, 2), np.float32)).tolist() == [0.0, 0.0]


def test_the_last_reading_is_of_one_question_one_schema_and_one_thread() -> None:
    last: LastReading[str] = LastReading()
    one, other, schema = link("how many patients?"), link("how many patients?"), link("stands for a schema")
    last.keep(one, schema, "read")
    assert last.take(one, schema) == "read"
    elsewhere: list[str | None] = []
    thread = threading.Thread(target=lambda: elsewhere.append(last.take(one, schema)))
    thread.start()
    thread.join()
    assert elsewhere == [None]
    assert last.take(one, schema) == "read"
    assert last.take(other, schema) is None  # equal is not the same
    assert last.take(one, schema) is None  # and what is let go is gone


def test_the_last_reading_keeps_no_question() -> None:
    last: LastReading[str] = LastReading()
    asked, schema = link("how many patients?"), link("stands for a schema")
    last.keep(asked, schema, "read")
    gone = weakref.ref(asked)
    del asked
    gc.collect()
    assert gone() is None
