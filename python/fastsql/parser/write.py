"""The third stage, after decoding: a finished hypothesis as a program and as SQL, verified by means of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from fastsql.engine import Decoded
from fastsql.errors import DialectError, VerificationError
from fastsql.grammar import read_path, render
from fastsql.grammar.compared import DURATIONS, PARTS_OF_TIMES
from fastsql.grammar.inlining import count_part, count_shown, inline, turns_of
from fastsql.grammar.program import EARLIER, Literal, Production, Program
from fastsql.limits import Limits
from fastsql.linking.canonical import canonical_literals
from fastsql.linking.vocabulary import chinese, english
from fastsql.parser.as_said import as_said, denied_once
from fastsql.parser.link import Linked, called_turns
from fastsql.parser.senseless import says_nothing
from fastsql.refusal.texts import language_of, sentence
from fastsql.result import Remembered
from fastsql.schema import Schema
from fastsql.verification.verify import verify

if TYPE_CHECKING:
    from fastsql.session.turn import Turn


_ONE_VALUE, _LIMIT, _YEAR_OF = map(Production, ("scalar", "limit", "year_of"))
_LISTED = re.compile(
    rf"(?<![A-Za-z])(?:{'|'.join((*english.OR, *english.AND))})(?![A-Za-z])|{'|'.join((*chinese.OR, *chinese.AND))}",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"(?<![A-Za-z])(?:this|last|past|previous|current|yesterday)(?![A-Za-z])|[今去前本上昨近这当]|过去",
    re.IGNORECASE,
)
"""What every wording of a period that is told from now has."""
_AGES = re.compile(rf"未成年|{chinese.BORN_IN}")
"""The same of ages that are no numbers."""
_BOUND = re.compile(rf"{'|'.join(map(re.escape, chinese.BOUNDS))}|以[上下]")
_PARTS_OF_TIMES, _DURATIONS = (frozenset(map(Production, names)) for names in (PARTS_OF_TIMES, DURATIONS))


@dataclass(frozen=True, eq=False)
class Written:
    """A finished hypothesis, by its `number` in the beam, as a program and as SQL.

    `own` is what the question says itself, with references to earlier turns, which `program` has written out. `fault` is why
    the independent verifier rejects it, "" where it does not or was not asked. `remembered` is the remembered pair that
    speaks for it.
    """

    linked: Linked
    decoded: Decoded
    number: int
    program: Program
    own: Program
    sql: str
    dialect: str
    now: str | None
    fault: str = ""
    remembered: Remembered | None = None

    @property
    def schema(self) -> Schema:
        """That of the query."""
        return self.linked.space.schema

    @property
    def uses(self) -> tuple[Turn, ...]:
        """The earlier turns that it refers to, or takes a value from: the latest that has it."""
        turns, told = self.linked.turns or (), self.linked.prepared.turns
        taken = [item.value for item in self.own if isinstance(item, Literal) and item.provenance == EARLIER]
        latest = len(told) - 1
        places = {max((n for n, one in enumerate(told) if one.has(value)), default=latest) for value in taken}
        return tuple(turns[place] for place in sorted(places | turns_of(self.own)))

    @property
    def others(self) -> list[int]:
        """The numbers of the other finished hypotheses, best first."""
        return [number for number in range(len(self.decoded.search.finished)) if number != self.number]

    def other(self, number: int) -> Written:
        """Another hypothesis of the same beam. Raises DialectError: the dialect has no words for it."""
        return write(self.linked, self.decoded, number, dialect=self.dialect, now=self.now)


def write(
    linked: Linked, decoded: Decoded, number: int = 0, *, dialect: str = "sqlite", now: str | None = None
) -> Written:
    """Read a hypothesis as a program, and render it. Raises DialectError: the dialect has no words for it."""
    own = own_program(linked, decoded, number)
    program = _written_out(own, linked)
    sql = render(program, linked.space.schema, dialect=dialect, now=now)
    return Written(linked, decoded, number, program, own if turns_of(own) else program, sql, dialect, now)


def program_of(linked: Linked, decoded: Decoded, number: int = 0) -> Program:
    """A finished hypothesis as a program without turns, literals in the letter case of their columns' values."""
    return _written_out(own_program(linked, decoded, number), linked)


def sensible_first(linked: Linked, decoded: Decoded) -> Decoded:
    """The hypotheses; last come those that leave out a turn which the question calls by its number, that refer to none where
    it speaks of "those", or that say nothing.
    """
    space = linked.space
    places: set[int] = set()
    must_refer = False
    if space.turns:
        from fastsql.refusal.references import points_back  # for conversations

        called = [turn for turn in called_turns(linked) if turn.usable]
        places = {place for place, turn in enumerate(linked.turns or ()) if turn in called}
        must_refer = points_back(linked.question)

    def lacks(number: int) -> bool:
        own = own_program(linked, decoded, number)
        if not places <= turns_of(own) or (must_refer and not _refers(own)):
            return True
        return says_nothing(own, space.schema, space.grammar)

    if not places and not lacks(0):
        return decoded
    finished = decoded.search.finished
    ordered = sorted(range(len(finished)), key=lacks)
    return replace(
        decoded, search=replace(decoded.search, finished=tuple(finished[number] for number in ordered))
    )


def _refers(own: Program) -> bool:
    """Whether a program goes on from an earlier turn, or takes a value from one."""
    return bool(turns_of(own)) or any(isinstance(one, Literal) and one.provenance == EARLIER for one in own)


def own_program(linked: Linked, decoded: Decoded, number: int) -> Program:
    """A finished hypothesis as the question says it, with references to earlier turns."""
    path, programs = decoded.search.finished[number].path, linked.programs
    if path not in programs:
        read = read_path(path, linked.space)
        own = _as_asked(read, linked)
        if own != read:
            from fastsql.grammar.tree import is_program  # where the question says it otherwise

            own = own if is_program(own, linked.space.grammar) else read
        if linked.space.turns:
            own = _going_on(own, linked)
        programs[path] = own
    return programs[path]


def _going_on(own: Program, linked: Linked) -> Program:
    """The program; what it goes on from is what the conversation came to, and stays so but for what the question changes."""
    from fastsql.grammar.replacing import replace_contradicted  # for conversations
    from fastsql.parser.latest import of_latest
    from fastsql.refusal.references import adds, counts_a_part, goes_back, names_more

    grammar, turns = linked.space.grammar, linked.space.turns

    def has_room(program: Program) -> bool:
        """Whether it is within the bounds together with all of the turn that it goes on from."""
        longest = linked.space.limits.actions - len(program)
        return all(turns[place].actions <= longest for place in turns_of(program))

    latest, back = own, goes_back(linked.question) or bool(called_turns(linked))
    if not back:
        found = of_latest(own, linked.turns or (), grammar)
        latest = found if has_room(found) else own
    own = replace_contradicted(
        latest,
        turns,
        grammar,
        besides=adds(linked.question),
        whole=not back and has_room(latest),
        moved=latest != own,
    )
    if names_more(linked.question):
        from fastsql.grammar.showing import beside_names

        own = beside_names(
            own, turns, linked.space.schema, grammar, partial(_names_of_rows, linked.space.schema)
        )
    if counts_a_part(linked.question):
        own = count_part(own, turns)
    return count_shown(own, turns)


def _names_of_rows(schema: Schema, table: int) -> set[int]:
    """The columns that tell the rows of a table apart, for a database and for people."""
    said = schema.profile.tables[table].row
    own = schema.tables[table]
    return {*own.primary_key, *(column for column in own.columns if schema.columns[column].name in said)}


def _as_asked(own: Program, linked: Linked) -> Program:
    """The program; its comparisons and bounds, alternatives, dates, periods and ages, order in time and units of durations
    are those that the question plainly says.
    """
    if linked.as_written:
        return own
    question, schema = linked.question, linked.space.schema
    own = as_said(denied_once(own, question, schema), question)
    if _LISTED.search(question):
        from fastsql.parser.alternatives import with_alternatives  # where there may be some

        own = with_alternatives(own, question, linked.prepared.candidates)
    if _NOW.search(question) and linked.periods:
        from fastsql.parser.periods import periods_as_said  # where a period may be told from now

        own = periods_as_said(own, question, linked.periods, schema, linked.space.grammar)
    if _AGES.search(question) or _YEAR_OF in own:
        from fastsql.parser.ages import ages_as_said  # where some age may be meant

        own = ages_as_said(own, question, schema, linked.space.grammar)
    if any(isinstance(item, Literal) and item.format for item in own):
        from fastsql.parser.granularity import at_its_granularity  # where dates are compared
        from fastsql.parser.ranges import with_ranges

        own = at_its_granularity(with_ranges(own, question, linked.prepared.candidates), schema, question)
    if _BOUND.search(question):
        from fastsql.parser.ranges import with_bounds  # where two may be set

        own = with_bounds(own, question, linked.prepared.candidates, linked.space.grammar)
    if not _PARTS_OF_TIMES.isdisjoint(own):
        from fastsql.parser.granularity import with_parts_as_text  # where a part of a time is taken

        own = with_parts_as_text(own, question)
    if _LIMIT in own:
        from fastsql.parser.said_order import ordered_as_said  # where the first of some are asked for

        own = ordered_as_said(own, schema, question)
    if not _DURATIONS.isdisjoint(own):
        from fastsql.parser.durations import in_said_unit  # where time between two moments is asked for

        own = in_said_unit(own, question)
    return own


def _written_out(own: Program, linked: Linked) -> Program:
    space = linked.space
    program = inline(own, space.turns, space.schema, space.grammar)
    if _ONE_VALUE in program:
        from fastsql.grammar.several import among_several  # where one value is compared with

        program = among_several(program, space.grammar)
    return canonical_literals(program, space.schema, linked.dictionary)


def verified(written: Written, limits: Limits) -> Written:
    """The same with the verifier's verdict."""
    try:
        verify(written.sql, written.schema, dialect=written.dialect, limits=limits)
    except VerificationError as error:
        language = language_of(written.linked.question)
        return replace(written, fault=sentence(language, "fault", what=error.what))
    return written


def runnable(first: Written, number: int, limits: Limits) -> Written | None:
    """Another hypothesis of the beam, if it passes verification and the dialect has words for it."""
    try:
        written = verified(first.other(number), limits)
    except DialectError:
        return None
    return None if written.fault else written
