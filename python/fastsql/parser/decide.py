"""The last stage: an answer, or a refusal that says why."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fastsql.engine.stopwatch import Stopwatch
from fastsql.explanation.links import found_values
from fastsql.grammar.compared import STARTS
from fastsql.grammar.program import Production
from fastsql.linking.vocabulary import chinese, english
from fastsql.parser.assess import Assessed
from fastsql.parser.link import Linked
from fastsql.parser.write import Written
from fastsql.refusal.texts import ENGLISH, language_of, quoted, sentence
from fastsql.reliability.assess import named_tokens
from fastsql.reliability.judges import pays, threshold
from fastsql.result import Link, Result


def _any(spaced: Sequence[str], unspaced: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(spaced)})(?![^\W_])|{'|'.join(unspaced)}", re.IGNORECASE)


_UNSAID = {
    "uncomputed": _any(english.UNCOMPUTED, chinese.UNCOMPUTED),
    "no such period": _any(english.UNSAID_PERIODS, chinese.UNSAID_PERIODS),
}
"""What hardly any query of the grammar says, by the sentence that tells so."""
_SAYING = {
    "uncomputed": frozenset(),
    "no such period": frozenset(Production(of_now) for _, of_now in STARTS.values()),
}
"""What says it all the same."""
UNLIKELY = 0.5
"""The probability of having no answer from which a refusal is laid to the question, not to the SQL."""


def decide(assessed: Assessed, penalty: float, watch: Stopwatch) -> Result:
    """What is given back where a wrong answer outweighs `penalty` right ones."""
    written, p, u = assessed.written, assessed.confidence, assessed.unanswerable
    question = written.linked.question
    language = language_of(question)
    reason = written.fault or assessed.refusal
    unsaid = "" if assessed.confirmed else nothing_to_go_by(written, assessed.links, language)
    if not reason and penalty > 0 and unsaid:
        reason, p, u = unsaid, 0.0, 1.0
    decided = assessed.reliability.calibrated or penalty == 0
    if not reason and not decided:
        reason = sentence(language, "uncalibrated")  # which answers only where a wrong answer costs nothing
    elif not reason and not pays(p, u, penalty):
        reason = doubt(p, threshold(penalty, u), penalty, u, language)
    values = found_values(written.program, written.schema)
    watch.lap("decide")
    return Result(
        question=question,
        best=None if written.fault else written.sql,
        confidence=0.0 if written.fault else p,
        abstained=bool(reason),
        reason=reason or None,
        links=assessed.links,
        values=values,
        timings=watch.laps,
        dialect=written.dialect,
        threshold=threshold(penalty, u) if decided else None,
        unanswerable=u,
        background=assessed,
        note=assessed.note,
        remembered=written.remembered,
    )


def nothing_to_go_by(written: Written, links: Sequence[Link], language: str = ENGLISH) -> str:
    """Why a question is refused whatever the model makes of it; "" where it is not."""
    linked = written.linked
    if linked.turns is not None and not written.uses:
        from fastsql.refusal.references import refers_back  # for conversations

        if refers_back(linked.question, spans_of(links)):
            known = any(turn.usable for turn in linked.turns)
            return sentence(language, "antecedent unclear" if known else "no antecedent")
    if says_only_values(written, links):
        return sentence(language, "only values")
    for key, pattern in _UNSAID.items():
        words = None if _SAYING[key] & set(written.program) else _asked(linked, pattern)
        if words is not None:
            return sentence(language, key, words=quoted(language, words))
    return ""


def accounted(linked: Linked) -> list[tuple[int, int]]:
    """What of a question is a known value, or names something of the schema."""
    prepared = linked.prepared
    named = prepared.offsets[named_tokens(prepared, linked.schema.links)].tolist()
    values = [one.span for one in prepared.candidates if one.columns or one.source == "quoted"]
    return [*values, *((start, end) for start, end in named)]


def _asked(linked: Linked, pattern: re.Pattern[str]) -> str | None:
    """The first words that a pattern finds in a question, but for those whose last word is of a name or a value.

    The name of a statistic lies near those of others that there are, a week near a day: a model takes a median for an
    average, and is sure of it.
    """
    found = list(pattern.finditer(linked.question))
    spans = accounted(linked) if found else ()

    def is_named(words: re.Match[str]) -> bool:
        last = words.start() + words.group().rfind(" ") + 1
        return any(start < words.end() and last < end for start, end in spans)

    return next((one.group() for one in found if not is_named(one)), None)


def spans_of(links: Sequence[Link]) -> list[tuple[int, int]]:
    """What of a question stands in its query."""
    return [link.span for link in links]


def says_only_values(written: Written, links: Sequence[Link]) -> bool:
    """Whether a question is nothing but values that the query compares something with, so that nothing is asked.

    One that goes on from an earlier question ("And in 2023?") need not say more.
    """
    values = [link for link in links if link.kind == "value" and not written.uses]
    rest = list(written.linked.question)
    for link in values:
        rest[slice(*link.span)] = " " * len(link.text)
    return bool(values) and not any(map(str.isalpha, rest))


def doubt(
    confidence: float, needed: float, penalty: float, unanswerable: float = 0.0, language: str = ENGLISH
) -> str:
    """Why the probabilities of being right and of having no answer lead to a refusal at this penalty."""
    if unanswerable >= UNLIKELY:
        return sentence(language, "no answer", u=unanswerable)
    from fastsql.view.figures import told_apart  # for refusals alone

    shown, asked = told_apart(confidence, needed)
    return sentence(language, "doubt", p=shown, needed=asked, penalty=penalty)
