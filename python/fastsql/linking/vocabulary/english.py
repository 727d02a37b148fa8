"""English words: those that say nothing by themselves, numerals, names of months, units.

Entries of a tuple may be parts of regular expressions.
"""

from __future__ import annotations

# ---------------------------------------------------------------- words that say nothing by themselves

NAMES_NOTHING = frozenset(
    (
        "a",
        "an",
        "and",
        "at",
        "by",
        "for",
        "from",
        "in",
        "is",
        "it",
        "of",
        "on",
        "or",
        "the",
        "to",
        "with",
        "s",
    )
)
"""In a name of a table or column: a model was trained with these relations."""

_ASKS_FOR_NOTHING = """
a about all also an and any are as at be been between both but by can could did do does each for from had has have how i if
in into is it its many may me more most much my of on or out over please same so some such than that the their them
then there these they this those to us was we were what when where which while who whose will with would you your
"""
ASKS_FOR_NOTHING = frozenset(_ASKS_FOR_NOTHING.split())
"""In a question, where names of a large schema are looked for."""
COMMANDS = frozenset({"find", "get", "give", "list", "please", "return", "show", "tell"})
"""Words that open a request. Elsewhere they name things: a mailing list, a tax return."""
BESIDE_COMMANDS = frozenset({"also", "and", "me", "then", "us"})
"""What may stand before or behind an opening command."""

_NO_VALUE = """
a about after again all also am among an and any are as at be been before being below between both but by can could did do
does during each every few for from had has have he her him his how i if in into is it its last list many may me more most
much my no not now of off on once one only or other our out over own per please same she show since so some such tell than
that the their them then there these they this those through time times to today total under until up us was we were what
when where which while who whom whose why will with within would yes yet you your first second third next two three four
five six seven eight nine ten day days month months year years
"""
NO_VALUE = frozenset(_NO_VALUE.split())
"""Words that are no value of a database by themselves."""

# ---------------------------------------------------------------- numerals

_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen"""
_ORDINALS = """second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SMALL_NUMERALS = {word: value for value, word in enumerate(_UNITS.split())}
SMALL_NUMERALS |= {word: 10 * value for value, word in enumerate(TENS, start=2)}
SMALL_NUMERALS["dozen"] = 12
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
MULTIPLES = {"twice": 2, "thrice": 3}

ORDINALS = {word: value for value, word in enumerate(_ORDINALS.split(), start=2)} | {"thirtieth": 30}
"""Ordinals in words from ``second`` on. ``first`` is left out: it says an order, and 1 is always at hand."""

DECADES = {word[:-1] + "ies": 10 * value for value, word in enumerate(TENS, start=2)}
"""``twenties`` and so on, with the first year of the decade."""

NOT_ONE_BEFORE = frozenset(
    {"which", "the", "this", "that", "each", "any", "only", "every", "no", "another", "last", "first", "next"}
)
"""Before "one", these make it a pronoun."""
NOT_ONE_AFTER = frozenset({"of", "another"})
"""And these do behind it."""
SECOND_IS_TIME_AFTER = frozenset({"per", "every", "each"})

# ---------------------------------------------------------------- units

MEASURES = (
    *("mg", "mcg", "ug", "kg", "g", "mm", "cm", "ml", "dl", "l", "meq", "mmol", "iu", "units?", "bpm"),
    *("x", "times?"),
)
"""What may stand directly behind the digits of a number. Any other letter makes the whole a code, such as "5ht" or "3a"."""
TIMES = (
    *("hrs?", "h", "mins?", "s", "d", "days?", "w", "weeks?", "months?", "m", "y", "yrs?", "years?"),
    "yo",
)
"""The same, of units of time."""
COUNTED = (
    *(
        "%",
        "mg",
        "mcg",
        "ug",
        "g",
        "kg",
        "ml",
        "l",
        "meq",
        "mmol",
        "units?",
        "iu",
        "dollars?",
        "usd",
        "times?",
    ),
    *("days?", "hours?", "months?", "years?", "weeks?", "minutes?", "seconds?", "yuan"),
)
"""Behind four digits, these say that the number is no year."""
DURATIONS = ("weeks?", "wks?", "decades?", "fortnights?", "quarters?")
"""Units of time that SQL counts in smaller ones."""
OR, AND = ("or",), ("and",)
"""Between what is listed."""
RANGE_TO = ("to", "through", "until", "till")
"""Between two dates, these make a range of them."""
IN_TIME = ("in", "on", "during", "for", "of")
"""Before a year or a month, these say that something was then."""
BEFORE_LENGTHS = (
    *("than", "over", "under", "above", "below", "exceeding", "exceeds"),
    *("at least", "at most", "within", "after"),
)
"""Before "a week", these say how long something takes, not how often it happens."""
UNITS_OF_DURATIONS = {"day": "days?", "hour": "hours?|hrs?", "minute": "minutes?|mins?"}
BEFORE_RELATIVE_TIMES = (
    *("last", "past", "previous", "next", "coming", "within", "every", "each", "per", "same"),
)
"""Before a unit, or a number of them, these tell a point in time or how often something happens."""
BEHIND_RELATIVE_TIMES = ("ago", "before", "after", "earlier", "later")
HALVES = {"year": 6, "month": 15, "hour": 30, "day": 12}
"""Half of a unit in the unit below."""

# ---------------------------------------------------------------- dates

MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sept sep", "october oct", "november nov", "december dec"),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
SHORT_MONTHS = tuple(name for name in MONTHS if len(name) == 3)
"""Every name of a month begins with one of these."""
AMBIGUOUS_MONTHS = frozenset({"may", "march", "mar", "dec", "jan", "sep", "jun"})
"""Names of months that are common words or codes, too."""
HOURS_OF_PARTS = {
    "morning": {hour: hour for hour in range(1, 12)},
    "afternoon": {12: 12} | {hour: hour + 12 for hour in range(1, 7)},
    "evening": {hour: hour + 12 for hour in range(5, 12)},
    "night": {12: 0} | {hour: hour for hour in range(1, 6)} | {hour: hour + 12 for hour in range(7, 12)},
}
"""The hours that parts of a day have, by what the clock says: "ten in the evening" is 22."""
WHICH_PERIOD = (
    *("this", "last", "next", "current", "the current", "previous", "the previous", "prior", "past"),
    *("the past", "the same", "same", "that"),
)
"""Before "year" or "month": a date that counts from the present."""
BEFORE_DAYS = ("on", "since", "before", "after", "from", "by", "until", "till", "to", "between", "dated")
"""What stands before a day."""
BEFORE_MONTHS = (
    *("on", "since", "before", "after", "from", "by", "until", "till", "to", "between", "and", "through"),
    *("during", "in", "for", "of", "early", "late", "mid", "every", "each", "this", "last", "next"),
    *("date", "dated", "as of", "at", "starting", "ending"),
)
"""What stands before a month that is named alone."""
BEHIND_THE_VERB_MAY = ("i", "you", "we", "have", "be", "it", "they", "he", "she", "not")

NTH_PARTS = {
    word: number
    for number, words in enumerate(
        (("last",), ("first", "1st"), ("second", "2nd"), ("third", "3rd"), ("fourth", "4th"))
    )
    for word in words
}
"""Which half or quarter of a year; 0 is the last one."""

# ---------------------------------------------------------------- comparisons

COMPARED_BY_SIGNS = {
    "gt": (">",),
    "ge": (">=", "≥"),
    "lt": ("<",),
    "le": ("<=", "≤"),
    "eq": ("=",),
    "ne": ("!=", "<>"),
}
COMPARED_AMOUNTS = {
    "gt": ("above", "over", "more than", "greater than", "higher than", "larger than", "in excess of"),
    "ge": (
        *("at least", "no less than", "not less than", "not below", "not under", "a minimum of"),
        *("greater than or equal to", "more than or equal to"),
    ),
    "lt": ("below", "under", "less than", "lower than", "smaller than"),
    "le": (
        *("at most", "no more than", "not more than", "not above", "not over", "up to", "a maximum of"),
        "less than or equal to",
    ),
    "eq": ("exactly", "equal to"),
    "ne": ("other than", "different from", "different than", "not equal to"),
}
COMPARED_BY_VERBS = {
    "gt": ("exceeds",),
    "le": ("does not exceed",),
    "eq": ("equals",),
    "ne": ("differs from", "does not equal", "is not", "isn't"),
}
COMPARED_TIMES = {
    "gt": ("after", "later than"),
    "ge": ("since", "on or after", "in or after", "starting from", "not before", "no earlier than"),
    "lt": ("before", "prior to", "earlier than"),
    "le": ("until", "on or before", "in or before", "no later than", "not after", "not later than"),
}
"""Before a value, these say how it is compared."""
COMPARED_SELDOM = {
    "gt": (
        "bigger than",
        "exceeding",
        "beyond",
        "older than",
        "heavier than",
        "longer than",
        "taller than",
        "dearer than",
        "after the end of",
        "since the end of",
    ),
    "ge": (
        *("no lower than", "no smaller than", "no fewer than", "not lower than", "not smaller than"),
        *("since the beginning of", "since the start of", "from the beginning of", "from the start of"),
    ),
    "lt": (
        *("fewer than", "younger than", "lighter than", "shorter than", "cheaper than"),
        *("before the beginning of", "before the start of"),
    ),
    "le": (
        *("before the end of", "by the end of", "until the end of", "up to the end of", "till the end of"),
        "no higher than",
        "no greater than",
        "no larger than",
        "not exceeding",
        "not higher than",
        "not greater than",
    ),
    "ne": (
        *("unequal to", "not", "not in", "not on", "not from", "not of", "but not", "outside", "outside of"),
        *("except", "except for", "excluding", "apart from", "aside from"),
    ),
}
"""So do these, with few nouns."""
COMPARED_BEHIND = {
    "ge": ("or more", "or higher", "or above", "and above", "or over"),
    "le": ("or less", "or lower", "or below", "and below", "or under"),
}
"""Behind an amount, these do."""
COMPARED_BEHIND_SELDOM = {
    "ge": (
        *("or older", "and older", "or greater", "or later", "and later", "or after", "onwards", "onward"),
        *("and over", "and up", "and more", "or longer"),
    ),
    "le": (
        *("or younger", "or fewer", "or smaller", "or earlier", "and earlier", "or before"),
        *("and under", "and less", "or shorter"),
    ),
}
DENIALS = (r"n['’]t", r"(?<!\w)(?:not|never|no|without|nor|neither|except|excluding)")
"""Before all that, these may turn it around."""
LEFT_OUT = (r"(?<!\w)(?:leav\w+ out|apart from|other than|but for|drop|omit|remove|skip)",)
"""These leave out what they name."""
NEITHER = r"n(?:either|or)(?:\s+(?:an?|the|at|by|for|from|in|of|on|with))*"
"""Before each of two values, this denies both."""

OLDEST, YOUNGEST = ("oldest",), ("youngest",)
EARLIEST_FIRST = (
    *(*OLDEST, "earliest", "longest ago"),
    r"longest[ -](?:registered|serving|employed|standing|established|waiting|running|enrolled)",
)
LATEST_FIRST = (*YOUNGEST, "newest", "latest", "most recent(?:ly)?")
"""Of points in time, a day of birth among them."""
AGES = ("ages?",)
"""Words in the names of columns that hold the largest number for the oldest; what is latest is none of them."""

# ---------------------------------------------------------------- what no query computes

UNCOMPUTED = (
    r"medians?(?! (?:nerves?|sternotom|lobes?|lines?|planes?|arcuate|raphe|cubital|rhomboid))",
    *(r"(?:standard|std\.?|mean|average) deviations?", "std ?devs?", "stdev", "(?:co)?variances?"),
    *("quartiles?", "quantiles?", "deciles?", "interquartile ranges?", "iqr"),
    *("skewness", "kurtosis", "correlations?", "correlated?", "p-values?"),
    *("confidence intervals?", "standard errors?"),
    *("(?:geometric|harmonic|weighted) (?:mean|average)s?", "(?:moving|rolling) averages?"),
)
"""Statistics that the grammar has no word for, and that look like others that it has."""
UNSAID_PERIODS = (
    r"(?:this|last|previous|current) (?:week|quarter)(?! of)",
    "(?:this|last|past|previous|current) fortnight(?! of)",
)
"""Periods that models have not learnt to say; rules put some of them in (`parser/periods.py`)."""

# ---------------------------------------------------------------- endings

ENDINGS = (
    *("ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion"),
    *("ied", "ies", "ed", "es", "ers", "er", "ly", "s"),
)
"""Inflections and common endings, the longer ones first."""
