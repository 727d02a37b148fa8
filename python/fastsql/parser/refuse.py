"""After the last stage, where there is no answer: what is missing, and what would help.

Only refusals come here, so it costs an answer nothing. What is said rests on the question, the schema, the dictionary that
the caller gave, and what an inspector found; no database is asked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from fastsql.engine import Engine
from fastsql.grammar.grounding import NO_GROUNDS
from fastsql.grammar.program import Program
from fastsql.parser.assess import Assessed
from fastsql.parser.decide import UNLIKELY, accounted, spans_of
from fastsql.parser.write import program_of
from fastsql.refusal.contradictions import Contradiction
from fastsql.refusal.describe import describe
from fastsql.refusal.lookups import LookUp
from fastsql.refusal.suggestions import BestGuess, SeveralReadings, Span, Suggestion, UnknownValue
from fastsql.refusal.texts import language_of, sentence
from fastsql.refusal.values import Values, absent_values, is_misspelt, mended
from fastsql.refusal.words import Missing, missing_words, unknown_words
from fastsql.reliability.names import names_of
from fastsql.result import Result

GUESSED = 0.2
"""The confidence from which the best hypothesis may be what was meant."""
RIVAL = 1 / 3
"""The share of the best hypothesis's probability from which another is a reading of its own."""
_MOST_READINGS = 3
_SURE = 0.5
"""The probability of a hypothesis from which no other is likelier."""


@dataclass(frozen=True)
class _Free:
    """What the model says where literals need not exist; `sure` where it is likelier than all else together."""

    program: Program
    sure: bool


def explain_refusal(result: Result, assessed: Assessed, engine: Engine, beam: int) -> Result:
    """The refusal with suggestions, and the first thing that is missing as its reason."""
    if assessed.written.fault or not assessed.reliability.calibrated:
        return result  # there is no hypothesis to speak of, or no probability to go by
    language = language_of(result.question)
    free = _free(assessed, engine, beam)
    values, words = _missing(assessed, free, language)
    schema = assessed.written.schema
    told = unknown_words(words, language)
    # Where the hypothesis is a guess, or a word is missing, what was looked up may never have been meant.
    vain: tuple[LookUp | Contradiction, ...] = (*assessed.absent, *assessed.contradictions)
    meant = vain if told is None and free.sure else ()
    absent = tuple(said for one in meant if (said := one.told(schema, language)) is not None)
    missing: tuple[Suggestion, ...] = (*absent, *values, *(() if told is None else (told,)))
    guess = _guess(assessed, free, values, language) if told is None and not absent else None
    return replace(
        result,
        reason=missing[0].text if missing and not assessed.refusal else result.reason,
        suggestions=(*missing, *(() if guess is None else (guess,))),
    )


def _free(assessed: Assessed, engine: Engine, beam: int) -> _Free:
    linked, decoded = assessed.written.linked, assessed.written.decoded
    # A second opinion may have put another first: no other is likelier than the likeliest.
    sure = math.exp(max(one.score for one in decoded.search.finished)) >= _SURE
    if not sure and linked.space.grounds.columns:
        linked = replace(linked, space=replace(linked.space, grounds=NO_GROUNDS))
        decoded = engine.decode(linked.prepared, linked.schema, linked.space, beam)
        sure = math.exp(decoded.search.finished[0].score) >= _SURE
    return _Free(program_of(linked, decoded), sure)


def _missing(
    assessed: Assessed, free: _Free, language: str
) -> tuple[tuple[UnknownValue, ...], tuple[Missing, ...]]:
    """Values that do not exist but are written like others, and words that nothing is called.

    Where the question may well have an answer in the schema, only what was taken for a value can be missing.
    """
    linked, schema = assessed.written.linked, assessed.written.schema
    dictionary, familiarity = linked.dictionary, assessed.reliability.familiarity
    known = None if dictionary is None else Values(dictionary, schema, language)
    absent = () if dictionary is None else absent_values(free.program, dictionary)
    values = [] if known is None else [known.unknown(one, sure=free.sure) for one in absent]
    told = [value for value in values if value is not None]
    spans = [*spans_of(assessed.links), *accounted(linked), *(value.span for value in told)]
    words = []
    for one in missing_words(linked.question, spans, names_of(linked.schema.links).words, familiarity):
        if assessed.unanswerable < UNLIKELY and not any(_overlap(one.span, other.span) for other in absent):
            continue
        if known is not None and known.known(one.words):
            continue
        slip = None if known is None else known.misspelt(one.words, one.span)
        if slip is None:
            words.append(one)
        else:
            told.append(slip)
    return tuple(told), tuple(words)


def _guess(
    assessed: Assessed, free: _Free, values: tuple[UnknownValue, ...], language: str
) -> BestGuess | SeveralReadings | None:
    """What was meant with the nearest values in place of unknown ones; where all is known, what is likely to be meant."""
    schema = assessed.written.schema
    if values:
        if not all(is_misspelt(value) for value in values):
            return None
        told = [describe(mended(free.program, values), schema, language)]
    elif assessed.confidence >= GUESSED:
        told = [describe(program, schema, language) for program in _likely(assessed)]
    else:
        return None
    readings = tuple(dict.fromkeys(description for description in told if description is not None))
    if not readings or told[0] is None:
        return None
    if len(readings) > 1:
        told_apart = sentence(language, "between readings").join(readings)
        return SeveralReadings(sentence(language, "readings", descriptions=told_apart), readings)
    return BestGuess(sentence(language, "guess", description=readings[0]), readings[0])


def _likely(assessed: Assessed) -> list[Program]:
    """The best hypothesis, and those that are nearly as likely."""
    written = assessed.written
    finished = written.decoded.search.finished
    least = finished[written.number].score + math.log(RIVAL)
    rivals = [number for number in written.others if finished[number].score >= least]
    return [
        written.program,
        *(program_of(written.linked, written.decoded, number) for number in rivals[: _MOST_READINGS - 1]),
    ]


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
