"""Words for questions that a database does not answer, in English: attributes and things that it may lack, and frames.

The only place that holds them. A frame's places are {rows}, {one}, {many}, {label}, {labels} and {an}; alternatives stand in
brackets (`phrases.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from fastsql.synthesis.schema.sorts import DEVICE, EVENT, GOODS, OTHER, PERSON, PLACE, VEHICLE, WORK

_COMMON = frozenset(("of", "the", "last", "number", "date"))
"""Words of names that tell nothing."""


@dataclass(frozen=True)
class Foreign:
    """What a schema may lack, and words which, where it has one of them, leave that in doubt."""

    name: str
    near: tuple[str, ...] = ()

    @property
    def words(self) -> frozenset[str]:
        """The words that must not occur. Of a whole question only those that come near it count."""
        named = () if "[" in self.name or self.name.endswith("?") else self.name.split()
        return frozenset((*named, *self.near)) - _COMMON


@dataclass(frozen=True)
class Attribute(Foreign):
    """What the things of some sorts (`sorts.py`) can have; an amount lies `between` these."""

    of: tuple[str, ...] = ()
    between: tuple[int, int] | None = None


@dataclass(frozen=True)
class Concept(Foreign):
    """A thing, and by kind of column what such a thing has."""

    has: Mapping[str, tuple[Attribute, ...]] = field(default_factory=dict)


ATTRIBUTES = {
    "amount": (
        Attribute("shoe size", ("foot",), (PERSON,), (36, 46)),
        Attribute(
            "annual income", ("salary", "wage", "earning", "pay", "revenue"), (PERSON,), (18_000, 90_000)
        ),
        Attribute("screen time", ("hour", "usage"), (PERSON,), (1, 9)),
        Attribute("credit score", ("rating", "risk"), (PERSON,), (400, 800)),
        Attribute("commute distance", ("travel", "way", "km", "mile"), (PERSON,), (1, 60)),
        Attribute("number of followers", ("fan", "subscriber", "like"), (PERSON,), (100, 9_000)),
        Attribute("number of siblings", ("brother", "sister", "family", "relative"), (PERSON,), (1, 5)),
        Attribute("mortgage", ("loan", "debt", "credit"), (PERSON,), (50_000, 400_000)),
        Attribute("parking fee", ("car",), (PLACE,), (1, 20)),
        Attribute("noise level", ("decibel", "volume", "sound"), (PLACE, VEHICLE, DEVICE), (30, 90)),
        Attribute("water consumption", ("usage", "fluid", "drink"), (PLACE,), (100, 9_000)),
        Attribute("heating bill", ("energy", "heat", "gas", "cost"), (PLACE,), (800, 20_000)),
        Attribute("number of windows", ("window",), (PLACE,), (2, 80)),
        Attribute("fuel consumption", ("gas", "mpg", "litre", "mileage"), (VEHICLE,), (4, 30)),
        Attribute("carbon footprint", ("emission", "co2"), (PLACE, VEHICLE, GOODS), (2, 900)),
        Attribute("insurance premium", ("policy", "cost"), (VEHICLE,), (200, 3_000)),
        Attribute("battery level", ("charge", "power"), (DEVICE,), (5, 95)),
        Attribute("power consumption", ("energy", "watt", "electricity"), (DEVICE,), (10, 900)),
        Attribute("number of downloads", ("usage", "access"), (WORK,), (10, 9_000)),
        Attribute("number of misprints", ("error", "typo", "correction"), (WORK,), (1, 30)),
        Attribute("number of complaints", ("complaint", "issue"), (GOODS, EVENT), (1, 30)),
        Attribute("shelf life", ("expiry", "expiration"), (GOODS,), (10, 700)),
        Attribute("cancellation fee", ("cancelled", "canceled", "penalty"), (EVENT,), (5, 200)),
        Attribute("number of onlookers", ("audience", "attendance", "spectator", "crowd"), (EVENT,), (1, 40)),
        Attribute("number of edits", ("edit", "change", "version", "revision"), (OTHER,), (1, 40)),
        Attribute("number of attachments", ("attachment", "file", "document"), (OTHER,), (1, 12)),
        Attribute("number of user comments", ("comment", "note", "remark"), (OTHER,), (1, 30)),
    ),
    "time": (
        Attribute("wedding date", ("marriage", "marital", "married"), (PERSON,)),
        Attribute("retirement date", ("retired", "pension"), (PERSON,)),
        Attribute("date of the last login", ("access", "session", "account", "online"), (PERSON,)),
        Attribute("graduation date", ("degree", "education", "graduated"), (PERSON,)),
        Attribute(
            "date of the last inspection", ("inspected", "check", "audit", "review"), (PLACE, VEHICLE, DEVICE)
        ),
        Attribute("date of the last repainting", ("painted", "renovation"), (PLACE, VEHICLE)),
        Attribute("insurance expiry date", ("expiration", "valid", "coverage"), (VEHICLE, DEVICE)),
        Attribute("date of the first translation", ("translated", "language"), (WORK,)),
        Attribute("date of the last reprint", ("print", "printed", "edition"), (WORK,)),
        Attribute("date of the last price change", ("updated", "changed"), (GOODS,)),
        Attribute("recall date", ("recalled", "withdrawn"), (GOODS,)),
        Attribute("invitation date", ("invited", "sent"), (EVENT,)),
        Attribute("date of the last reminder", ("reminded", "notified", "notice"), (EVENT,)),
        Attribute("date of the last edit", ("edited", "changed", "updated", "modified"), (OTHER,)),
        Attribute("archive date", ("archived", "stored"), (OTHER,)),
    ),
    "text": (
        Attribute("favourite colour", ("favorite", "color"), (PERSON,)),
        Attribute("nickname", ("alias", "short"), (PERSON,)),
        Attribute("hobby", ("interest", "leisure", "activity"), (PERSON,)),
        Attribute("zodiac sign", ("star",), (PERSON,)),
        Attribute("religion", ("faith", "church", "denomination"), (PERSON,)),
        Attribute("hair colour", ("color",), (PERSON,)),
        Attribute("blood group", ("type",), (PERSON,)),
        Attribute("shirt size", ("clothing",), (PERSON,)),
        Attribute("passport number", ("identity", "document"), (PERSON,)),
        Attribute("native tongue", ("language",), (PERSON,)),
        Attribute("website", ("web", "url", "internet", "site", "homepage", "page"), (PLACE,)),
        Attribute("slogan", ("motto", "tagline"), (PLACE, GOODS)),
        Attribute("landlord", ("owner", "proprietor", "lease", "rent"), (PLACE,)),
        Attribute("licence plate", ("license", "registration", "vehicle"), (VEHICLE,)),
        Attribute("insurer", ("insurance", "policy"), (VEHICLE, DEVICE)),
        Attribute("firmware version", ("software", "release"), (DEVICE,)),
        Attribute("translator", ("translation", "language"), (WORK,)),
        Attribute("proofreader", ("editor", "reviewer", "corrector"), (WORK,)),
        Attribute("wholesaler", ("supplier", "vendor", "distributor", "seller"), (GOODS,)),
        Attribute("colour of the packaging", ("color", "package", "wrapping"), (GOODS,)),
        Attribute("reason for cancellation", ("cancelled", "canceled"), (EVENT,)),
        Attribute("weather forecast", ("rain", "temperature", "climate"), (EVENT,)),
        Attribute("last editor", ("edited", "author", "user", "changed", "updated"), (OTHER,)),
        Attribute("approver", ("approved", "approval", "signed"), (OTHER,)),
    ),
}
"""By kind of column, what it may stand for that no column holds."""


def _concept(name: str, near: tuple[str, ...], amounts: str, times: str, texts: str) -> Concept:
    """One whose attributes are listed: "height 10..60, price 5..90" for amounts, names alone for the others."""
    parts = [one.strip().rpartition(" ") for one in amounts.split(",")]
    limits = [tuple(map(int, limits.split(".."))) for _, _, limits in parts]
    return Concept(
        name,
        near,
        MappingProxyType(
            {
                "amount": tuple(
                    Attribute(name, between=(low, high))
                    for (name, _, _), (low, high) in zip(parts, limits, strict=True)
                ),
                "time": tuple(Attribute(one.strip()) for one in times.split(",")),
                "text": tuple(Attribute(one.strip()) for one in texts.split(",")),
            }
        ),
    )


CONCEPTS = (
    _concept(
        "warehouse",
        ("storage", "depot", "stock"),
        "floor space 200..9000, rent 900..20000",
        "opening date, inspection date",
        "town, site manager, fire class",
    ),
    _concept(
        "newspaper",
        ("press", "magazine", "journal", "news"),
        "circulation 2000..90000, price 1..5",
        "founding date, date of the first issue",
        "title, publisher, language",
    ),
    _concept(
        "lawsuit",
        ("court", "legal", "case", "trial"),
        "claim 500..90000, number of hearings 1..12",
        "filing date, judgment date",
        "plaintiff, judge, verdict",
    ),
    _concept(
        "satellite",
        ("orbit", "space"),
        "launch weight 50..6000, altitude 300..36000",
        "launch date, reentry date",
        "name, operator, launch site",
    ),
    _concept(
        "volunteer",
        ("helper", "donor"),
        "age 18..80, number of hours a week 1..20",
        "birth date, joining date",
        "name, town, native tongue",
    ),
    _concept(
        "parking space",
        ("car", "garage", "lot"),
        "width 2..4, monthly rent 20..150",
        "rental date, marking date",
        "name of the tenant, surface, licence plate",
    ),
    _concept(
        "recipe",
        ("cooking", "dish", "meal", "food"),
        "cooking time 5..180, number of portions 1..8",
        "publication date, date of the first tasting",
        "title, cuisine, cook",
    ),
    _concept(
        "bicycle",
        ("bike", "cycle"),
        "frame size 42..62, number of gears 1..27",
        "purchase date, date of the last repair",
        "brand, colour, owner",
    ),
    _concept(
        "sponsor",
        ("donor", "funding", "partner"),
        "yearly contribution 500..90000, number of employees 5..900",
        "contract date, date of the first payment",
        "name, industry, contact person",
    ),
    _concept(
        "vineyard",
        ("wine", "grape", "farm"),
        "area 1..90, yearly harvest 500..9000",
        "planting date, harvest date",
        "grape variety, village, owner",
    ),
    _concept(
        "podcast",
        ("episode", "audio", "radio"),
        "length 5..120, number of listeners 100..9000",
        "release date, recording date",
        "title, host, topic",
    ),
    _concept(
        "coupon",
        ("voucher", "discount", "promotion"),
        "value 1..50, minimum purchase 10..200",
        "issue date, expiry date",
        "code word, retailer, colour",
    ),
    _concept(
        "theatre play",
        ("drama", "stage", "show", "performance"),
        "number of roles 2..30, running time 40..180",
        "premiere date, closing date",
        "title, playwright, genre",
    ),
    _concept(
        "lighthouse",
        ("tower", "coast"),
        "height 8..80, range of the light 5..40",
        "building date, date of the last repainting",
        "name, keeper, colour of the light",
    ),
    _concept(
        "patent",
        ("invention", "licence"),
        "filing fee 50..900, number of claims 1..40",
        "filing date, expiry date",
        "title, inventor, field",
    ),
    _concept(
        "museum",
        ("gallery", "exhibition", "visit"),
        "entrance fee 2..30, number of paintings 10..900",
        "opening date, date of the last renovation",
        "name, town, director",
    ),
    _concept(
        "tournament",
        ("match", "competition", "contest", "game", "league"),
        "prize money 100..90000, number of teams 4..64",
        "starting date, date of the final",
        "name, winner, venue",
    ),
    _concept(
        "subsidy",
        ("grant", "funding", "aid"),
        "sum granted 500..90000, share of own funds 5..60",
        "application date, date of approval",
        "recipient, purpose, authority",
    ),
)
"""Things of which a database may have no table."""

TO_PERSONS = (
    "[Send|Write] an email to [all|] the {rows}",
    "[Call|Notify|Remind] the {rows}[| tomorrow]",
    "Book an appointment for the {rows} [tomorrow|next week]",
)
"""Frames that only persons have a place in."""

FRAMES = {
    "reference": (
        "What are the {labels} of [those|these] {many}?",
        "[How many of them are there|How many of those are there]?",
        "[Show|List|Give me] the {labels} of [those|these] {many}",
        "Which of them has the [highest|lowest] {label}?",
        "And [what about|how about] their {labels}?",
        "[Sort|Order] them by {label}",
        "[Show|Do] the same for the {rows}",
        "What [is|was] its {label}?",
        "How many [more|fewer] {many} are there than [before|in the previous result]?",
        "Which of [the ones|those] [you just showed|from before] are {rows}?",
    ),
    "prediction": (
        "What will the {label} of the {rows} be [next year|next month|in five years]?",
        "How many {rows} will there be [next year|next month|in five years|by the end of next year]?",
        "[Predict|Forecast|Estimate] the {label} of the {rows} for [next year|the coming months|the next ten years]",
        "Which of the {rows} will have the highest {label} [next year|in the future]?",
        "[How is|In what way is] the {label} of the {rows} going to [develop|change] [next year|in the future]?",
        "Is the {label} of the {rows} going to [rise|drop] [next year|soon]?",
    ),
    "opinion": (
        "Which of the {rows} do you like [best|most]?",
        "Which {one} would you recommend[| to me]?",
        "Are the {rows} [any good|worth it|nice]?",
        "Do you think the {label} of the {rows} is [fair|reasonable|too high]?",
        "What do [people|you|most people] think [of|about] the {rows}?",
        "[Should I be worried|Should we be worried] about the {rows}?",
        "Which of the {rows} [feels|looks|sounds] the most [interesting|trustworthy|promising]?",
    ),
    "cause": (
        "Why are there so [many|few] {rows}?",
        "Why [is|was] the {label} of the {rows} so [high|low]?",
        "What [caused|explains|is the reason for] the {label} of the {rows}?",
        "What [led to|is behind] the [number of|rise in|drop in] {rows}?",
        "For what reason did the {label} of the {rows} [change|go up|go down]?",
        "How come the {rows} have such [high|low] {labels}?",
    ),
    "action": (
        "[Delete|Remove|Erase] [all|all the|the] {rows}",
        *TO_PERSONS,
        "[Add|Create|Insert] a new {one}",
        "[Set|Change] the {label} of the {rows} to [0|10|zero]",
        "[Increase|Reduce] the {label} of the {rows} by [ten|five] percent",
        "[Double|Halve] the {label} of the {rows}",
        "[Print the {rows}|Archive the {rows}|Export the {rows} to a PDF file][| and mail them to me]",
        "[Rename|Merge|Duplicate] the {rows}",
        "Remind me to check the {rows} [tomorrow|next week]",
    ),
}
"""By kind, what is asked of a query's rows and amounts that no query says."""

OUTSIDE = (
    Foreign(
        "[What is the weather like|How is the weather] [today|over there]?",
        ("rain", "temperature", "climate", "forecast"),
    ),
    Foreign(
        "Who won the [last world cup|football game last night]?",
        ("football", "soccer", "team", "player", "sport"),
    ),
    Foreign("[Tell me|Do you know] a [good |]joke[| please]", ()),
    Foreign("What is the meaning of life?", ()),
    Foreign("[How do I|How can I] reset my password?", ("account", "login", "user")),
    Foreign(
        "[Translate good morning into|How do you say good morning in] [French|Spanish]", ("translation",)
    ),
    Foreign("Write [a poem|a short story] about [the sea|autumn|friendship]", ("author", "book", "poet")),
    Foreign(
        "What is the [capital|largest city] of [Australia|Peru|Norway]?",
        ("country", "city", "nation", "state"),
    ),
    Foreign(
        "Which [film should I watch|song should I listen to] tonight?", ("movie", "music", "singer", "cinema")
    ),
    Foreign("How do I bake [bread|a chocolate cake]?", ("food", "recipe", "ingredient", "baking")),
    Foreign("What [time|day] is it [in Tokyo|over there]?", ("zone",)),
    Foreign(
        "Who [invented the telephone|invented the steam engine|discovered penicillin]?",
        ("invention", "inventor"),
    ),
    Foreign("What is [17 times 23|the square root of 1764|12 plus 30]?", ()),
    Foreign(
        "How far is it from [Paris to Rome|here to the moon]?",
        ("distance", "city", "travel", "flight", "airport"),
    ),
    Foreign(
        "Can you [book a table|order a pizza|call a taxi] for me?",
        ("restaurant", "booking", "order", "reservation"),
    ),
    Foreign("What is the [exchange rate of the euro|price of gold] today?", ("currency", "stock", "finance")),
    Foreign("Are you [a human|a robot|an AI]?", ()),
    Foreign(
        "Who was the [first president of the United States|last queen of France]?",
        ("president", "politician"),
    ),
    Foreign("[Sing|Play] me a song", ("music", "singer", "song")),
    Foreign("What are the rules of [chess|poker|tennis]?", ("game", "sport", "player")),
)
"""What no such database is about."""
