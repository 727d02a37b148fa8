"""Deep texts are read beside each other, leave the process as it was, and survive a fork."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest

from fastsql.errors import VerificationError
from fastsql.execution import verify
from fastsql.schema import Schema
from fastsql.verification import parse
from fastsql.verification.parse import parse_query, with_room

SCHEMA = Schema.from_ddl("CREATE TABLE t (a INT)")
DEEP = "SELECT " + "(" * 40 + "1" + ")" * 40


def test_a_deep_text_does_not_wait_for_another() -> None:
    held, begun = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        held.wait(30)

    other = threading.Thread(target=with_room, args=(40, wait))
    other.start()
    try:
        assert begun.wait(30)
        verify(DEEP, SCHEMA)  # would wait for ever if the other held anything
    finally:
        held.set()
        other.join()


def test_the_recursion_limit_is_what_it_was() -> None:
    before = sys.getrecursionlimit()
    threads = [threading.Thread(target=verify, args=(DEEP, SCHEMA)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sys.getrecursionlimit() == before


def test_a_limit_that_the_application_sets_meanwhile_stays() -> None:
    before = sys.getrecursionlimit()
    try:
        with_room(40, lambda: sys.setrecursionlimit(before + 7_777))
        assert sys.getrecursionlimit() == before + 7_777
    finally:
        sys.setrecursionlimit(before)


def test_what_is_raised_in_a_deep_text_reaches_the_caller() -> None:
    with pytest.raises(VerificationError, match="does not parse"):
        parse_query("SELECT " + "(" * 40 + "FROM" + ")" * 40)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_child_that_is_forked_while_a_deep_text_is_read_reads_deep_texts() -> None:
    held, begun = threading.Event(), threading.Event()

    def wait() -> None:
        with parse._deep_recursion._lock:  # the worst moment
            begun.set()
            held.wait(30)

    other = threading.Thread(target=wait)
    other.start()
    assert begun.wait(30)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            verify(DEEP, SCHEMA)
            os._exit(0)
        finally:
            os._exit(1)
    held.set()
    other.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_no_error_carries_what_sqlglot_says_of_the_text() -> None:
    with pytest.raises(VerificationError) as caught:
        parse_query("SELECT 'Jane Roe' FROM WHERE")
    error: BaseException | None = caught.value
    while error is not None:
        assert "Jane" not in str(error)
        error = error.__cause__ or error.__context__
