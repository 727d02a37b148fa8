"""Values that a question says and the query does nothing with."""

from __future__ import annotations

import pytest

from fastsql.linking.candidate import Candidate
from fastsql.reliability.evidence import unused_words
from fastsql.reliability.familiarity import Familiarity

QUESTION = "how many unpaid invoices of acme holding are there?"
UNPAID, ACME = QUESTION.index("unpaid"), QUESTION.index("acme")


def value(text: str, source: str = "dictionary", **changes: object) -> Candidate:
    start = QUESTION.index(text)
    settings = {"columns": (3,), **changes}
    return Candidate(text, "text", (start, start + len(text)), source, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("candidates", "explained", "words"),
    [
        ([], [], 0),
        ([value("unpaid")], [], 1),
        ([value("unpaid", source="schema")], [], 1),
        ([value("unpaid"), value("acme holding")], [], 2),
        ([value("unpaid"), value("acme holding")], [(ACME, ACME + 4)], 1),
        ([value("unpaid"), value("unpaid invoices")], [(UNPAID + 7, UNPAID + 15)], 1),
        ([value("unpaid")], [(UNPAID, UNPAID + 6)], 0),
        ([value("unpaid", columns=())], [], 0),
        ([value("unpaid", distance=0.1)], [], 0),
    ],
)
def test_the_longest_value_that_touches_nothing_explained_counts(
    candidates: list[Candidate], explained: list[tuple[int, int]], words: int
) -> None:
    assert unused_words(QUESTION, candidates, explained) == words


def test_words_that_few_training_questions_hold_carry_meaning() -> None:
    familiarity = Familiarity.from_questions(
        ["how many patients are there of it?"] * 99 + ["unpaid invoices"]
    )
    assert familiarity.unexplained(QUESTION, ()) == pytest.approx(4 / 9)
    assert familiarity.unexplained(QUESTION, [(UNPAID, UNPAID + len("unpaid invoices"))]) == pytest.approx(
        2 / 9
    )
    assert familiarity.unexplained("how many are there? 100", ()) == 0
    assert familiarity.unexplained("", ()) == 0
    assert Familiarity().unexplained(QUESTION, ()) == 0
