"""What is promised of every source: nothing that does not run, says nothing or cannot be found, and nothing twice."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import fastsql.synthesis
from fastsql.errors import ExecutionError
from fastsql.execution.executor import DatabaseGoneError
from fastsql.execution.rows import Cell
from fastsql.schema import Schema
from fastsql.synthesis.generate import generate, generate_drawn
from fastsql.synthesis.source import Draft, SynthesisError, Trial
from fastsql.synthesis.statistics import count_hardness
from fastsql.synthesis.write import write_pairs

DDL = "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, pages INTEGER)"
TITLES = ("Emma", "Ulysses", "Kim")
FAULTS = {
    "not in the grammar": ("SELECT RANDOMBLOB(4) FROM book", "What is random?"),
    "does not run": ("SELECT book.pages / missing.x FROM book, missing", "What is missing?"),
    "NULL": ("SELECT MAX(book.pages) FROM book WHERE book.title = 'Nothing'", "How long is Nothing?"),
    "counts nothing": (
        "SELECT COUNT(*) FROM book WHERE book.pages > 5000",
        "How many have more than 5000 pages?",
    ),
    "unheard": ("SELECT book.id FROM book WHERE book.title = 'Emma'", "Where is it?"),
}


class Library:
    """A source of a few titles; `fault` is what one draft in two suffers from."""

    db_id = "library"

    def __init__(self, fault: str = "") -> None:
        self.schema = Schema.from_ddl(DDL)
        self._fault = fault
        self._connection = sqlite3.connect(":memory:")
        self._connection.executescript(DDL)
        self._connection.executemany(
            "INSERT INTO book (title, pages) VALUES (?, ?)", [(t, 100) for t in TITLES]
        )

    def draw(self, seed: str) -> Draft:
        rng = random.Random(seed)
        title = rng.choice(TITLES)
        sql = f"SELECT {rng.choice(('book.pages', 'COUNT(*)'))} FROM book WHERE book.title = '{title}'"
        words = f"How {'many' if 'COUNT' in sql else 'long'} is {title}?"
        if self._fault and rng.random() < 0.5:
            sql, words = FAULTS[self._fault]
        return Draft("Title", sql, seed, lambda rng: rng.choice((words, f"Tell me: {words}")))

    def trials(self, draft: Draft) -> Iterator[Trial]:
        yield Trial(draft.sql, self._run)

    def _run(self, sql: str) -> list[tuple[Cell, ...]]:
        try:
            return self._connection.execute(sql).fetchall()
        except sqlite3.Error as error:
            raise ExecutionError("does not run", where="library") from error


def test_a_query_that_finds_no_words_is_left_out() -> None:
    class Shy(Library):
        def draw(self, seed: str) -> Draft:
            draft = super().draw(seed)

            def ask(rng: random.Random) -> str:
                if "Ulysses" in draft.sql:
                    raise SynthesisError("no words")
                return draft.ask(rng)

            return replace(draft, ask=ask)

    asked = {pair.sql or "" for pair in generate_drawn(Shy(), 20, wordings=2)}
    assert any("Emma" in sql for sql in asked)
    assert not any("Ulysses" in sql for sql in asked)


def test_a_pair_is_written_once_for_each_question() -> None:
    pairs = generate(Library(), 40, seed=1)
    assert len({pair.question for pair in pairs}) == len(pairs) == 2 * 2 * len(TITLES)
    assert {pair.db_id for pair in pairs} == {"library"}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_nobody_could_learn_from_is_left_out(fault: str) -> None:
    pairs = generate(Library(fault), 40, seed=1)
    assert pairs
    assert FAULTS[fault][0] not in {pair.sql for pair in pairs}


def test_a_database_that_goes_away_is_an_error_and_no_query_that_does_not_run() -> None:
    class Lost(Library):
        def trials(self, draft: Draft) -> Iterator[Trial]:
            def run(sql: str) -> list[tuple[Cell, ...]]:
                raise DatabaseGoneError("no longer answers", where="database")

            yield Trial(draft.sql, run)

    with pytest.raises(DatabaseGoneError):
        generate(Lost(), 5)


def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    files = [tmp_path / "one.json.gz", tmp_path / "other.json.gz"]
    for file in files:
        write_pairs(generate(Library(), 8, seed=5), file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_progress_is_reported_while_queries_are_drawn() -> None:
    lines: list[str] = []
    generate(Library(), 10, report=lines.append)
    assert "30 of 30 queries drawn, 2 skeletons" in lines
    assert len([line for line in lines if "drawn" in line]) == 10


def test_known_skeletons_get_less_weight() -> None:
    known = ["SELECT book.pages FROM book WHERE book.title = 'Dune'"]
    forms = [pair.sql or "" for pair in generate(Library(), 6, seed=2, known=known)]
    assert sum("COUNT" in form for form in forms) > sum("COUNT" not in form for form in forms)


def test_pairs_are_counted_by_hardness() -> None:
    counts = count_hardness(generate(Library(), 40, seed=1))
    assert counts == {"easy": 12, "medium": 0, "hard": 0, "extra": 0, "beyond": 0}


def test_the_root_knows_no_hospital() -> None:
    root = Path(fastsql.synthesis.__file__).parent
    sources = [path.read_text(encoding="utf-8") for path in root.glob("*.py")]
    assert sources
    assert not any("fastsql.demo" in text or "synthesis.hospital" in text for text in sources)
