"""How far two texts are from each other: a distance over words and letters, for values that a question says almost.

Texts are compared as words (`folding.keys`), so case, blanks and punctuation do not count. Of three ways of getting from one
to the other, the cheapest counts:

- by letters, blanks left out: each letter that is missing, too much, another one, or swapped with its neighbour costs 1;
  where nothing but blanks differs, a half;
- by words in any order: a word is paired with one that differs from it in at most a third of its letters (by letters, as
  above) or that begins it (each missing letter costs a half: "gluc" for glucose); a word without a partner costs half its
  letters; that the order differs costs 1;
- by initials, where one word has those of three or more: a quarter of the letters.

The distance is that cost divided by the letters of the longer text, at most 1. Numbers are never misspelled: words with
digits are paired only with equal ones and cost four letters more without a partner; texts whose digits differ are not
compared by letters. 0 is for equal words in equal order, and nothing else. The distance is symmetric; it is no metric, as
parts of a text are nearer to it than to each other. `csrc/linking/nearness.cc` computes the same.
"""

from __future__ import annotations

from collections.abc import Sequence

SHORTEST = 3
"""Letters that a cut word has at least, and words that are said by their initials."""
PER_EDIT, STRICTLY = 3, 8
"""Letters of a word for each that may be misspelled."""
DIGITS = frozenset("0123456789٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹०१२३४५६७८९")
OTHER_NUMBER = 8
"""What a word with digits costs without a partner, besides its letters, in half letters."""


def distance(one: Sequence[str], other: Sequence[str]) -> float:
    """The distance of two sequences of words, 0 to 1; 1 where one of them is empty and the other is not."""
    whole = max(sum(map(len, one)), sum(map(len, other)))
    return half_letters(one, other) / (2 * whole) if whole else 0.0


def half_letters(one: Sequence[str], other: Sequence[str], per_edit: int = PER_EDIT) -> int:
    """What it costs to get from one sequence of words to the other, in half letters: at most two for each of the longer.

    `per_edit`: letters of the longer of two words that each misspelled letter needs; `STRICTLY` many where one name must not
    be taken for another, of texts compared by letters too.
    """
    if one == other:
        return 0
    first, second = "".join(one), "".join(other)
    most = 2 * max(len(first), len(second))
    if not first or not second:
        return most
    cost = min(_by_words(one, other, per_edit), most)
    if _are_initials(one, other) or _are_initials(other, one):
        cost = min(cost, most // 4)
    if 2 * abs(len(first) - len(second)) < cost and _digits(first) == _digits(second):
        count = edits(first, second)
        strictly = _may_be(count, most // 2, per_edit) and _begin_alike(first, second, per_edit)
        if per_edit < STRICTLY or strictly:
            cost = min(cost, max(1, 2 * count))
    return cost


def edits(one: str, other: str) -> int:
    """Letters to insert, delete, replace, or swap with their neighbour, no two of these in one place.

    The optimal string alignment distance, bit-parallel: Hyyrö, "A bit-vector algorithm for computing Levenshtein and
    Damerau edit distances", Nordic Journal of Computing 10 (2003).
    """
    if len(one) < len(other):
        one, other = other, one
    if not other:
        return len(one)
    masks: dict[str, int] = {}
    for place, letter in enumerate(other):
        masks[letter] = masks.get(letter, 0) | 1 << place
    every, last = (1 << len(other)) - 1, 1 << len(other) - 1
    up, down, diagonal, before = every, 0, 0, 0
    count = len(other)
    for letter in one:
        equal = masks.get(letter, 0)
        swapped = ((~diagonal & equal) << 1) & before
        diagonal = ((((equal & up) + up) ^ up) | equal | down | swapped) & every
        right, left = (down | ~(diagonal | up)) & every, diagonal & up
        count += bool(right & last) - bool(left & last)
        right = (right << 1 | 1) & every
        up, down = (left << 1 | ~(diagonal | right)) & every, right & diagonal
        before = equal
    return count


def pair_cost(one: str, other: str, per_edit: int = PER_EDIT) -> int | None:
    """What it costs to read one word for another, in half letters; None where they have nothing to do with each other."""
    if one == other:
        return 0
    if _digits(one) or _digits(other):
        return None
    short, long = sorted((one, other), key=len)
    missing = len(long) - len(short)
    if len(short) >= SHORTEST and long.startswith(short):
        return missing
    if not _may_be(missing, len(long), per_edit) or not _begin_alike(one, other, per_edit):
        return None
    cost = edits(one, other)
    return 2 * cost if _may_be(cost, len(long), per_edit) else None


def _may_be(count: int, length: int, per_edit: int) -> bool:
    """Whether so many misspelled letters are few; one always is in five."""
    return per_edit * count <= length or (count < 2 and length > 4)


def _begin_alike(one: str, other: str, per_edit: int) -> bool:
    """Whether two words begin with the same letter, which few misspellings change; not strictly, any do."""
    return per_edit < STRICTLY or one[:1] == other[:1]


def _by_words(one: Sequence[str], other: Sequence[str], per_edit: int) -> int:
    pairs = _paired(one, other, per_edit)
    cost = sum(price for _, _, price in pairs)
    first, second = {place for place, _, _ in pairs}, {place for _, place, _ in pairs}
    cost += sum(_alone(word) for place, word in enumerate(one) if place not in first)
    cost += sum(_alone(word) for place, word in enumerate(other) if place not in second)
    order = [place for _, place, _ in sorted(pairs)]
    return cost + 2 * (order != sorted(order))


def _paired(one: Sequence[str], other: Sequence[str], per_edit: int) -> list[tuple[int, int, int]]:
    """Places of words that stand for each other, with what it costs: equal ones first, then the cheapest."""
    pairs: list[tuple[int, int, int]] = []
    free: dict[str, list[int]] = {}
    for place, word in enumerate(other):
        free.setdefault(word, []).append(place)
    left = []
    for place, word in enumerate(one):
        if free.get(word):
            pairs.append((place, free[word].pop(0), 0))
        else:
            left.append(place)
    unpaired = sorted(place for places in free.values() for place in places)
    found = []
    for first in left:
        for second in unpaired:
            cost = pair_cost(one[first], other[second], per_edit)
            if cost is not None:
                # No word is left on both sides, so that both directions see the same order.
                texts = sorted((one[first], other[second]))
                found.append((cost, texts, first, second))
    taken: set[int] = set()
    done: set[int] = set()
    for cost, _, first, second in sorted(found):
        if first not in done and second not in taken:
            done.add(first)
            taken.add(second)
            pairs.append((first, second, cost))
    return pairs


def _alone(word: str) -> int:
    return len(word) + (OTHER_NUMBER if _digits(word) else 0)


def initials(words: Sequence[str]) -> str:
    """The first letters of words; empty where they are too few to be said so, or letters alone."""
    if len(words) < SHORTEST or all(len(word) == 1 for word in words):
        return ""
    return "".join(word[:1] for word in words)


def _are_initials(one: Sequence[str], other: Sequence[str]) -> bool:
    return len(one) == 1 and one[0] == initials(other)


def _digits(text: str) -> str:
    return "" if text.isalpha() else "".join(letter for letter in text if letter in DIGITS)
