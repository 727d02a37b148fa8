"""Which of two bundles is better, by what was held out."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="needs the extra adapt: pip install 'fastsql[adapt]'")

from fastsql.adapt.adapting import _counted
from fastsql.adapt.fitting import Case, Outcome, is_better
from fastsql.grammar.program import Production, Program
from fastsql.reliability.evidence import Evidence

PROGRAM: Program = (Production("end"),)


def outcomes(seeds: str, made: str, refused: int = 0) -> list[Outcome]:
    """One for each mark, in order: "+" for a question that is right."""
    cases = [Case(f"seed {n}", PROGRAM, by_hand=True) for n in range(len(seeds))]
    cases += [Case(f"made {n}", PROGRAM) for n in range(len(made))]
    cases += [Case(f"refused {n}", None) for n in range(refused)]
    marks = seeds + made + "-" * refused
    return [
        Outcome(case, Evidence.__new__(Evidence), mark == "+")
        for case, mark in zip(cases, marks, strict=True)
    ]


@pytest.mark.parametrize(
    ("before", "after", "better"),
    [
        (("", "++--"), ("", "+++-"), True),
        (("", "++--"), ("", "+---"), False),
        (("", "++--"), ("", "--++"), True),
        (("-", "++--"), ("+", "+---"), True),
        (("+" * 9, "-"), ("-" * 8 + "+", "+" * 10), True),
        (("+" * 10 + "-" * 10, "-"), ("-" * 4 + "+" * 6 + "-" * 10, "+" * 10), False),
        (("+" * 10 + "-" * 10, "++"), ("+" * 14 + "-" * 6, "--"), True),
        (("+" * 10 + "-" * 10, "++--"), ("-++" + "+" * 7 + "-" * 10, "++++"), True),
        (("+" * 10 + "-" * 10, "++--"), ("-++" + "+" * 7 + "-" * 10, "++--"), False),
        (("+" * 10 + "-" * 10, "++--"), ("--++" + "+" * 6 + "-" * 9 + "+", "+++-"), True),
    ],
    ids=[
        "more made pairs",
        "fewer made pairs",
        "as many",
        "few seeds count like made pairs",
        "nine seeds are too few to decide",
        "seeds that were lost",
        "seeds that were won",
        "one seed is chance where made pairs are won",
        "one seed counts where nothing is won",
        "one seed less of three that differ is chance",
    ],
)
def test_seeds_decide_where_they_differ_by_more_than_chance(
    before: tuple[str, str], after: tuple[str, str], better: bool
) -> None:
    made = max(len(before[1]), len(after[1]))
    one, other = (outcomes(seeds, pairs.ljust(made, "-")) for seeds, pairs in (before, after))
    assert is_better(one, other) is better


def test_what_nothing_valid_was_written_for_is_not_right() -> None:
    both = outcomes("", "++")
    assert not is_better(both, both[:1])
    assert is_better(both[:1], both)


def test_the_reason_counts_what_has_an_answer() -> None:
    assert _counted(outcomes("+-", "+++-", refused=5)) == "1 of 2 seeds and 3 of 4 made questions"
    assert _counted(outcomes("", "+", refused=1)) == "1 of 1 made questions"
