"""A written question comes over to each variant that has what it is about, with the variant's names, codes and values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import pytest

from fastsql.datasets import with_known_values
from fastsql.synthesis.contents import MadeDatabase
from fastsql.synthesis.designs import Design, DesignError, Variant, draw_variant, read_design
from fastsql.synthesis.designs.carry import CannotCarryError, Carrier, Origin
from fastsql.synthesis.designs.written import Asked

TEXT = """\
table ward | unit
ward number: key
ward name: each north, south, west
beds | places: 4..60

table patient | client
patient number | file number: key
patient name: person
sex: one of F=woman *5, M=man *5, diverse
discharged | gone home: flag
birth day: birth day
ward: -> ward
"""


@dataclass
class Drawn:
    """A variant with its rows."""

    variant: Variant
    made: MadeDatabase
    carrier: Carrier

    def carry(self, question: str, sql: str) -> Asked:
        (found,) = self.carrier.carry([Asked(question, sql)], "seed")
        return found

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        return list(self.made.executor.run(sql).rows)


@pytest.fixture(scope="module")
def origin() -> Origin:
    return Origin(_design())


def _design() -> Design:
    return read_design("little", TEXT)


@pytest.fixture(scope="module")
def drawn(origin: Origin) -> Iterator[list[Drawn]]:
    found = []
    for seed in range(25):
        variant = draw_variant(origin.design, str(seed))
        made = MadeDatabase(
            variant.schema,
            "rows",
            fillings=variant.fillings,
            profile=variant.profile,
            constraints=variant.constraints,
        )
        carrier = Carrier(origin, variant, made.rows, with_known_values(variant.schema, made.path, None))
        found.append(Drawn(variant, made, carrier))
    yield found
    for one in found:
        one.made.close()


def _carried(drawn: list[Drawn], question: str, sql: str) -> list[tuple[Drawn, Asked]]:
    found = []
    for one in drawn:
        with suppress(CannotCarryError):
            found.append((one, one.carry(question, sql)))
    return found


def test_names_are_those_of_the_variant_and_the_query_runs(drawn: list[Drawn]) -> None:
    found = _carried(drawn, "How many beds are there in all?", "SELECT SUM(beds) FROM ward")
    assert len({asked.sql for _, asked in found}) > 5
    assert all(one.rows(asked.sql)[0][0] for one, asked in found)


def test_codes_become_what_the_variant_holds(drawn: list[Drawn]) -> None:
    found = _carried(drawn, "How many women?", "SELECT COUNT(*) FROM patient WHERE sex = 'F'")
    assert {value for value in ("'F'", "'woman'") for _, asked in found if value in asked.sql} == {
        "'F'",
        "'woman'",
    }
    assert all(one.rows(asked.sql)[0][0] for one, asked in found)
    plain = _carried(drawn, "How many are diverse?", "SELECT COUNT(*) FROM patient WHERE sex = 'diverse'")
    assert len(plain) == len(found)


def test_yes_and_no_become_what_the_variant_holds(drawn: list[Drawn]) -> None:
    found = _carried(drawn, "How many have gone home?", "SELECT COUNT(*) FROM patient WHERE discharged = 1")
    for one, asked in found:
        assert asked.sql.endswith("= 1" if one.variant.flags == (0, 1) else "= 'Y'")
    assert len({one.variant.flags for one, _ in found}) == 2


def test_flags_that_are_no_numbers_are_not_summed(drawn: list[Drawn]) -> None:
    found = _carried(drawn, "share gone home", "SELECT AVG(discharged) FROM patient")
    assert found
    assert all(one.variant.flags == (0, 1) for one, _ in found)


def test_a_name_becomes_one_that_stands_in_the_rows_in_question_and_query(drawn: list[Drawn]) -> None:
    found = _carried(
        drawn,
        "When was Anna Nobody born?",
        "SELECT birth_day FROM patient WHERE patient_name = 'Anna Nobody'",
    )
    for one, asked in found:
        assert "Nobody" not in asked.question
        name = asked.question.removeprefix("When was ").removesuffix(" born?")
        assert f"'{name}'" in asked.sql
        assert one.rows(asked.sql)
    assert len({asked.question for _, asked in found}) > 3


def test_a_list_that_was_merged_into_what_refers_to_it_leaves_its_questions_out(drawn: list[Drawn]) -> None:
    for one in drawn:
        if len(one.variant.schema.tables) == 1:
            with pytest.raises(CannotCarryError):
                one.carry("How many beds are there in all?", "SELECT SUM(beds) FROM ward")
            return
    pytest.fail("no variant has merged its list")


def test_the_turns_of_a_conversation_are_about_the_same_value(drawn: list[Drawn]) -> None:
    talk = [
        Asked(
            "When was Anna Nobody born?", "SELECT birth_day FROM patient WHERE patient_name = 'Anna Nobody'"
        ),
        Asked(
            "and where is she?",
            "SELECT ward_name FROM ward JOIN patient ON ward_id = ward_number WHERE patient_name = 'Anna Nobody'",
        ),
    ]
    talks = []
    for one in drawn:
        with suppress(CannotCarryError):
            talks.append(one.carrier.carry(talk, "seed"))
    assert talks
    assert all(first.sql.rpartition("= ")[2] == second.sql.rpartition("= ")[2] for first, second in talks)


def test_a_turn_need_not_say_again_what_one_before_it_said(drawn: list[Drawn]) -> None:
    talk = [
        Asked("Which wards have more than 20 beds?", "SELECT ward_name FROM ward WHERE beds > 20"),
        Asked("how many is that?", "SELECT COUNT(*) FROM ward WHERE beds > 20"),
    ]
    talks = []
    for one in drawn:
        with suppress(CannotCarryError):
            talks.append(one.carrier.carry(talk, "seed"))
    assert talks


def test_a_value_that_no_word_of_the_question_gives_is_refused(drawn: list[Drawn]) -> None:
    for one in drawn:
        with pytest.raises(CannotCarryError):
            one.carry(
                "When was she born?", "SELECT birth_day FROM patient WHERE patient_name = 'Anna Nobody'"
            )


def test_the_same_name_under_an_alias_is_renamed_where_it_is_a_table(drawn: list[Drawn]) -> None:
    sql = (
        "SELECT DISTINCT a.patient_name FROM patient AS a JOIN patient AS b ON a.birth_day = b.birth_day "
        "AND a.patient_number <> b.patient_number"
    )
    found = _carried(drawn, "Which patients share a birth day with another one?", sql)
    assert found
    for one, asked in found:
        one.rows(asked.sql)


def test_sql_that_the_design_cannot_say_is_an_error_with_the_sql(origin: Origin) -> None:
    with pytest.raises(DesignError, match="cannot be read"):
        origin.tree("SELECT colour FROM ward")
