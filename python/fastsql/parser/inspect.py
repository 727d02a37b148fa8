"""The fourth stage where an inspector runs the hypotheses: the one that is likeliest to be right once answers are known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from fastsql.errors import VerificationError
from fastsql.grammar.render import render, render_parts
from fastsql.limits import Limits
from fastsql.parser.assess import Assessed, assess, backed, evidence_of, standing
from fastsql.parser.write import Written, runnable
from fastsql.refusal.lookups import LookUp, look_ups
from fastsql.refusal.texts import language_of, sentence
from fastsql.reliability.assess import Reliability
from fastsql.reliability.inspection import Finding, Inspector, Rule, allies
from fastsql.verification.verify import verify


def inspect(first: Written, reliability: Reliability, inspector: Inspector, limits: Limits) -> Assessed:
    """The hypothesis to be given, `first` being the likeliest before any was run.

    Nothing is run that has not passed verification. Where no query can be run, `first` is given or refused as if nobody had
    tried, with a note that says so.
    """
    hypotheses = [None if first.fault else first, *(runnable(first, n, limits) for n in first.others)]
    language = language_of(first.linked.question)
    texts = [None if written is None else written.sql for written in hypotheses]
    asked: dict[str, LookUp] = {}
    findings = inspector.inspect(
        texts,
        lambda number: _parts(hypotheses[number], limits),
        lambda number: _look_ups(hypotheses[number], limits, asked),
    )

    def absent(finding: Finding) -> tuple[LookUp, ...]:
        return tuple(asked[sql] for sql in finding.absent)

    if inspector.rule is Rule.REFUSE:
        refusal = _refusal(findings[0], language)
        return replace(assess(first, reliability), refusal=refusal, absent=absent(findings[0]))
    best: Assessed | None = None
    for number, (written, finding) in enumerate(zip(hypotheses, findings, strict=True)):
        if written is None or finding.answer is None:
            continue
        plain, links, contradictions = evidence_of(written, reliability)
        evidence = reliability.after_inspection(
            plain,
            written.decoded.search,
            number,
            allies(findings, number),
            void=finding.void,
            hollow=finding.hollow,
        )
        found = reliability.assess(evidence, inspected=True, refers=bool(written.uses))
        if not finding.hollow and not (finding.void and contradictions):
            found = backed(found, written)
        elif written.remembered is not None and written.remembered.supplied:
            found = replace(found, confidence=0.0)  # nothing but its pair spoke for it
        looked = Assessed(
            written,
            reliability,
            links,
            standing(written, found),
            absent=absent(finding),
            contradictions=contradictions if finding.void else (),
        )
        if best is None or looked.confidence > best.confidence:
            best = looked
    if best is None:
        return replace(assess(first, reliability), note=sentence(language, "all failed"))
    return best


def _parts(written: Written | None, limits: Limits) -> Iterator[str]:
    """The queries inside one, as far as they pass verification by themselves."""
    if written is None:
        return
    for sql in render_parts(written.program, written.schema, dialect=written.dialect, now=written.now):
        with suppress(VerificationError):  # what does not pass is not run
            verify(sql, written.schema, dialect=written.dialect, limits=limits)
            yield sql


def _look_ups(written: Written | None, limits: Limits, asked: dict[str, LookUp]) -> Iterator[str]:
    """The queries for a row that holds a literal of one, put down in `asked`."""
    if written is None:
        return
    schema = written.schema
    for look_up in look_ups(written.program, schema, written.linked.dictionary):
        sql = render(look_up.program(schema), schema, dialect=written.dialect, now=written.now)
        with suppress(VerificationError):  # what does not pass is not run
            verify(sql, schema, dialect=written.dialect, limits=limits)
            asked[sql] = look_up
            yield sql


def _refusal(finding: Finding, language: str) -> str:
    if finding.failed:
        return sentence(language, "failed")
    return sentence(language, "void") if finding.void else ""
