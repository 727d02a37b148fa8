"""Which of the finished hypotheses is given, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from fastsql.decode import Hypothesis, Search
from fastsql.errors import DialectError, VerificationError
from fastsql.execution.verify import verify
from fastsql.grammar.program import Program
from fastsql.limits import Limits
from fastsql.reliability.assess import Asked, Assessment, Reliability
from fastsql.reliability.inspection import Inspector, Rule, allies
from fastsql.result import Alternative, Link
from fastsql.schema import Schema

Write = Callable[[Hypothesis], tuple[Program, str]]
Explain = Callable[[Program], tuple[Link, ...]]


@dataclass(frozen=True)
class Choice:
    """The number of a finished hypothesis with its p and u; `refusal` is a reason not to give it, "" if there is none."""

    number: int
    assessment: Assessment
    refusal: str = ""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The finished hypotheses of a search, with what it takes to write, explain and assess them."""

    search: Search
    asked: Asked
    reliability: Reliability
    write: Write
    explain: Explain

    @cached_property
    def first(self) -> tuple[Program, str]:
        """Program and SQL of the likeliest. Raises DialectError where the dialect cannot say it."""
        return self.write(self.search.finished[0])

    def written(self, number: int) -> tuple[Program, str]:
        """Program and SQL of a hypothesis. Raises DialectError."""
        return self.first if number == 0 else self.write(self.search.finished[number])

    def assess(self, number: int, program: Program, links: tuple[Link, ...]) -> Assessment:
        """The p and u of a hypothesis, `links` being what its program explains."""
        return self.reliability.assess(
            self.reliability.evidence(self.asked, self.search, number, program, links)
        )

    def inspect(self, inspector: Inspector, schema: Schema, dialect: str, limits: Limits) -> Choice:
        """The hypothesis that is likeliest to be right once answers are known.

        Nothing is run that has not passed verification.
        """
        programs: list[Program | None] = []
        queries: list[str | None] = []
        for number in range(len(self.search.finished)):
            program, sql = self._verified(number, schema, dialect, limits)
            programs.append(program)
            queries.append(sql)
        findings = inspector.inspect(queries)
        if inspector.rule is Rule.REFUSE:
            first = programs[0]
            program = first if first is not None else self.first[0]
            assessment = self.assess(0, program, self.explain(program))
            if findings[0].failed:
                return Choice(0, assessment, "The query could not be run.")
            void = "The query's answer is empty, NULL or 0." if findings[0].void else ""
            return Choice(0, assessment, void)
        best: Choice | None = None
        for number, (program, finding) in enumerate(zip(programs, findings, strict=True)):
            if program is None:
                continue
            plain = self.reliability.evidence(self.asked, self.search, number, program, self.explain(program))
            if finding.answer is None:
                continue
            same = allies(findings, number)
            evidence = self.reliability.after_inspection(plain, self.search, number, same, void=finding.void)
            assessment = self.reliability.assess(evidence, inspected=True)
            if best is None or assessment.confidence > best.assessment.confidence:
                best = Choice(number, assessment)
        return best or Choice(0, Assessment(0.0), "No candidate could be run.")

    def _verified(
        self, number: int, schema: Schema, dialect: str, limits: Limits
    ) -> tuple[Program | None, str | None]:
        try:
            program, sql = self.written(number)
        except DialectError:
            if number == 0:
                raise
            return None, None  # what the dialect cannot say is no candidate
        return (None, None) if fault_of(sql, schema, dialect, limits) else (program, sql)

    def alternatives(self, chosen: int) -> tuple[Alternative, ...]:
        """Further hypotheses as SQL, each text once."""
        seen = {self.written(chosen)[1]}
        found = []
        for number in self._others(chosen):
            try:
                program, sql = self.written(number)
            except DialectError:
                continue  # what the dialect cannot say is no alternative
            if sql not in seen:
                seen.add(sql)
                found.append(Alternative(sql, self.assess(number, program, self.explain(program)).confidence))
        return tuple(found)

    def _others(self, chosen: int) -> Iterable[int]:
        return (number for number in range(len(self.search.finished)) if number != chosen)


def fault_of(sql: str, schema: Schema, dialect: str, limits: Limits) -> str:
    """Why the independent verifier rejects the SQL; empty where it does not."""
    try:
        verify(sql, schema, dialect=dialect, limits=limits)
    except VerificationError as error:
        return f"The SQL that was written did not pass verification ({error.what})."
    return ""
