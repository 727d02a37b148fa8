"""Questions about what was measured of one patient, given to it, or lost by it."""

from __future__ import annotations

import random

from fastsql.augment import meaning as m
from fastsql.augment.phrases import choose, expand, nth_word, put, when_phrase
from fastsql.augment.wording_events import measured

_FUNCTIONS = {
    "MAX": "maximum|maximum|highest",
    "MIN": "minimum|minimum|lowest",
    "AVG": "average|average|mean",
    "SUM": "total",
}
_PER = {"day": "daily ", "month": "monthly ", "year": "yearly ", "": ""}
_DOSE = """
    <what> the {n} [dose|amount|dosage] of {x} [that|] {p} was prescribed{when}?
    <what> the {x} dose that was prescribed to {p} for the {n} time{when}?
    How much {x} was prescribed to {p} for the {n} time{when}?
    What was the {n} prescribed dose of {x} for {p}{when}?
    """
_AMOUNT = """
    <what> the [amount|volume] of the {n} {x} <flow> [of|for] {p}{when}?
    How much was {p}'s {n} {x} <flow>{when}?
    <what> the {n} [amount|volume] of {x} <flow> {p} had{when}?
    """
_WEIGHT = """
    <what> the {n} [measured|recorded|] weight of {p}{when}?
    How much did {p} weigh [at|in|during] the {n} [measurement|check]{when}?
    <what> {p}'s {n} weight [measurement|]{when}?
    What was {p}'s weight when measured for the {n} time{when}?
    """
_VALUE = """
    <what> the {n} <noun> of {p}'s {x}{when}?
    <what> the {n} {x} <noun> [of|for] {p}{when}?
    <what> the {n} [measured|] {x} of {p}{when}?
    <what> {p}'s {n} {x} <noun>{when}?
    What was the {x} [<noun>|] of {p} when measured for the {n} time{when}?
    """


def reading(asked: m.Reading, rng: random.Random) -> str:
    """What was the nth measured value, the nth dose, the nth amount?"""
    kind = asked.event.kind
    if asked.event.item == "daily weight":
        text = choose(_WEIGHT, rng)
    elif kind == "drug":
        text = choose(_DOSE, rng)
    elif kind in ("input", "output"):
        text = choose(_AMOUNT, rng, flow="input|intake" if kind == "input" else "output")
    else:
        more = "|level|lab test result" if kind == "lab" else "|measurement"
        text = choose(_VALUE, rng, noun=f"value|reading|result{more}")
    return put(text, p=f"patient {asked.scope.patient}", x=measured(asked.event, rng), n=nth_word(asked.nth))


def total(asked: m.Total, rng: random.Random) -> str:
    """The highest, lowest, mean or summed number; per day, month or year."""
    told, named = _nouns(asked.event.kind, asked.event.item)
    text = choose(
        """
        <what> the {f} <told>{when}?
        <what> {p}'s {f} <named>{when}?
        <what> the {f} <named> [of|for] {p}{when}?
        <calculate> {p}'s {f} <named>{when}.
        """,
        rng,
        told=told,
        named=named,
    )
    thing = "" if asked.event.item is None else measured(asked.event, rng)
    function = _PER[asked.per] + expand(_FUNCTIONS[asked.function], rng)
    return put(text, p=f"patient {asked.scope.patient}", x=thing, f=function)


def _nouns(kind: str, item: str | None) -> tuple[str, str]:
    """What is summed up: with a verb that tells its kind, and so that the noun tells it."""
    if kind == "drug":
        told = "[[dose|dosage|amount] of {x}|{x} dose] [that|] {p} [was|has been] prescribed"
        return told, "[dose|dosage] of prescribed {x}|prescribed {x} dose"
    if kind == "input" and item is not None:
        named = "{x} [input|intake]|[amount|volume] of {x} input"
        return f"[{named}|[dose|amount|volume] of {{x}}] [that|] {{p}} [received|was given]", named
    if kind == "input":
        return (
            "[input|[amount|volume] of input] [that|] {p} [received|was given]",
            "input|intake|[amount|volume] of input",
        )
    if kind == "output":
        named = (
            "output|[amount|volume] of output" if item is None else "{x} output|[amount|volume] of {x} output"
        )
    elif item == "daily weight":
        named = "weight|value of weight"
    else:
        named = "{x}|{x} value|value of {x}" + ("|{x} level" if kind == "lab" else "|{x} reading")
    return f"[{named}] [that|] {{p}} had", named


def when_extreme(asked: m.WhenExtreme, rng: random.Random) -> str:
    """When was the measure highest or lowest?"""
    things = {
        "input": "{e} {x} [input|intake]|{e} input of {x}|{e} amount of {x} [input|intake]",
        "output": "{e} {x} output|{e} output of {x}|{e} amount of {x} output",
        "lab": "{e} {x} value|{e} {x}|{e} value of {x}|{e} of {x}|{e} {x} level",
        "vital": "{e} {x}|{e} value of {x}|{e} {x}",
    }
    text = choose(
        """
        When was the {n} time [that|] {p} had the <thing>{when}?
        When did {p} have the <thing> for the {n} time{when}?
        What was the {n} time{when} [that|] {p} had the <thing>?
        When{when} did {p} have the <thing> the {n} time?
        When did {p} {n} have the <thing>{when}?
        """,
        rng,
        thing=things[asked.event.kind],
    )
    extreme = expand(_FUNCTIONS["MAX" if asked.highest else "MIN"], rng)
    order = "last" if asked.last else "first"
    return put(text, p=f"patient {asked.scope.patient}", n=order, e=extreme, x=measured(asked.event, rng))


def change(asked: m.Change, rng: random.Random) -> str:
    """The difference between two readings, or which is the greater."""
    difference = """
        <what> the [difference|change] in [{x}|the {x} value|{x} value] of {p} {l} compared to the value {e}?
        How much does {p}'s {x} [change|differ] {l} compared to the value {e}?
        [What is|Tell me|Calculate] the [change|difference] in {p}'s {x} from the value {e} to the value {l}.
        How much [is|was] the difference [in|of] {p}'s {x} {l} compared to the value {e}?
        [Show|Give me] the {x} [change|difference] of {p} {l} compared to the value {e}.
        """
    comparison = """
        [Is|Was] {p}'s {x} {l} <more> the value {e}?
        [Is|Was] the {x} [value|reading|level|] of {p} {l} <more> [the value|that|] {e}?
        [Is|Was] the value of {p}'s {x} {l} <more> [the value|] {e}?
        """
    text = choose(difference if asked.operator == "-" else comparison, rng, more=_more(asked.operator))
    when = when_phrase(asked.scope, rng)
    later, earlier = (
        f"measured at {moment}" if isinstance(moment, str) else f"{nth_word(moment)} measured {when}"
        for moment in (asked.later, asked.earlier)
    )
    return put(text, p=f"patient {asked.scope.patient}", l=later, e=earlier, x=measured(asked.event, rng))


def compare_patients(asked: m.ComparePatients, rng: random.Random) -> str:
    """The same reading of two patients: which is the greater, or by how much."""
    difference = """
        [What is|Tell me|Calculate] the difference between the {n} {x} [value|] of {p}{when} and that of {o}?
        How much does the {n} {x} of {p}{when} differ from that of {o}?
        """
    comparison = """
        [Is|Was] the {n} {x} [value|] of {p}{when} <more> that of {o}?
        [Is|Was] {p}'s {n} {x} [value|]{when} <more> {o}'s?
        """
    text = choose(difference if asked.operator == "-" else comparison, rng, more=_more(asked.operator))
    who, other = f"patient {asked.scope.patient}", f"patient {asked.other}"
    return put(text, p=who, o=other, n=nth_word(asked.nth), x=measured(asked.event, rng))


def _more(operator: str) -> str:
    return "[less|lower] than" if operator == "<" else "[greater|higher] than"


def percentile(asked: m.Percentile, rng: random.Random) -> str:
    """Where a value stands among patients of the same age."""
    text = choose(
        """
        What percentile is [the {x} value of {v}|{v} in <test>|a {x} of {v}] <peers> {p}{when}?
        [What is|Tell me|What's] the percentile of [{v} in the <test>|the {x} value of {v}] <peers> {p}{when}?
        """,
        rng,
        test="{x} lab test|{x} value|{x}" if asked.event.kind == "lab" else "{x} value|{x}",
        peers="[among patients of|with|at|among patients with] the same age as",
    )
    return put(text, p=f"patient {asked.scope.patient}", v=str(asked.value), x=measured(asked.event, rng))
