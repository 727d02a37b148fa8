"""English words of questions, by what they say of a query."""

from __future__ import annotations

import re

from fastsql.profile.english import word_set


def _either_of(*phrases: str) -> re.Pattern[str]:
    longest_first = sorted((phrase for text in phrases for phrase in text.split("/")), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(longest_first)})\b")


AT_LEAST = _either_of(
    "at least/or more/or greater/or higher/or above/or later/or older/or over/no less than/not less than"
    "/no fewer than/greater than or equal to/minimum of"
)
AT_MOST = _either_of(
    "at most/or less/or fewer/or lower/or below/or earlier/or younger/or under/up to/no more than/not more than"
    "/less than or equal to/maximum of"
)
MORE = _either_of(
    "(?:more|greater|larger|higher|bigger|later|older|longer) than/over/above/exceeds?/exceeding/exceeded/after"
)
LESS = _either_of("(?:less|fewer|lower|smaller|earlier|younger|shorter) than/under/below/before")
BETWEEN = _either_of("between/from [^,]* to/ranging/within")
FALLING = _either_of(
    "descending/decreasing/desc/(?:from )?(?:the )?(?:highest|largest|biggest|greatest|most|high) to (?:the )?"
    "(?:lowest|smallest|least|fewest|low)/(?:highest|largest|most) first"
)
RISING = _either_of(
    "ascending/increasing/asc/(?:from )?(?:the )?(?:lowest|smallest|least|fewest|low) to (?:the )?"
    "(?:highest|largest|biggest|greatest|most|high)/(?:lowest|smallest|fewest) first"
)
ORDERED = _either_of("sort(?:ed|ing)?/order(?:ed|ing)?/rank(?:ed|ing)?/arranged?")
COUNTED = _either_of("how many/(?:total )?numbers?/(?:total |head )?counts?/counted/counting")
HIGHEST = _either_of("highest/largest/biggest/greatest/maximum/maximal/max/most/top")
LOWEST = _either_of("lowest/smallest/least/minimum/minimal/min/fewest")
MEAN = _either_of("averages?/mean/avg")
SUMMED = _either_of("totals?/sums?/combined/overall/altogether")
DIFFERENT = _either_of("distinct/different/unique/various")
DENIED = _either_of(
    "not/no/never/without/none/neither/nor/except/excluding/other than/besides/but/don t/doesn t"
)
EACH = _either_of("each/every/per")
BY = _either_of("each/every/per/by")
CHOICE = _either_of("or/either")
CONTAINED = _either_of("contain(?:s|ing|ed)?/includ(?:e|es|ing)/substring/letters?/word")
BEGUN = _either_of("start(?:s|ing)?/begin(?:s|ning)?/prefix")
ENDED = _either_of("end(?:s|ing)?/suffix")

VERBS = word_set(
    """
    is are was were do does did has have had can could would will shall should may must
    belong belongs contain contains include includes start starts begin begins end ends exist exists exceed exceeds
    """
)
"""What the main verb of a question may be, beside those of the grammar's own wordings. "Have been" is none: a model says
"customers who have been policies" where a table joins another."""
AUXILIARIES = word_set("do does did")
"""These need another verb behind them."""
ASKING = re.compile(r"(?:and |please )?(?:what|which|who|whose|where|when|how)\b")
"""How a sentence begins that needs a verb; "Wards with two visits" needs none."""
RELATIVE = re.compile(r"\b(?:who|that|which) ([^\W\d_]+)")
"""A verb behind the word that refers to its subject."""
REFERRING = word_set("who that which whose")
"""Words behind which a verb is that of another clause."""
BEFORE_EACH = word_set("of for in by to at with within from per and does do did is are was were has have had")
BEFORE_NO = word_set("of for in with within have has had is are was were there and or")
"""What stands before "each" and "no" in a sentence."""

BEFORE_NAMING = word_set("please and then to can you")
"""What stands before "name" where it is what to do."""

QUESTION_WORDS = word_set(
    """
    a an the this that these those it its they them their there here any all both one ones some such same
    i me my we us our you your
    who whom whose what which when where how many much
    is are was were do does did have has had having can could would will shall should may must
    s t re d ll m don doesn
    and or but not no nor never without none neither except excluding besides than then
    of in on at to from for with within by as into about between per each every among over under above below after before
    up out also together along corresponding respective associated given following only just still ever
    list show tell give find return get display please provide state name report count compute calculate determine
    need want like know see look let help hello hi thanks
    number numbers total totals sum average averages mean avg maximum minimum max min highest lowest largest smallest
    biggest greatest most least fewest top combined overall
    more less fewer greater larger higher lower smaller bigger exceed exceeds exceeding equal
    sort sorted order ordered rank ranked ascending descending increasing decreasing first high low
    distinct different unique
    contain contains containing include includes including start starts starting begin begins beginning end ends ending
    belong belongs belonging called named recorded record records stored exist exists database
    if whether so either other others
    """
)
"""Words that say nothing of the schema; a wording takes all others from its query's names, values and own wordings."""
