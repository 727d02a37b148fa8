"""Questions are chosen among a source's own wordings and the reverse model's; queries stay as they are."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from fastsql.datasets import Example
from fastsql.grammar import ConversionError, sql_to_program
from fastsql.grammar.program import Program
from fastsql.schema import Schema
from fastsql.synthesis.generate import generate_drawn
from fastsql.synthesis.guard import Guard, said
from fastsql.synthesis.guard.guard import NEIGHBOUR, PARSED
from fastsql.synthesis.guard.neighbours import neighbours
from fastsql.synthesis.guard.sentence import KINDS, breaches
from fastsql.synthesis.rewording import RewordedSource
from fastsql.synthesis.round_trip import FLAG, came_back, with_round_trip
from fastsql.synthesis.source import Draft, Trial
from fastsql.verification.parse import parse_query

from ..worlds.toy_reverse import SCHEMA, make_model

SQL = "SELECT patients.age FROM patients WHERE patients.gender = 'f'"
USUAL = (
    "How old are patients of gender f?",
    "How old is each patient of gender f?",
    "Ages where the gender is f?",
)
ODD = "Whatever f"


CLINIC = Schema.from_ddl(
    """
    CREATE TABLE patients (patient_id INTEGER PRIMARY KEY, name TEXT, birth_year INTEGER);
    CREATE TABLE visits (
        visit_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients (patient_id), ward TEXT,
        fee REAL, stay_days INTEGER
    );
    """
)
OVER = "SELECT visits.ward FROM visits WHERE visits.fee > 250"
FROM_ON = "SELECT visits.ward FROM visits GROUP BY visits.ward HAVING COUNT(*) >= 2"
COUNTED = "SELECT visits.ward, COUNT(*) FROM visits GROUP BY visits.ward"
SORTED = "SELECT patients.name FROM patients ORDER BY patients.birth_year DESC"
TOP = "SELECT visits.ward FROM visits ORDER BY visits.fee DESC LIMIT 3"
BOTH = "SELECT visits.ward, visits.stay_days FROM visits"
NONE = "SELECT patients.name FROM patients WHERE NOT patients.patient_id IN (SELECT visits.patient_id FROM visits)"
LIKE = "SELECT patients.name FROM patients WHERE patients.name LIKE '%Li%'"
EXTREMES = "SELECT MAX(visits.fee), MIN(visits.fee) FROM visits"
UNIQUE = "SELECT DISTINCT visits.ward FROM visits"

OF_ID = "SELECT visits.ward FROM visits WHERE visits.patient_id = 3"
LODGING = Schema.from_ddl("CREATE TABLE lives_in (student INTEGER, dorm INTEGER)")
LIVING = "SELECT COUNT(*) FROM lives_in"

KEPT = [
    (NONE, "The patients' names that have no visits"),
    (SORTED, "List the names of all patients sorted by birth year in descending order"),
    (SORTED, "Sort the names of all patients by birth year in descending order"),
    (OVER, "In which ward are visits with a fee of more than 250?"),
    (FROM_ON, "Which wards have 2 or more visits?"),
    (FROM_ON, "Wards with at least two visits"),
    (COUNTED, "How many visits are there in each ward?"),
    (COUNTED, "How many visits does each ward have?"),
    (COUNTED, "For each ward, the number of visits"),
    (SORTED, "List the names of all patients by birth year in descending order"),
    (TOP, "What are the wards of the 3 visits with the highest fee?"),
    (BOTH, "Show the ward and stay days of the visits"),
    (BOTH, "What are the ward and the stay days of the visits?"),
    (BOTH, "Show the ward and the days of stay of the visits"),
    (BOTH, "Name the ward and the stay days of all visits"),
    (COUNTED, "How many visits are there in each of the wards?"),
    (NONE, "Names of patients that have no visits"),
    (LIKE, "Which patients have a name that contains 'Li'?"),
    (EXTREMES, "Find the maximum and minimum fee of the visits."),
    (UNIQUE, "What are the different wards of the visits?"),
]
FAULTS = [
    (said.LITERAL, OVER, "In which ward are visits with a fee of more than 2500?"),
    (said.LITERAL, OVER, "In which ward are visits with a fee of more than 250.5?"),
    (said.LITERAL, LIKE, "Which patients have a name that contains Lisa?"),
    (said.LITERAL, LIKE, 'Which patients have a name that contains "Li?'),
    (said.NUMBER, OVER, "In which 4 wards are visits with a fee of more than 250?"),
    (said.NUMBER, OVER, "In which three wards are visits with a fee of more than 250?"),
    (said.NAME, BOTH, "Show the wards of the visits."),
    (said.NAME, BOTH, "Show the ward, stay and days of the visits."),
    (said.NAME, COUNTED, "How many are there in each ward?"),
    (said.OTHER, OVER, "In which ward are visits with a fee of more than 250 and the stay days?"),
    (said.FOREIGN, OVER, "In which ward are surgical visits with a fee of more than 250?"),
    (said.REPEATED, BOTH, "Show the ward, ward and stay days of the visits."),
    (said.REPEATED, COUNTED, "How many visits are there in each ward of the visits?"),
    (said.FOREIGN, OVER, "Which wards have been visits with a fee of more than 250?"),
    (said.UNSAYABLE, BOTH, "What the ward and stay days of the visits?"),
    (said.UNSAYABLE, FROM_ON, "Which wards with at least two visits?"),
    (said.UNSAYABLE, FROM_ON, "Which wards that have at least two visits?"),
    (said.UNSAYABLE, UNIQUE, "What are the different wards of the visits are?"),
    (said.UNSAYABLE, COUNTED, "How many visits did each ward?"),
    (said.UNSAYABLE, COUNTED, "Find the number of visits each ward."),
    (said.UNSAYABLE, NONE, "List the names of those patients no visits."),
    (said.UNSAYABLE, LIKE, "Which patients have a name that contains 'Li?"),
    (
        said.SAME,
        "SELECT COUNT(*) FROM visits JOIN patients ON visits.patient_id = patients.patient_id",
        "How many visits are patients?",
    ),
    (said.UNSAYABLE, COUNTED, "How many visit are there in each ward?"),
    (said.UNSAYABLE, COUNTED, "How many visits is there in each ward?"),
    (said.UNSAYABLE, COUNTED, "How many visits are there in each wards?"),
    (said.UNSAYABLE, BOTH, "What are the ward of the visits with their stay days?"),
    (said.UNSAYABLE, BOTH, "What is the wards and stay days of the visits?"),
    (said.UNSAYABLE, BOTH, "Show the ward and stay days of all visit"),
    (said.UNSAYABLE, BOTH, "Show the ward of a visits and the stay days"),
    (said.UNSAYABLE, TOP, "What are the wards of the three visit with the highest fee?"),
    (said.UNSAYABLE, NONE, "Names of all patients that has no visits"),
    (said.UNSAYABLE, OVER, "The ward of visits whose fee more than 250"),
    (said.UNSAYABLE, OVER, "The ward of visits where the fee more than 250"),
    (said.UNSAYABLE, BOTH, "What is ward and what are the stay days of the visits?"),
    (said.UNSAYABLE, OVER, "What is the ward of visit which has a fee of more than 250?"),
    (said.UNSAYABLE, OVER, "What is the ward for that have visits with a fee of more than 250?"),
    (said.UNSAYABLE, BOTH, "Tell me which of the ward and stay days of visits"),
    (said.UNSAYABLE, BOTH, "Show the stay days and the ward visits"),
    (said.UNSAYABLE, BOTH, "What is the ward, and what the stay days, of the visits?"),
    (said.UNSAYABLE, BOTH, "Show the ward and the stay days of the visit"),
    (said.UNSAYABLE, COUNTED, "How many visits are there in each ward of them?"),
    (said.UNSAYABLE, OVER, "The ward of visits whose fee are more than 250"),
    (said.UNSAYABLE, OVER, "The ward of the visits which has a fee of more than 250"),
    (said.UNSAYABLE, BOTH, "What are the ward and stay days of our visit?"),
    (said.UNSAYABLE, BOTH, "Show the ward and the stay in days of the visits"),
    (said.UNSAYABLE, OVER, "The ward who has visits with a fee of more than 250"),
    (said.UNSAYABLE, FROM_ON, "Which wards have 2 visit or more?"),
    (said.UNSAYABLE, OVER, "The ward of visits with an corresponding fee of more than 250"),
    (said.UNSAYABLE, OVER, "The ward of visits of their fee of more than 250"),
    (said.UNSAYABLE, OVER, "The ward to all visits with a fee of more than 250"),
    (said.UNSAYABLE, BOTH, "What is the stay days of the visit, and the ward?"),
    (
        said.UNSAYABLE,
        COUNTED,
        "How many visits does the ward are there?",
    ),
    (said.UNSAYABLE, LIKE, "Which patients does 'Li' have whose name contains it?"),
    (said.UNSAYABLE, OVER, "Who is the ward of the visits with a fee of more than 250?"),
    (said.UNSAYABLE, OVER, "The wards that visits with a fee of more than 250 have"),
    (said.UNSAYABLE, OVER, "The ward of visits whose fee has more than 250"),
    (said.UNSAYABLE, SORTED, "Names in descending order of the patients and by birth year"),
    (said.UNSAYABLE, OVER, "Show me a list of the ward of visits with a fee of more than 250"),
    (said.UNSAYABLE, OVER, "The ward of which visits are more than the fee of 250"),
    (said.UNSAYABLE, BOTH, "Show the ward and the stay days of all about visit"),
    (said.UNSAYABLE, BOTH, "Show the ward stay days of the visits"),
    (said.UNSAYABLE, BOTH, "Show the visits ward and the stay days"),
    (said.UNSAYABLE, SORTED, "List the names of all patients sorted and ordered by birth year descending"),
    (said.UNSAYABLE, SORTED, "List the names of all patients by birth year, the highest ones to the lowest"),
    (said.UNSAYABLE, LIKE, "Which patients have a containing 'Li' name?"),
    (said.UNSAYABLE, COUNTED, "How many visits are there on each ward?"),
    (said.UNSAYABLE, LIKE, "Which patients have a name contains 'Li'?"),
    (said.FOREIGN, BOTH, "Show the names of the ward and the stay days of the visits"),
    (said.SIGNS, OVER, "In which ward are visits with a fee of less than 250?"),
    (said.SIGNS, OVER, "In which ward are visits with a fee of at least 250?"),
    (said.SIGNS, OVER, "In which ward are visits with a fee of 250?"),
    (said.SIGNS, FROM_ON, "Which wards have more than 2 visits?"),
    (said.SIGNS, COUNTED, "Show the visits in each ward."),
    (said.SIGNS, SORTED, "List the names of all patients by birth year in ascending order"),
    (said.SIGNS, SORTED, "List the names and birth years of all patients"),
    (said.SIGNS, TOP, "What are the wards of the 3 visits with the lowest fee?"),
    (said.SIGNS, TOP, "What are the wards of 3 visits with a fee?"),
    (said.SIGNS, NONE, "Names of patients that have visits"),
    (said.SIGNS, LIKE, "Which patients have the name 'Li'?"),
    (said.SIGNS, LIKE, "Which patients have a name that starts with 'Li'?"),
    (said.SIGNS, EXTREMES, "Find the maximum fee of the visits."),
    (said.SIGNS, EXTREMES, "Find the highest and maximum, and the lowest fee of the visits."),
    (said.SIGNS, EXTREMES, "Find the maximum, minimum and average fee of the visits."),
    (said.SIGNS, UNIQUE, "What are the wards of the visits?"),
    (said.SIGNS, BOTH, "Show the distinct wards and stay days of the visits"),
    (said.SIGNS, BOTH, "Show the ward and stay days of the visits in ascending order"),
    (said.SIGNS, BOTH, "Show the ward or stay days of the visits"),
]
"""Why a wording is not kept, its query, and the wording."""


class Ward:
    """A source of one query, whose ways to ask are alike but for an odd one."""

    db_id = "ward"
    schema: Schema = SCHEMA

    def __init__(self, sql: str = SQL) -> None:
        self.sql = sql

    def draw(self, seed: str) -> Draft:
        return Draft("Ages", self.sql, seed, lambda rng: rng.choice((*USUAL, ODD)))

    def trials(self, draft: Draft) -> Iterator[Trial]:
        yield Trial(draft.sql, lambda sql: [(1,)])


def embed(sentences: Sequence[str]) -> NDArray[np.float64]:
    """What has more words in common is nearer."""
    words = sorted({word for one in (*USUAL, ODD) for word in one.lower().split()})
    return np.array([[word in one.lower().split() for word in words] for one in sentences], dtype=np.float64)


def test_what_most_wordings_say_is_asked_first_and_the_odd_one_not() -> None:
    for seed in range(5):
        draft = RewordedSource(Ward(), embed, None, wordings=30).draw(str(seed))
        asked = [draft.ask(random.Random(seed)) for _ in range(3)]
        assert asked[0] in USUAL
        assert len(set(asked)) == 3


def test_the_same_seeds_ask_the_same_questions() -> None:
    source = RewordedSource(Ward(), embed, make_model().over(SCHEMA), wordings=3)
    one, again = (source.draw("7").ask(random.Random(3)) for _ in range(2))
    assert one == again


class Parrot:
    """A reverse model that says what it was taught."""

    def __init__(self, *questions: str) -> None:
        self.taught = questions

    def questions(self, programs: Sequence[Program], n: int, **options: object) -> list[list[str]]:
        return [list(self.taught)]


def test_only_wordings_of_the_reverse_model_that_the_guard_keeps_are_offered() -> None:
    heard: list[str] = []

    def listen(sentences: Sequence[str]) -> NDArray[np.float64]:
        heard.extend(sentences)
        return embed(sentences)

    parrot = Parrot(
        "What is the age of patients of gender f?", "What is the age of patients of that gender?", ""
    )
    RewordedSource(Ward(), listen, parrot, wordings=4).draw("1").ask(random.Random(1))  # type: ignore[arg-type]
    assert [one for one in heard if one not in (*USUAL, ODD)] == [parrot.taught[0]]
    assert set(heard) & set(USUAL)


def fault_of(question: str, sql: str, own: Sequence[str] = ()) -> str | None:
    return said.fault(question, parse_query(sql), CLINIC, own)


@pytest.mark.parametrize(("sql", "question"), KEPT)
def test_what_says_its_query_is_kept(sql: str, question: str) -> None:
    assert fault_of(question, sql) is None


@pytest.mark.parametrize(("why", "sql", "question"), FAULTS)
def test_what_says_more_or_less_or_otherwise_is_not_kept(why: str, sql: str, question: str) -> None:
    assert fault_of(question, sql) == why


@pytest.mark.parametrize(
    ("kind", "sql", "question"),
    [
        ("how many risk factor are there", COUNTED, "how many visit are there in each ward?"),
        ("what are the status", BOTH, "what are the ward of the visits?"),
        ("for each customers", COUNTED, "the number of visits in each wards"),
        ("how many customers has", COUNTED, "how many visits has each ward?"),
        ("whose details is", OVER, "the ward of visits whose fee are over _"),
        ("customers who has", NONE, "names of patients who has no visits"),
        ("what is address of the patient", OVER, "what is ward of the visits with a fee over _?"),
        ("the code of procedure which", OVER, "the ward of visit which has a fee over _"),
        ("wards for that have visits", OVER, "the ward for that have visits with a fee over _"),
        ("which of the patient", BOTH, "tell me which of the ward and stay days of the visits"),
        ("the care plan key plans", BOTH, "show the stay days and the ward visits"),
        ("dorms that are not F gender", LIKE, "patients that have a _ name"),
        ("tracks that are in id 3", OF_ID, "the wards of visits in patient id _"),
        ("the complaints of their compensation", BOTH, "the visits of their ward and stay days"),
        ("the room to all appointments", BOTH, "the ward and stay days to all visits"),
        (
            "the claim ids and the corresponding claim ids",
            LIKE,
            "the names and the corresponding names of patients",
        ),
        ("have a name contains", LIKE, "which patients have a name contains _?"),
        (
            "departments are less than the average",
            OVER,
            "the ward of which visits are more than the fee of _",
        ),
        ("which building is the most departments", COUNTED, "which ward is the most visits?"),
        ("does the least echoes have", COUNTED, "which ward does the most visits have?"),
        ("which cover has the least 3 patients", TOP, "the wards with the most 3 visits by fee"),
        ("the waiting on entry 4009", BOTH, "the ward and the stay in days of the visits"),
        ("more than three actions on them", COUNTED, "how many visits are there in each ward of them?"),
        ("does Harrison have", LIKE, "which name does _ have among patients?"),
        ("the event types that cost two", COUNTED, "the wards that visits have"),
        ("whose amount of claims has more than", OVER, "the ward of visits whose fee has more than _"),
        ("how many departments does the name are", COUNTED, "how many visits does the ward are there?"),
        ("who is the urgency", OVER, "who is the ward of visits with a fee over _?"),
        ("in descending order of the transfers", SORTED, "the names in descending order of the patients"),
        ("ordered, sorted by", SORTED, "names of patients ordered, sorted by birth year descending"),
        ("what is the title of the courses", BOTH, "what is the ward and the stay days of the visits?"),
        ("the title of the course", BOTH, "the ward and the stay days of the visit"),
        ("an corresponding", OVER, "the ward of visits with an corresponding fee over _"),
        ("the number of lives in", LIVING, "the number of lives in"),
        ("the student who has the most students", COUNTED, "the visits with the most visits for each ward"),
    ],
)
def test_what_is_no_sentence_is_told_by_its_kind(kind: str, sql: str, question: str) -> None:
    schema = LODGING if sql is LIVING else CLINIC
    tree = parse_query(sql)
    assert kind in breaches(question, said.names_of(tree, schema).counted, tree)


def test_every_kind_is_shown() -> None:
    (mark,) = test_what_is_no_sentence_is_told_by_its_kind.pytestmark  # type: ignore[attr-defined]
    assert {kind for kind, _, _ in mark.args[1]} == KINDS


def test_what_reads_well_is_of_no_kind() -> None:
    for sql, question in KEPT:
        tree = parse_query(sql)
        text = question.casefold().replace("'li'", "_")
        assert breaches(text, said.names_of(tree, CLINIC).counted, tree) == ()


def test_rows_are_not_compared_with_themselves() -> None:
    own = ["The ward of the visits with the highest number of visits"]
    sql = "SELECT visits.ward FROM visits GROUP BY visits.ward ORDER BY COUNT(*) DESC LIMIT 1"
    assert fault_of("Which ward has the most visits?", sql, own) is None
    assert fault_of("What is the ward of the visits with the most visits?", sql, own) == said.UNSAYABLE


def test_two_columns_of_one_name_are_not_told_apart_by_and() -> None:
    joined = "patients JOIN visits ON visits.patient_id = patients.patient_id"
    sql = f"SELECT patients.patient_id, visits.patient_id FROM {joined}"
    own = ["The patient ids of patients, and the patient ids of their visits"]
    question = "What are the patient ids of patients and the corresponding patient ids of the visits?"
    assert fault_of(question, sql, own) is None
    assert fault_of(question.replace("of patients ", ""), sql, own) == said.UNSAYABLE


def test_a_column_is_not_said_oftener_than_the_query_has_it() -> None:
    sql = "SELECT visits.visit_id FROM visits WHERE visits.patient_id = 3"
    own = ["The visit id of the visits whose patient id is 3"]
    assert fault_of("What is the visit id of the visit with the patient id 3?", sql, own) is None
    assert fault_of("What is the visit id of the visit with the id 3?", sql, own) == said.UNSAYABLE


def test_a_value_is_not_said_twice() -> None:
    own = ["Patients whose name contains 'Li Ming'"]
    sql = LIKE.replace("Li", "Li Ming")
    assert fault_of("Which patients have a name that contains 'Li Ming'?", sql, own) is None
    assert fault_of("Which patients have a name that contains 'Li Ming'? ming", sql, own) == said.FOREIGN


def test_words_of_the_grammars_wordings_are_the_querys_own() -> None:
    sql = "SELECT AVG(visits.fee) FROM visits"
    question = "What is the average fee of a consultation visit?"
    assert fault_of(question, sql) == said.FOREIGN
    assert fault_of(question, sql, ["The mean fee of each consultation visit"]) is None


def test_verbs_of_the_grammars_wordings_are_verbs() -> None:
    sql = "SELECT patients.name FROM patients JOIN visits ON visits.patient_id = patients.patient_id WHERE visits.fee > 250"
    question = "Which patients paid a fee of more than 250 for visits? Give the name."
    own = ["The names of patients who paid a fee above 250 for visits", "Patients that paid more than 250"]
    assert fault_of(question, sql, own) is None
    assert fault_of(question.replace("paid", "with"), sql, own) == said.UNSAYABLE


def test_a_name_at_the_end_is_no_verb_that_hangs() -> None:
    stays = Schema.from_ddl("CREATE TABLE stays (stay_id INTEGER PRIMARY KEY, start TEXT, has_end TEXT)")
    sql = "SELECT stays.has_end, stays.start FROM stays"
    question = "Show the has end of all stays and their start"
    assert said.fault(question, parse_query(sql), stays, []) is None
    assert said.fault(f"{question} is", parse_query(sql), stays, []) == said.UNSAYABLE


def test_a_name_may_come_as_often_as_the_query_has_it() -> None:
    sql = "SELECT visits.ward FROM visits WHERE visits.ward LIKE '%ward 3%'"
    assert fault_of("Which ward of the visits is a ward that contains ward 3?", sql) is None
    once = "SELECT visits.fee FROM visits WHERE visits.ward LIKE '%ward 3%'"
    assert fault_of("Fees of the visits whose ward is a ward that contains ward 3", once) == said.REPEATED


@pytest.mark.parametrize(
    ("sql", "other"),
    [
        ("SELECT visits.ward, visits.fee FROM visits", "SELECT visits.ward FROM visits"),
        ("SELECT MAX(visits.fee) FROM visits", "SELECT MIN(visits.fee) FROM visits"),
        (
            "SELECT visits.ward FROM visits WHERE visits.fee > 3",
            "SELECT visits.ward FROM visits WHERE visits.fee < 3",
        ),
        (
            "SELECT visits.ward FROM visits WHERE visits.fee > 3",
            "SELECT visits.ward, visits.fee FROM visits WHERE visits.fee > 3",
        ),
        ("SELECT visits.ward FROM visits WHERE visits.fee > 3", "SELECT visits.ward FROM visits"),
        (
            "SELECT visits.ward FROM visits ORDER BY visits.fee",
            "SELECT visits.ward, visits.fee FROM visits ORDER BY visits.fee",
        ),
        (
            "SELECT visits.ward FROM visits ORDER BY visits.fee DESC LIMIT 3",
            "SELECT visits.ward FROM visits ORDER BY visits.fee ASC LIMIT 3",
        ),
        (
            "SELECT visits.ward FROM visits JOIN patients ON visits.patient_id = patients.patient_id",
            "SELECT visits.ward FROM visits",
        ),
        (
            "SELECT patients.name FROM patients WHERE NOT patients.patient_id IN (SELECT visits.patient_id FROM visits)",
            "SELECT patients.name FROM patients WHERE patients.patient_id IN (SELECT visits.patient_id FROM visits)",
        ),
        ("SELECT visits.fee FROM visits", "SELECT visits.patient_id FROM visits"),
    ],
)
def test_a_query_has_each_that_differs_in_one_thing_beside_it(sql: str, other: str) -> None:
    def programs(one: str) -> set[Program]:
        found = set()
        for tree in neighbours(parse_query(one), CLINIC):
            with contextlib.suppress(ConversionError):
                found.add(sql_to_program(tree.sql("sqlite"), CLINIC))
        return found

    assert sql_to_program(other, CLINIC) in programs(sql)


FEES = "SELECT MAX(visits.fee) FROM visits"
ASKED = "What is the highest fee of the visits?"


@pytest.mark.parametrize(
    "likelier", [FEES, "SELECT MIN(visits.fee) FROM visits", "SELECT visits.fee FROM visits"]
)
def test_what_is_likelier_for_a_neighbour_is_not_kept(likelier: str) -> None:
    best = sql_to_program(likelier, CLINIC)

    def judge(question: str, programs: Sequence[Program]) -> NDArray[np.float64]:
        return np.array([-1.0 if one == best else -2.0 for one in programs])

    kept = Guard(CLINIC, judge).fault(ASKED, parse_query(FEES), sql_to_program(FEES, CLINIC), [])
    assert kept == (None if likelier == FEES else NEIGHBOUR)


def test_neighbours_that_cannot_be_weighed_are_passed_over_and_a_query_that_cannot_is_not_kept() -> None:
    meant = sql_to_program(FEES, CLINIC)
    for own, kept in ((-1.0, None), (np.nan, NEIGHBOUR)):
        guard = Guard(CLINIC, lambda _, programs, own=own: np.array([own, *[np.nan] * (len(programs) - 1)]))  # type: ignore[misc]
        assert guard.fault(ASKED, parse_query(FEES), meant, []) == kept


@pytest.mark.parametrize(
    ("best", "kept"),
    [
        ("SELECT max(v.fee) FROM visits AS v", True),
        ("SELECT MIN(visits.fee) FROM visits", False),
        ("SELECT RANDOMBLOB(4) FROM visits", False),
        (None, False),
    ],
)
def test_what_a_parser_reads_as_another_query_is_not_kept(best: str | None, kept: bool) -> None:
    guard = Guard(CLINIC, parse=lambda question: best)
    found = guard.fault(ASKED, parse_query(FEES), sql_to_program(FEES, CLINIC), [])
    assert found == (None if kept else PARSED)


def test_words_are_read_before_anything_is_weighed_or_parsed() -> None:
    def judge(question: str, programs: Sequence[Program]) -> NDArray[np.float64]:
        raise AssertionError(question)

    guard = Guard(CLINIC, judge)
    assert (
        guard.fault("What is the lowest fee?", parse_query(FEES), sql_to_program(FEES, CLINIC), [])
        == said.NAME
    )


def test_a_query_that_the_grammar_lacks_keeps_its_own_wordings() -> None:
    source = RewordedSource(Ward("SELECT RANDOMBLOB(4) FROM patients"), embed, make_model().over(SCHEMA))
    assert source.draw("1").ask(random.Random(1)) in (*USUAL, ODD)


@pytest.mark.parametrize("wordings", [1, 2])
def test_a_query_gets_as_many_questions_as_are_asked_for(wordings: int) -> None:
    pairs = generate_drawn(RewordedSource(Ward(), embed, None, wordings=30), 5, wordings=wordings)
    assert [pair.sql for pair in pairs] == [SQL] * wordings
    assert len({pair.question for pair in pairs}) == wordings


PAIR = Example("1", "ward", USUAL[0], SQL)


def test_a_pair_whose_query_comes_back_in_other_words_passes() -> None:
    (pair,) = with_round_trip(
        [PAIR], lambda question: "select p.age from patients as p where 'f' = p.gender", SCHEMA
    )
    assert pair.extra[FLAG] is True
    assert came_back(pair)
    assert replace(pair, extra={}) == PAIR


@pytest.mark.parametrize(
    "best", [None, "SELECT patients.age FROM patients", "SELECT age FROM", "DROP TABLE patients"]
)
def test_a_pair_whose_query_does_not_come_back_is_marked(best: str | None) -> None:
    (pair,) = with_round_trip([PAIR], lambda question: best, SCHEMA)
    assert pair.extra[FLAG] is False
    assert not came_back(pair)


def test_a_question_without_an_answer_is_not_parsed() -> None:
    def parse(question: str) -> str:
        raise AssertionError(question)

    (pair,) = with_round_trip([replace(PAIR, sql=None)], parse, SCHEMA)
    assert came_back(pair)
    assert FLAG not in pair.extra
