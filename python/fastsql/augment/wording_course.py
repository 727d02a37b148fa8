"""Questions about the course of one patient: what was found, what followed what, what is new, visits and costs."""

from __future__ import annotations

import random

from fastsql.augment import meaning as m
from fastsql.augment.frames import FRAMES
from fastsql.augment.phrases import choose, nth_word, put, relation_phrase
from fastsql.augment.wording_events import past

_PERIODS = {
    "day": ("today", "yesterday"),
    "month": ("this month", "last month"),
    "year": ("this year", "last year"),
}
_GIVEN = {
    "drug": "prescribed to",
    "diagnosis": "given to",
    "procedure": "performed on",
    "lab": "given to",
    "specimen": "taken from",
    "culture": "performed on",
}
_DETAILS = {
    "gender": ("gender|sex", "Is {p} male or female?"),
    "dob": ("date of birth|birth date|dob", "When was {p} born?"),
    "dod": ("date of death|death date|dod", "When did {p} [die|pass away]?"),
    "insurance": ("insurance|insurance plan|insurance type", "[What|Which] insurance did {p} have{when}?"),
    "marital_status": ("marital status", ""),
    "language": ("language|spoken language", "[What|Which] language did {p} speak{when}?"),
    "admission_type": (
        "admission type|type of admission",
        "How was {p} admitted in terms of admission type{when}?",
    ),
    "admission_location": ("admission location|location of admission", "Where was {p} admitted from{when}?"),
    "discharge_location": ("discharge location|location of discharge", "Where was {p} discharged to{when}?"),
    "age": ("age", "How old was {p}{when}?"),
}
"""Column -> what it is called, and a question of its own."""


def organism(asked: m.Organism, rng: random.Random) -> str:
    """Which organism was found, or was there any?"""
    whether = """
        Has there been any organism <found> in <test>{when}?
        Has any organism been <found> in <test>{when}?
        Was [an|any] organism <found> in <test>{when}?
        """
    which = """
        What was the [name of the|] organism <found> in <test>{when}?
        [What|Which] organism was <found> in <test>{when}?
        Tell me the [name of the|] organism that was <found> in <test>{when}.
        """
    text = choose(
        whether if asked.whether else which,
        rng,
        found="found|detected|observed",
        test="the {n} {x} <sort> test of {p}|{p}'s {n} {x} <sort> test",
        sort="microbiology|microbiological|",
    )
    return put(text, p=f"patient {asked.scope.patient}", x=asked.specimen, n=nth_word(asked.nth))


def elapsed(asked: m.Elapsed, rng: random.Random) -> str:
    """How much time has passed since?"""
    event, frame = asked.event, FRAMES[asked.event.kind]
    named = """
        How many {u}s <passed> since the {n} time [that|] {p} <did>{when}?
        How many {u}s <passed> since the {n} time{when} [that|] {p} <did>?
        How many {u}s <passed> since {p}'s {n} <act>{when}?
        How many {u}s <passed> since the {n} <act> of {p}{when}?
        """
    nameless = """
        How many {u}s <passed> since {p}'s {n} <act>{when}?
        How many {u}s <passed> since the {n} <act> of {p}{when}?
        """
    text = choose(
        nameless if event.item is None else named,
        rng,
        passed="has it been|is it|have passed|have elapsed",
        did=frame.did,
        act=frame.any_act if event.item is None else frame.act,
    )
    order = "last" if asked.last else "first"
    return put(text, p=f"patient {asked.scope.patient}", x=event.item or "", n=order, u=asked.unit)


def following(asked: m.Following, rng: random.Random) -> str:
    """What came after an event, when, or did anything? ``{y}`` is the first event's item."""
    then, item = FRAMES[asked.then.kind], asked.then.item
    whether = """
        Has {p} <been> {s} after <after>{when}?
        Did {p} <base> {s} after <after>{when}?
        """
    time = """
        When did {p} <base> for the {n} time {s} after <after>{when}?
        When was the {n} time [that|] {p} <did> {s} after <after>{when}?
        """
    which = """
        [What was|Tell me|What is] [the name of|] the <one> [that|] {p} <past> {s} after <after>{when}?
        [What were|Tell me|Can you tell me|List] the <many> [that|] {p} <past> {s} after <after>{when}?
        """
    text = choose(
        whether if asked.whether else which if asked.nth is None else time,
        rng,
        been=then.been if item is not None else then.any_been,
        base=then.base if item is not None else then.any_base,
        did=then.did,
        one=then.one,
        many=then.many,
        past=past(asked.then.kind),
        # "they" would be the patient.
        after=FRAMES[asked.first.kind]
        .after.replace("{x}", "{y}")
        .replace("they were", "being")
        .replace("|they [", "|having ["),
    ).replace("having underwent", "having undergone")
    nth = "" if asked.nth is None else nth_word(asked.nth)
    soon = relation_phrase(asked.relation, rng)
    return put(
        text, p=f"patient {asked.scope.patient}", s=soon, n=nth, x=item or "", y=asked.first.item or ""
    )


def together(asked: m.Together, rng: random.Random) -> str:
    """When were two drugs prescribed at the same time?"""
    text = choose(
        """
        When was the {n} time{when} [that|] {p} was prescribed [with|] {x} and {y} at the same time?
        When was the {n} time [that|] {p} was prescribed {x} and {y} at the same time{when}?
        When did {p} [get|receive] a prescription for {x} and {y} at the same time for the {n} time{when}?
        When was {p} prescribed {x} and {y} at the same time for the {n} time{when}?
        """,
        rng,
    )
    x, y = asked.drugs
    return put(text, p=f"patient {asked.scope.patient}", x=x, y=y, n="last" if asked.last else "first")


def new_names(asked: m.NewNames, rng: random.Random) -> str:
    """What is new (or no longer there) in this period against the one before?"""
    new = """
        What [are|were] the new <many> <given> {p} {now} compared to {before}?
        What new <many> [are|were] <given> {p} {now} compared to {before}?
        What <many> were newly <given> {p} {now} compared to {before}?
        Compared to {before}, what [are|were] the new <many> <given> {p} {now}?
        What <many> were <given> {p} {now} but not {before}?
        """
    gone = """
        What <many> were <given> {p} {before} but not {now}?
        Which <many> that were <given> {p} {before} were not <given> the patient {now}?
        """
    text = choose(
        gone if asked.gone else new,
        rng,
        many="diagnoses" if asked.kind == "diagnosis" else FRAMES[asked.kind].many,
        given=_GIVEN[asked.kind],
    )
    now, before = _PERIODS[asked.unit]
    return put(text, p=f"patient {asked.scope.patient}", now=now, before=before)


def detail(asked: m.Detail, rng: random.Random) -> str:
    """A fact about the patient or about one of the admissions."""
    noun, own = _DETAILS[asked.column]
    text = choose(
        f"""
        <ask> the <noun> of {{p}}{{when}}?
        <ask> {{p}}'s <noun>{{when}}?
        What [was|is] the <noun> [of|for] {{p}}{{when}}?
        {own or "<ask> {p}'s <noun>{when}?"}
        """,
        rng,
        ask="What [was|is]|Tell me|Can you tell me|Could you tell me|Please tell me",
        noun=noun,
    )
    return put(text, p=f"patient {asked.scope.patient}")


def stay_length(asked: m.StayLength, rng: random.Random) -> str:
    """How many days did a visit last?"""
    single = """
        <calculate> the length in days of {p}'s {w} [stay in the {h}|{h} stay]{when}.
        How many days did {p}'s {w} {h} stay last{when}?
        How many days was {p}'s {w} stay in the {h}{when}?
        <calculate> {p}'s length of stay in days [for|of] the {w} {h} stay{when}.
        How long was {p}'s {w} {h} stay in days{when}?
        """
    overall = """
        <calculate> the {w} length of {h} stay [of|for] {p} in days{when}.
        <calculate> {p}'s {w} length of stay in the {h} in days{when}.
        How many days was the {w} {h} stay [of|for] {p}{when}?
        """
    summed = """
        How many days in total did {p} [stay|spend] in the {h}{when}?
        <calculate> the total length of {p}'s {h} stays in days{when}.
        <calculate> the total number of days [that|] {p} [spent|stayed] in the {h}{when}.
        """
    text = choose(
        single if asked.which in ("first", "last") else summed if asked.which == "total" else overall, rng
    )
    place = "hospital" if asked.place == "hospital" else "ICU"
    return put(text, p=f"patient {asked.scope.patient}", w=asked.which, h=place)


def visit_time(asked: m.VisitTime, rng: random.Random) -> str:
    """When did a visit begin or end?"""
    text = choose(
        """
        When was the {n} time [that|] {p} was <moved> the <place>{when}?
        When was {p} <moved> the <place> for the {n} time{when}?
        When was the {n} <place> <move> [time|] [of|for] {p}{when}?
        When was {p}'s {n} <place> <move>{when}?
        What was the time of {p}'s {n} <place> <move>{when}?
        When did {p} <leave> the <place> for the {n} time{when}?
        """,
        rng,
        place="hospital" if asked.place == "hospital" else "ICU|ICU|intensive care unit",
        moved="discharged from" if asked.end else "admitted to",
        move="discharge" if asked.end else "admission",
        leave="leave" if asked.end else "enter|visit",
    )
    return put(text, p=f"patient {asked.scope.patient}", n=nth_word(asked.nth))


def patient_cost(asked: m.PatientCost, rng: random.Random) -> str:
    """What has the patient's care cost?"""
    text = choose(
        """
        <calculate> the total [hospital|] cost [of|for] {p}{when}.
        What [is|was] {p}'s total [hospital|] cost{when}?
        How much did {p}'s [hospital|] care cost in total{when}?
        What were the total [hospital|] costs [of|for] {p}{when}?
        """,
        rng,
    )
    return put(text, p=f"patient {asked.scope.patient}")
