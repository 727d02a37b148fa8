"""Questions about all patients."""

from __future__ import annotations

import random

from fastsql.augment import meaning as m
from fastsql.augment import wording_events
from fastsql.augment.frames import FRAMES
from fastsql.augment.phrases import ages_phrase, choose, expand, number_word, put, relation_phrase
from fastsql.augment.wording_events import past

_FUNCTIONS = {"MAX": "maximum|maximum|highest", "MIN": "minimum|minimum|lowest", "AVG": "average"}
_PER = {"day": "daily", "month": "monthly", "year": "yearly"}
_EVENTS = {
    "procedure": "{x} procedures [performed|done|that took place]|cases of {x}|times {x} was performed",
    "drug": "{x} prescriptions|prescriptions [of|for] {x}|times {x} was prescribed",
    "diagnosis": "{x} diagnoses|diagnoses of {x}|times {x} was diagnosed",
    "lab": "{x} lab tests|{x} laboratory tests [performed|done]|lab tests of {x}",
    "specimen": "{x} microbiology tests|microbiology tests of {x}",
}
_BILLED = {
    "diagnosis": "{x} diagnosis|diagnosis of {x}|a diagnosis of {x}|being diagnosed with {x}",
    "procedure": "a {x} procedure|{x}|{x} procedure|a procedure called {x}",
    "drug": "{x}|the drug {x}|a drug named {x}|{x} prescription",
    "lab": "a {x} lab test|{x} lab test|the {x} laboratory test",
}
_INVOLVED = {
    "diagnosis": "{x}|a diagnosis of {x}|{x} diagnosis",
    "procedure": "{x}|a procedure called {x}|a {x} procedure",
    "drug": "{x}|a drug called {x}|a drug named {x}",
    "lab": "a {x} lab test|{x} lab test|a lab test for {x}",
    "specimen": "a {x} microbiology test|{x} microbiology test",
    "careunit": "a stay in careunit {x}|careunit {x}",
}
_STATES = {
    "discharged": "were discharged from [the|] hospital",
    "admitted": "were admitted to [the|] hospital|[visited|came to] the hospital",
    "emergency": "were admitted to the emergency room|came to the [emergency room|er]|[visited|went to] the emergency room",
}
_COUNTED = """
    How many {w} <were>{when}?
    Count how many {w} <were>{when}.
    <count> the [total|] number of {w} [who|that] <were>{when}.
    What [is|was] the [total|] [number|count] of {w} [who|that] <were>{when}?
    """


def count_events(asked: m.CountEvents, rng: random.Random) -> str:
    """How often did such an event happen, to all patients or to one?"""
    if asked.scope.patient is not None:
        return wording_events.count_events(asked, rng)
    text = choose(
        """
        <count> the [total|] number of <acts>{when}.
        How many <acts> were there{when}?
        What is the [total|] [number|count] of <acts>{when}?
        Tell me the count of <acts>{when}.
        """,
        rng,
        acts=_EVENTS[asked.event.kind],
    )
    return put(text, x=asked.event.item or "")


def _patients(scope: m.Scope, rng: random.Random) -> str:
    return "patients" if scope.ages is None else f"patients {ages_phrase(scope.ages, rng)}"


def count_patients(asked: m.CountPatients, rng: random.Random) -> str:
    """How many patients?"""
    who = _patients(asked.scope, rng)
    if asked.event is None and asked.state == "current":
        text = choose(
            """
            How many current {w} [are there|exist]?
            <count> the [total|] number of current {w}.
            What is the [total|] [number|count] of current {w}?
            """,
            rng,
        )
        return put(text, w=who)
    were = _STATES[asked.state] if asked.event is None else FRAMES[asked.event.kind].were
    text = choose(_COUNTED, rng, were=were)
    if asked.state == "current":
        who = f"current {who}"
    return put(text, w=who, x=(asked.event and asked.event.item) or "")


def list_patients(asked: m.ListPatients, rng: random.Random) -> str:
    """Which patients?"""
    text = choose(
        """
        Which {w} <were>{when}?
        [List|Show me|Give me|Get me] [all|the|] {w} who <were>{when}.
        [What are|Tell me|List] the ids of {w} who <were>{when}?
        """,
        rng,
        were=FRAMES[asked.event.kind].were,
    )
    return put(text, w=_patients(asked.scope, rng), x=asked.event.item or "")


def count_followed(asked: m.CountFollowed, rng: random.Random) -> str:
    """How many patients had one event after another? ``{y}`` is the first one's item."""
    text = choose(
        """
        How many patients <were> {s} after <after>{when}?
        How many patients{when} <were> {s} after <after>?
        <count> the number of patients who <were> {s} after <after>{when}.
        What is the number of patients who <were> {s} after <after>{when}?
        """,
        rng,
        were=FRAMES[asked.then.kind].were,
        after=FRAMES[asked.first.kind].after.replace("{x}", "{y}"),
    )
    soon = relation_phrase(asked.relation, rng)
    return put(text, s=soon, x=asked.then.item or "", y=asked.first.item or "")


def ranking(asked: m.Ranking, rng: random.Random) -> str:
    """What is most frequent, for all, for one patient, or after an event?"""
    frame, scope = FRAMES[asked.kind], asked.scope
    often = "[frequent|common] <many>"
    if frame.asked:
        often += f"|[frequently|commonly] [{frame.asked}] <many>"
    fragments = {
        "give": "What [were|are]|Tell me|Show me|List|Give me|Can you tell me|Retrieve|Get me|Which are",
        "most": f"[top {{t}} most|{{t}} most|top {{t}} most] [{often}]",
        "many": frame.many,
    }
    if asked.first is not None and asked.relation is not None:
        text = choose(
            """
            <give> the <most> [that|] {w} <past> {s} after <after>{when}?
            <give> the <most> [of|for] {w} {s} after <after>{when}?
            Among {w} who <were>{when}, what [are|were] the <most> that followed {s}?
            [For|Of] {w} who <were>{when}, what [are|were] the <most> {s} [afterward|after that]?
            <give> the <most> for {w} who <were> previously {s}{when}?
            """,
            rng,
            past=past(asked.kind).replace("was ", "were "),
            after=FRAMES[asked.first.kind].after,
            were=FRAMES[asked.first.kind].were,
            **fragments,
        )
        soon = relation_phrase(asked.relation, rng)
        return put(
            text, w=_patients(scope, rng), s=soon, t=number_word(asked.top, rng), x=asked.first.item or ""
        )
    whole = """
        <give> the <most>{when}?
        What [are|were] the <most>{when}?
        """
    part = """
        <give> the <most> [of|for] {w}{when}?
        <give>{when} the <most> [of|for] {w}?
        For {w}{when}, what [are|were] the <most>?
        """
    if scope.patient is not None:
        part, who = part.replace("<give>{when}", "<give>"), f"patient {scope.patient}"
    else:
        who = _patients(scope, rng)
    everybody = scope.patient is None and scope.ages is None
    text = choose(whole if everybody else part, rng, **fragments)
    return put(text, w=who, t=number_word(asked.top, rng))


def price(asked: m.Price, rng: random.Random) -> str:
    """What does it cost?"""
    text = choose(
        """
        How much does <thing> cost?
        [What is|What's|Tell me] the [cost|price] of <thing>?
        How much [is|is it for] <thing>?
        What does <thing> cost?
        What are the [costs|charges] [of|for] <thing>?
        """,
        rng,
        thing=_BILLED[asked.event.kind],
    )
    return put(text, x=asked.event.item or "")


def intake_route(asked: m.IntakeRoute, rng: random.Random) -> str:
    """How is a drug taken?"""
    text = choose(
        """
        What is the [intake method|method of intake|route of administration|ingestion method] of {x}?
        How is {x} [taken|administered|consumed]?
        [Tell me|What are] the routes of administration [of|for] {x}?
        By [what|which] route is {x} [given|administered]?
        """,
        rng,
    )
    return put(text, x=asked.drug)


def visit_cost(asked: m.VisitCost, rng: random.Random) -> str:
    """What do hospital visits with such an event cost?"""
    text = choose(
        """
        <ask> the {f} total [hospital cost|hospital expense] [that|which] [involves|includes] <thing>{when}?
        <ask> the {f} total cost of a hospital [visit|stay] [that|which] [involves|includes] <thing>{when}?
        What is the {f} total cost [of|for] hospital visits [involving|that include] <thing>{when}?
        """,
        rng,
        ask="What is|What's|Tell me|Give me|Could you tell me",
        thing=_INVOLVED[asked.event.kind],
    )
    return put(text, f=expand(_FUNCTIONS[asked.function], rng), x=asked.event.item or "")


def rate(asked: m.Rate, rng: random.Random) -> str:
    """How many patients per day, month or year?"""
    text = choose(
        """
        [What is|What was|What's|Tell me|Calculate] the [{f} {g}|{g} {f}] number of patients who <were>{when}?
        [What would be|Find] the {f} {g} number of patients who <were>{when}?
        """,
        rng,
        were=FRAMES[asked.event.kind].were,
    )
    return put(text, f=expand(_FUNCTIONS[asked.function], rng), g=_PER[asked.per], x=asked.event.item or "")


def mortality(asked: m.Mortality, rng: random.Random) -> str:
    """After what do most (fewest) patients die?"""
    text = choose(
        """
        [What are|Tell me|Show me|Give me|Can you tell me|List|Retrieve] the top {t} <many> [with|that have] the <rate>?
        [What are|Which are] the {t} <many> [with|that have] the <rate>?
        """,
        rng,
        many=FRAMES[asked.kind].many,
        rate="highest {k}-month survival rate|lowest {k}-month mortality rate"
        if asked.fewest
        else "highest {k}-month mortality rate",
    )
    return put(text, t=number_word(asked.top, rng), k=str(asked.months))
