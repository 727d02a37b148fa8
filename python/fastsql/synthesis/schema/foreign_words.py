"""Words for questions that a database does not answer, in English: attributes and things that it may lack, and frames.

The only place that holds them. A frame's places are {rows}, {one}, {many}, {label}, {labels} and {an}; alternatives stand in
brackets (`phrases.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

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


ATTRIBUTES = {
    "amount": (
        Foreign("shoe size", ("foot",)),
        Foreign("annual income", ("salary", "wage", "earning", "pay", "revenue")),
        Foreign("fuel consumption", ("gas", "mpg", "litre", "mileage")),
        Foreign("carbon footprint", ("emission", "co2")),
        Foreign("parking fee", ("car",)),
        Foreign("screen time", ("hour", "usage")),
        Foreign("battery level", ("charge", "power")),
        Foreign("noise level", ("decibel", "volume", "sound")),
        Foreign("credit score", ("rating", "risk")),
        Foreign("tip", ("gratuity", "amount")),
        Foreign("commute distance", ("travel", "way", "km", "mile")),
        Foreign("number of followers", ("fan", "subscriber", "like")),
        Foreign("number of siblings", ("brother", "sister", "family", "relative")),
        Foreign("overtime", ("hour", "shift", "work")),
        Foreign("water consumption", ("usage", "fluid", "drink")),
        Foreign("mortgage", ("loan", "debt", "credit")),
    ),
    "time": (
        Foreign("wedding date", ("marriage", "marital", "married")),
        Foreign("retirement date", ("retired", "pension")),
        Foreign("date of the last inspection", ("inspected", "check", "audit", "review")),
        Foreign("renewal date", ("renewed", "expiry", "expiration", "valid")),
        Foreign("date of the last login", ("access", "session", "account", "online")),
        Foreign("graduation date", ("degree", "education", "graduated")),
        Foreign("insurance expiry date", ("expiration", "valid", "coverage")),
    ),
    "text": (
        Foreign("favourite colour", ("favorite", "color")),
        Foreign("nickname", ("alias", "short")),
        Foreign("hobby", ("interest", "leisure", "activity")),
        Foreign("licence plate", ("license", "registration", "vehicle", "car")),
        Foreign("zodiac sign", ("star",)),
        Foreign("religion", ("faith", "church", "denomination")),
        Foreign("hair colour", ("color",)),
        Foreign("blood group", ("type",)),
        Foreign("website", ("web", "url", "internet", "site", "homepage", "page")),
        Foreign("shirt size", ("clothing",)),
        Foreign("supervisor", ("manager", "boss", "head", "reporting", "leader", "chief")),
        Foreign("slogan", ("motto", "tagline")),
        Foreign("fax number", ("phone", "tel", "telephone")),
        Foreign("passport number", ("identity", "document")),
        Foreign("native tongue", ("language",)),
    ),
}
"""By kind of column, what it may stand for that no column holds."""

CONCEPTS = (
    Foreign("warehouse", ("storage", "depot", "stock")),
    Foreign("newspaper", ("press", "magazine", "journal", "news")),
    Foreign("lawsuit", ("court", "legal", "case", "trial")),
    Foreign("satellite", ("orbit", "space")),
    Foreign("volunteer", ("helper", "donor")),
    Foreign("parking space", ("car", "garage", "lot")),
    Foreign("recipe", ("cooking", "dish", "meal", "food")),
    Foreign("bicycle", ("bike", "cycle")),
    Foreign("sponsor", ("donor", "funding", "partner")),
    Foreign("vineyard", ("wine", "grape", "farm")),
    Foreign("podcast", ("episode", "audio", "radio")),
    Foreign("coupon", ("voucher", "discount", "promotion")),
    Foreign("theatre play", ("drama", "stage", "show", "performance")),
    Foreign("lighthouse", ("tower", "coast")),
    Foreign("patent", ("invention", "licence")),
    Foreign("museum", ("gallery", "exhibition", "visit")),
    Foreign("tournament", ("match", "competition", "contest", "game", "league")),
    Foreign("subsidy", ("grant", "funding", "aid")),
)
"""Things of which a database may have no table."""

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
        "How come the {rows} have such [a high|a low] {label}?",
    ),
    "action": (
        "[Delete|Remove|Erase] [all|all the|the] {rows}",
        "[Send|Write] an email to [all|] the {rows}",
        "[Add|Create|Insert] a new {one}",
        "[Set|Change] the {label} of the {rows} to [0|10|zero]",
        "[Increase|Double|Reduce] the {label} of the {rows}[| by ten percent]",
        "[Print|Archive|Export] the {rows} [and mail them to me|to a PDF file|to the printer]",
        "[Call|Notify|Remind] the {rows}[| tomorrow| about their {label}]",
        "[Rename|Merge|Duplicate] the {rows}",
        "[Remind me to check|Book an appointment for] the {rows} [tomorrow|next week]",
    ),
}
"""By kind, what is asked of a query's rows and amounts that no query says."""

OUTSIDE = (
    Foreign(
        "[What's|How is] the weather [like today|going to be tomorrow]?",
        ("rain", "temperature", "climate", "forecast"),
    ),
    Foreign(
        "Who won the [last world cup|football game last night]?",
        ("football", "soccer", "team", "player", "sport"),
    ),
    Foreign("[Tell me|Do you know] a [good |]joke[| please]", ()),
    Foreign("What is the meaning of life?", ()),
    Foreign("[How do I|How can I] reset my password?", ("account", "login", "user")),
    Foreign("[Translate|How do you say] good morning [into French|into Spanish]", ("translation",)),
    Foreign("Write [a poem|a short story] about [the sea|autumn|friendship]", ("author", "book", "poet")),
    Foreign(
        "What is the [capital|largest city] of [Australia|Peru|Norway]?",
        ("country", "city", "nation", "state"),
    ),
    Foreign("Which [film|song] should I [watch|listen to] tonight?", ("movie", "music", "singer", "cinema")),
    Foreign("How do I bake [bread|a chocolate cake]?", ("food", "recipe", "ingredient", "baking")),
    Foreign("What [time|day] is it [in Tokyo|over there]?", ("zone",)),
    Foreign("Who [invented|discovered] the [telephone|steam engine|penicillin]?", ("invention", "inventor")),
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
