"""Earlier turns in the relation graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fastsql.linking.prepare import Prepared, prepare
from fastsql.linking.relations import PLAIN_RELATIONS, RELATIONS, SchemaLinks
from fastsql.linking.turns import EarlierTurn, with_values
from fastsql.model.tokenizer import Tokenizer

from ..worlds.toy_conversation import earlier_turns
from ..worlds.toy_model import SCHEMA, WORDPIECE

LINKS = SchemaLinks(SCHEMA)
QUESTION = "and of those with 5 of type elective or 'f'?"


def linked(*turns: EarlierTurn) -> Prepared:
    return prepare(QUESTION, LINKS, WORDPIECE, turns=turns)


def edges(prepared: Prepared, turn: int) -> tuple[dict[str, str], dict[str, str]]:
    """Relations from a turn to some nodes, and from these to it, but for those that have none of their own."""
    nodes = LINKS.nodes.with_question(len(prepared.token_ids), len(prepared.candidates), len(prepared.turns))
    places = {"token": nodes.tokens.start}
    places |= {
        f"={one.value}": nodes.candidates.start + index for index, one in enumerate(prepared.candidates)
    }
    places |= {table.name: nodes.table(index) for index, table in enumerate(SCHEMA.tables)}
    places |= {
        f"{SCHEMA.tables[column.table].name}.{column.name}": nodes.column(index)
        for index, column in enumerate(SCHEMA.columns)
    }
    places |= {f"turn {index}": nodes.turns.start + index for index in range(len(prepared.turns))}
    node = nodes.turns.start + turn
    there = {name: RELATIONS[prepared.relations[node, place]] for name, place in places.items()}
    back = {name: RELATIONS[prepared.relations[place, node]] for name, place in places.items()}
    return tuple(  # type: ignore[return-value]
        {name: relation for name, relation in one.items() if relation != "none"} for one in (there, back)
    )


def test_a_turn_sees_what_its_query_names_and_what_it_returns() -> None:
    there, back = edges(linked(*earlier_turns(4)), 0)
    assert there == {
        "=f": "turn-uses",
        "patients": "turn-uses",
        "patients.subject_id": "turn-returns",
        "patients.gender": "turn-returns",
        "turn 0": "turn-self",
        "turn 1": "turn-turn",
        "turn 2": "turn-turn",
    }
    assert back == {
        name: {"turn-uses": "used-by-turn", "turn-returns": "returned-by-turn"}.get(relation, relation)
        for name, relation in there.items()
    }


def test_what_a_derived_table_passes_on_is_returned() -> None:
    there, _ = edges(linked(*earlier_turns(4)), 1)
    assert there["admissions.subject_id"] == "turn-returns"
    assert there["admissions"] == "turn-uses"
    assert "patients" not in there


def test_numbers_and_text_that_are_written_alike_are_one_literal() -> None:
    there, _ = edges(linked(*earlier_turns(4)), 2)
    assert there["=5"] == "turn-uses"
    assert "=f" not in there


def test_nodes_that_are_no_turns_are_related_as_without_turns() -> None:
    plain, prepared = linked(), linked(*earlier_turns(4))
    nodes = LINKS.nodes.with_question(len(prepared.token_ids), len(prepared.candidates), 3)
    rest = np.delete(np.arange(nodes.size), nodes.turns)
    np.testing.assert_array_equal(prepared.relations[np.ix_(rest, rest)], plain.relations)
    assert plain.relations.max() < len(PLAIN_RELATIONS)


@pytest.mark.parametrize("name", ["turn-self", "returned-by-turn"])
def test_relations_of_turns_come_last(name: str) -> None:
    assert RELATIONS.index(name) >= len(PLAIN_RELATIONS)


def test_values_that_a_question_does_not_say_are_read_behind_it_the_latest_first() -> None:
    first, _, last = earlier_turns(
        4,
        (
            "SELECT subject_id FROM admissions WHERE admission_type = 'urgent'",
            "SELECT dob FROM patients",
            "SELECT dob FROM patients WHERE subject_id = 71021258 OR gender = 'female' OR subject_id = 71021258",
        ),
    )
    assert with_values("their dob?", [first, last]) == "their dob? | 71021258 | female | urgent"
    assert with_values("Urgent ones of 71021258?", [first, last]) == "Urgent ones of 71021258? | female"
    assert with_values("their dob?", [replace(first, turn=first.turn.unusable)]) == "their dob?"
    assert with_values("their dob?", [replace(first, shown=False)]) == "their dob?"


def test_small_numbers_single_letters_and_what_is_too_much_are_not_read_behind_a_question() -> None:
    long = "x" * 150
    (turn,) = earlier_turns(
        4,
        (
            f"SELECT dob FROM patients WHERE subject_id = 7 OR gender IN ('f', '{long}', '{long}y', 'aa', 'bb', 'cc')",
        ),
    )
    assert with_values("?", [turn]) == f"? | {long} | aa"
    many = [f"value {number}" for number in range(9)]
    (turn,) = earlier_turns(4, (f"SELECT dob FROM patients WHERE gender IN ({', '.join(map(repr, many))})",))
    assert with_values("?", [turn]).count("value") == 4


def test_candidates_and_tokens_are_of_what_is_read_and_the_question_is_known_within_it() -> None:
    turns = earlier_turns(4, ("SELECT dob FROM patients WHERE subject_id = 71021258",))
    prepared = prepare("their dob?", LINKS, WORDPIECE, turns=turns, turn_values=True)
    assert (prepared.text, prepared.question) == ("their dob? | 71021258", "their dob?")
    assert prepared.offsets[prepared.question_tokens - 1].tolist() == [9, 10]
    assert prepared.offsets[prepared.question_tokens].tolist() == [11, 12]
    assert [one.value for one in prepared.candidates] == [71021258]
    assert prepare("their dob?", LINKS, WORDPIECE, turns=turns).text == "their dob?"


def test_a_question_that_leaves_no_room_is_read_alone() -> None:
    turns = earlier_turns(4, ("SELECT dob FROM patients WHERE subject_id = 71021258",))
    question = "a " * 100
    short = Tokenizer(WORDPIECE.json_text, max_tokens=len(WORDPIECE.tokenize(question).ids))
    assert prepare(question, LINKS, short, turns=turns, turn_values=True).text == question
