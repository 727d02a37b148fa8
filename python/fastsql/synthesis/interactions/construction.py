"""Interactions out of single questions: EHR-SeqSQL's construction (section 3, appendix A), over any schema.

A question's query is taken apart, each turn is asked by templates, and the interaction is kept if its answer is that of the
single question. Some go on behind it (`following.py`). What is taken apart by nesting alone, and by clauses, too, makes half
of the interactions each.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from fastsql.grammar import ConversionError, GroundingError, IllegalActionError, load_grammar, sql_to_program
from fastsql.grammar import Turn as GrammarTurn
from fastsql.grammar.program import Program
from fastsql.grammar.render import render
from fastsql.grammar.turn_kinds import kinds_of
from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis.generate import Report
from fastsql.synthesis.interactions.checks import Checker, TurnError
from fastsql.synthesis.interactions.decompose import Steps, decompose
from fastsql.synthesis.interactions.following import follow, known_values
from fastsql.synthesis.interactions.interaction import Interaction, Turn
from fastsql.synthesis.interactions.merging import SHARE_CLAUSES, SHARE_NESTED, merge_frequent
from fastsql.synthesis.interactions.modifying import modify
from fastsql.synthesis.interactions.splits import open_form
from fastsql.synthesis.interactions.words import Conversation
from fastsql.synthesis.schema.words import UnsayableError

WORDINGS = 5
"""How often an interaction is put into words until all its literals can be found in its questions."""
SHORTEST = 10 / 167
"""Share of the compositions that are asked at once, those of the shortest queries: the paper's ten (appendix A.1)."""
_NOTES = 10
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Goal:
    """A single question with its query."""

    id: str
    question: str
    sql: str


@dataclass(frozen=True)
class Constructed:
    """What was made; `dropped`: how many goals were not, by reason. `unequal`: those whose answer is another."""

    interactions: tuple[Interaction, ...]
    dropped: Counter[str] = field(default_factory=Counter)
    unequal: tuple[str, ...] = ()


def construct(
    goals: Sequence[Goal],
    checker: Checker,
    *,
    db_id: str,
    seed: int = 1,
    profile: Profile | None = None,
    report: Report = logger.info,
) -> Constructed:
    """Interactions of single questions over one schema, in their order; the same arguments give the same.

    Args:
        goals: the questions; those whose SQL the grammar cannot say, and those that fail a check, are counted and left out.
        checker: with the database that turns are run on; without one nothing is compared by execution.
        db_id: the database's name in what is written.
        seed: of everything random.
        profile: one of the schema that people have edited.
        report: called with lines on progress.
    """
    schema, grammar = checker.schema, load_grammar()
    dropped: Counter[str] = Counter()
    known: list[tuple[Goal, Program]] = []
    for goal in goals:
        program = _program(goal, schema)
        if program is None:
            dropped["its query is beyond the grammar"] += 1
        else:
            known.append((goal, program))
    report(f"{len(known)} of {len(goals)} questions can be taken apart")
    programs = [program for _, program in known]
    whole, values = _shortest(programs), known_values(programs, grammar)
    plans: list[list[Steps]] = []
    for clauses, share in ((False, SHARE_NESTED), (True, SHARE_CLAUSES)):
        steps = [
            (one,) if open_form(one) in whole else decompose(one, grammar, clauses=clauses)
            for one in programs
        ]
        plans.append(merge_frequent(steps, share, schema, grammar))
        report(
            f"{_mean(steps):.2f} turns by {'clauses' if clauses else 'nesting'}, {_mean(plans[-1]):.2f} merged"
        )
    made: list[Interaction] = []
    unequal: list[str] = []
    for number, (goal, program) in enumerate(known):
        rng = random.Random(f"{seed}/{goal.id}")
        several = [plan[number] for plan in plans if len(plan[number]) > 1]
        apart = modify(rng.choice(several or [plans[0][number]]), grammar, rng)
        asked = follow(apart, values, schema, grammar, rng)
        answer = len(apart) - 1
        try:
            turns, written = ask_steps(asked, checker, rng, profile)
            if not checker.answers(written[answer], goal.sql):
                unequal.append(goal.id)
                raise TurnError("its answer is not the single question's")
        except (TurnError, UnsayableError, GroundingError, IllegalActionError) as error:
            dropped[_reason(error)] += 1
        else:
            fine = decompose(program, grammar, clauses=True)
            parts = frozenset(map(open_form, fine))
            made.append(Interaction(goal.id, db_id, turns, goal.question, open_form(program), parts, answer))
        if (number + 1) % -(-len(known) // _NOTES) == 0:
            report(f"{len(made)} interactions of {number + 1} questions")
    return Constructed(tuple(made), dropped, tuple(unequal))


def _program(goal: Goal, schema: Schema) -> Program | None:
    try:
        return sql_to_program(goal.sql, schema)
    except ConversionError:
        return None


def _reason(error: Exception) -> str:
    if isinstance(error, UnsayableError):
        return f"no words for it ({error})"
    if isinstance(error, GroundingError):
        return "a literal is not found in its question" if error.literal else "a turn cannot be written"
    return str(error) if isinstance(error, TurnError) else "a turn cannot be written"


def ask_steps(
    steps: Steps, checker: Checker, rng: random.Random, profile: Profile | None, wordings: int = WORDINGS
) -> tuple[tuple[Turn, ...], tuple[Program, ...]]:
    """The turns of an interaction, and their queries with everything written out.

    Raises UnsayableError, GroundingError, IllegalActionError or TurnError for the last of so many wordings.
    """
    try:
        return _asked(steps, checker, rng, profile)
    except (GroundingError, UnsayableError):
        if wordings == 1:
            raise
    return ask_steps(steps, checker, rng, profile, wordings - 1)


def _asked(
    steps: Steps, checker: Checker, rng: random.Random, profile: Profile | None
) -> tuple[tuple[Turn, ...], tuple[Program, ...]]:
    conversation = Conversation(checker.schema, rng, profile)
    earlier: list[GrammarTurn] = []
    turns: list[Turn] = []
    for number, step in enumerate(steps):
        question = conversation.ask(step)
        earlier.append(checker.read(question, step, earlier))
        sql = render(earlier[-1].program, checker.schema)
        turns.append(Turn(question, step, sql, kinds_of(step, steps[:number])))
    checker.check_runs(earlier)
    return tuple(turns), tuple(one.program for one in earlier)


def _shortest(programs: Sequence[Program]) -> frozenset[str]:
    """The compositions of the shortest queries."""
    known = {open_form(one): len(one) for one in programs}
    shortest = sorted(known, key=lambda one: (known[one], one))
    return frozenset(shortest[: round(SHORTEST * len(known))])


def _mean(interactions: Sequence[Steps]) -> float:
    return sum(map(len, interactions)) / max(1, len(interactions))
