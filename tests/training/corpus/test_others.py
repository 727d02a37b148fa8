"""Questions asked after others that have nothing to do with them."""

from __future__ import annotations

from fastsql.grammar.program import Production, Program, TableRef, TurnRef
from fastsql.training.corpus.others import MOST, after_others
from fastsql.training.corpus.sample import Sample
from fastsql.training.corpus.split import Pair

ROWS: Program = (TableRef(0), Production("all_columns"), Production("end"))
ALONE = [Sample(Pair(str(n), f"question {n}?", "", f"db{n % 2}"), ROWS) for n in range(40)]
TALK = Sample(
    Pair("a/1", "how many?", "", "db0", interaction="a"),
    (Production("extend"), TurnRef(0), Production("count_all"), Production("end")),
    earlier=(("which?", ROWS),),
)


def test_no_question_is_changed_without_a_share() -> None:
    assert after_others([*ALONE, TALK], 0.0, 1) == (*ALONE, TALK)


def test_a_share_of_questions_comes_after_others_of_its_database() -> None:
    found = after_others(ALONE, 0.5, 1)
    changed = [one for one in found if one.earlier]
    assert 10 <= len(changed) <= 30
    known = {one.pair.question: one.pair.db_id for one in ALONE}
    for one in changed:
        assert 1 <= len(one.earlier) <= MOST
        assert {known[question] for question, _ in one.earlier} == {one.pair.db_id}
        assert one.pair.question not in {question for question, _ in one.earlier}
        assert one.program == ROWS
    assert after_others(ALONE, 0.5, 1) == found
    assert after_others(ALONE, 0.5, 2) != found


def test_a_turn_refers_to_what_it_referred_to() -> None:
    found = after_others([*ALONE, TALK], 1.0, 1)[-1]
    first = len(found.earlier) - 1
    assert first >= 1
    assert found.earlier[first] == TALK.earlier[0]
    assert found.program[1] == TurnRef(first)
    assert found.program[2:] == TALK.program[2:]
