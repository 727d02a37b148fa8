"""Questions about the events of one patient: whether, how often, when, which."""

from __future__ import annotations

import random

from fastsql.augment import meaning as m
from fastsql.augment.frames import FRAMES
from fastsql.augment.kinds import BODY_MEASURES, VITAL_SIGNS
from fastsql.augment.phrases import choose, expand, nth_word, number_word, put

_HAD = {
    "drug": ("been prescribed", "was prescribed"),
    "diagnosis": ("received", "[received|was given|had]"),
    "procedure": ("undergone", "[received|underwent|had]"),
    "lab": ("received", "[received|had|was given]"),
    "specimen": ("had", "[received|had|was given]"),
    "culture": ("received", "[received|had|was given]"),
    "organism": ("had", "had"),
    "careunit": ("stayed in", "[stayed in|visited|was in]"),
    "input": ("received", "[received|had|was given]"),
    "output": ("had", "had"),
}
"""Kind -> what follows "has patient N" and "patient N", in front of the kind's own name."""
_DID = {"drug": "get prescribed", "careunit": "stay in", "procedure": "undergo", "diagnosis": "receive"}
"""What follows "did patient N" there, where it is not "have"."""


def measured(event: m.Event, rng: random.Random) -> str:
    """How the item of an event with a number is called."""
    assert event.item is not None
    if event.kind == "vital" and event.item in BODY_MEASURES:
        return BODY_MEASURES[event.item]
    if event.kind == "vital" and event.item in VITAL_SIGNS:
        return rng.choice(VITAL_SIGNS[event.item][1])
    return event.item


def past(kind: str) -> str:
    """What follows "patient N" in front of the kind's own name: "was prescribed", "underwent"."""
    return _HAD[kind][1]


def any_event(asked: m.AnyEvent, rng: random.Random) -> str:
    """Has the patient had such an event?"""
    event, scope = asked.event, asked.scope
    if event.bound is not None:
        return _bounded(
            """
            Has {p}'s {x} [ever|] been <b>{when}?
            Was {p}'s {x} [ever|] <b>{when}?
            Did {p} [ever|] have <a>{when}?
            Has {p} [ever|] had <a>{when}?
            """,
            event,
            scope,
            rng,
        )
    if event.items:
        *others, last = event.items
        listed = f"{', '.join(others)}, or {last}" if len(others) > 1 else f"{others[0]} or {last}"
        text = choose(
            """
            Has {p} been [prescribed|ordered|prescribed with] {x}{when}?
            Was {x} [prescribed|ordered] [to|for] {p}{when}?
            Did {p} get a prescription for {x}{when}?
            Has {x} been [prescribed|ordered]{when} [to|for] {p}?
            """,
            rng,
        )
        return put(text, p=f"patient {scope.patient}", x=listed)
    frame = FRAMES[event.kind]
    been, base = (frame.any_been, frame.any_base) if event.item is None else (frame.been, frame.base)
    text = choose(
        """
        Has {p} <been>{when}?
        Has {p}{when} <been>?
        Did {p} <base>{when}?
        Did {p} [ever|] <base>{when}?
        Can you [tell me|confirm] if {p} has <been>{when}?
        """,
        rng,
        been=been,
        base=base,
    )
    return put(text, p=f"patient {scope.patient}", x=event.item or "")


def _bounded(patterns: str, event: m.Event, scope: m.Scope, rng: random.Random, **values: str) -> str:
    """A question about a number in or out of bounds: ``<b>`` is "less than 97.0", ``<a>`` "a heart rate less than 97.0"."""
    bound = event.bound
    assert bound is not None
    if bound.normal:
        outside = "abnormal|out of the normal range|outside the normal range|not normal"
        text = choose(patterns, rng, b=outside, a="an abnormal {x}")
    else:
        words = "[greater|higher] than|above" if bound.operator == ">" else "[less|lower] than|below"
        text = choose(patterns, rng, b=f"[{words}] {{v}}", a=f"a {{x}} [{words}] {{v}}")
    return put(text, p=f"patient {scope.patient}", v=str(bound.value), x=measured(event, rng), **values)


def any_admission(asked: m.AnyAdmission, rng: random.Random) -> str:
    """Has the patient been in the hospital, or in the emergency room?"""
    text = choose(
        """
        Has {p} [been to|visited|come to|been admitted to] the <place>{when}?
        Did {p} [visit|come to|go to] the <place>{when}?
        Was {p} admitted to the <place>{when}?
        Has {p}{when} been admitted to the <place>?
        """,
        rng,
        place="emergency room|emergency room|er" if asked.emergency else "hospital",
    )
    return put(text, p=f"patient {asked.scope.patient}")


def count_events(asked: m.CountEvents, rng: random.Random) -> str:
    """How often did such an event happen to the patient? (`wording_population` asks it of all.)"""
    event, scope = asked.event, asked.scope
    if event.bound is not None:
        return _bounded(
            """
            How many times was {p}'s {x} <b>{when}?
            How often did {p} have <a>{when}?
            Count the number of times {p} had <a>{when}.
            """,
            event,
            scope,
            rng,
        )
    frame = FRAMES[event.kind]
    text = choose(
        """
        How many times has {p} <been>{when}?
        How many times did {p} <base>{when}?
        How often did {p} <base>{when}?
        Count [the number of|how many] times {p} <did>{when}.
        <count> the number of times {p} has <been>{when}.
        <count> the number of times {p} <did>{when}.
        """,
        rng,
        been=frame.been,
        base=frame.base,
        did=frame.did,
    )
    return put(text, p=f"patient {scope.patient}", x=event.item or "")


def count_names(asked: m.CountNames, rng: random.Random) -> str:
    """How many different drugs has the patient been prescribed?"""
    text = choose(
        """
        How many <other> <many> has {p} <had>{when}?
        <count> the number of <other> <many> {p} <past>{when}.
        What is the number of <other> <many> that {p} <past>{when}?
        Find out the number of <other> <many> {p} has <had>{when}.
        """,
        rng,
        other="different|unique|distinct",
        many=FRAMES[asked.kind].many,
        had=_HAD[asked.kind][0],
        past=_HAD[asked.kind][1],
    )
    return put(text, p=f"patient {asked.scope.patient}")


def list_names(asked: m.ListNames, rng: random.Random) -> str:
    """Which drugs has the patient been prescribed?"""
    text = choose(
        """
        [What|Which] <many> has {p} <had>{when}?
        List [all|] the <many> [that|] {p} <past>{when}.
        [What were|Tell me|Show me] [all|] the <many> [that|] {p} <past>{when}?
        [Give me|Get me|Show me] a list of [all|] <many> {p} <past>{when}.
        """,
        rng,
        many=FRAMES[asked.kind].many,
        had=_HAD[asked.kind][0],
        past=_HAD[asked.kind][1],
    )
    return put(text, p=f"patient {asked.scope.patient}")


def count_visits(asked: m.CountVisits, rng: random.Random) -> str:
    """How often was the patient in the hospital, or in intensive care?"""
    text = choose(
        """
        How many times has {p} visited the <place>{when}?
        How many times [did {p} visit|was {p} admitted to|did {p} come to] the <place>{when}?
        <count> the number of <place> [visits|stays|admissions] [of|by|for] {p}{when}.
        Count how many times {p} [visited|was admitted to] the <place>{when}.
        [Get|Provide] the count of <place> [visits|admissions] [of|for] {p}{when}.
        """,
        rng,
        place="hospital" if asked.place == "hospital" else "ICU|ICU|intensive care unit",
    )
    return put(text, p=f"patient {asked.scope.patient}")


def when(asked: m.When, rng: random.Random) -> str:
    """When did the nth such event happen?"""
    event, scope, nth = asked.event, asked.scope, nth_word(asked.nth)
    if event.bound is not None:
        return _bounded(
            """
            When was the {n} time [that|] {p}'s {x} was [measured|] <b>{when}?
            When was {p}'s {x} [for the|the] {n} time <b>{when}?
            What was the {n} time [that|] {p} had <a>{when}?
            Tell me the {n} time{when} that the {x} of {p} was <b>.
            When{when} was the {n} time that {p} had <a>?
            """,
            event,
            scope,
            rng,
            n=nth,
        )
    frame = FRAMES["drug" if event.kind == "route" else event.kind]
    if event.kind == "route":
        text = choose(
            """
            When was the {n} time [that|] {p} was prescribed <drug> via [the|] {x} [route|]{when}?
            When was {p} prescribed <drug> via the {x} route for the {n} time{when}?
            What was the {n} time{when} [that|] {p} was prescribed <drug> [via|through] the {x} route?
            """,
            rng,
            drug="[a|] [drug|medication|medicine]",
        )
    elif event.item is None:
        text = choose(
            """
            When was {p}'s {n} <act>{when}?
            When did {p} have [a|their] {n} <act>{when}?
            When was the {n} <act> of {p}{when}?
            What was the {n} <act> time of {p}{when}?
            When did {p}{when} get the {n} <act>?
            When did {p}'s {n} <act>{when} [occur|take place]?
            """,
            rng,
            act=frame.any_act,
        )
    else:
        text = choose(
            """
            When was the {n} time [that|] {p} <did>{when}?
            When was the {n} time{when} that {p} <did>?
            What was the {n} time{when} [that|] {p} <did>?
            When did {p} <base> [for the|the] {n} time{when}?
            When was {p}'s {n} <act>{when}?
            When did {p} have [the|their] {n} <act>{when}?
            """,
            rng,
            did=frame.did,
            base=frame.base,
            act=frame.act,
        )
    return put(text, p=f"patient {scope.patient}", x=event.item or "", n=nth)


def which_name(asked: m.WhichName, rng: random.Random) -> str:
    """What was the nth event called?"""
    text = choose(
        """
        [What was|Tell me|Can you tell me|What is] <called> [that|] {p} <past><via>{when}?
        [What was|Tell me|Can you tell me|What is] <called> [that|] {p} <past><via>{when}?
        [What|Which] <one> did {p} <did><via> [for the|the] {n} time{when}?
        What was the <one> {p} <past><via> [for the|the] {n} time{when}?
        What was the {n} <one>{when} [that|] {p} <past><via>?
        """,
        rng,
        called="[the name of|] the {n} <one>",
        one=FRAMES[asked.kind].one,
        past=_HAD[asked.kind][1],
        did=_DID.get(asked.kind, "have"),
        via="" if asked.via is None else " [via|through] [the|] {r} route",
    )
    return put(text, p=f"patient {asked.scope.patient}", n=nth_word(asked.nth), r=asked.via or "")


def repeated(asked: m.Repeated, rng: random.Random) -> str:
    """What was done so many times?"""
    times = number_word(asked.times, rng)
    often = (
        f"{times} times" if asked.exactly else expand(f"{times} or more times|at least {times} times", rng)
    )
    frame = FRAMES[asked.kind]
    text = choose(
        """
        What [is|was] [the name of|] the <one> [that|] {p} <past> {t}{when}?
        [What|Which] <many> has {p} <had> {t}{when}?
        [Tell me|Can you name] the <one> [that|] {p} <past> {t}{when}.
        What were the <many> [that|] {p} <past> {t}{when}?
        """,
        rng,
        one=frame.one,
        many=frame.many,
        had=_HAD[asked.kind][0],
        past=_HAD[asked.kind][1],
    )
    return put(text, p=f"patient {asked.scope.patient}", t=often)
