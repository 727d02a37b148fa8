"""Which unanswerable questions are wordings of one: data sets do not say, and folds must not part them.

Questions are joined that share much of what is telling in them: a cosine of word sets, weighted by how rare a word is
among them, above a half. Whoever is joined through a third belongs together, too, so families are rather too large than
too small, and what a regression is said to achieve on unseen ones is rather too little than too much.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from fastsql.linking.relations import split_words

ALIKE = 0.5


def families(questions: Sequence[str], alike: float = ALIKE) -> tuple[int, ...]:
    """A number for each question, the same within a family. Words with digits, and those met only once, tell nothing."""
    sets = [
        {word for word, _, _ in split_words(question) if not any(map(str.isdigit, word))}
        for question in questions
    ]
    counts = Counter(word for words in sets for word in words)
    rarity = {word: math.log((len(sets) + 1) / count) for word, count in counts.items() if count > 1}
    telling = [{word for word in words if word in rarity} for words in sets]
    lengths = [math.sqrt(sum(rarity[word] ** 2 for word in words)) for words in telling]
    parent = list(range(len(questions)))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for one in range(len(questions)):
        for other in range(one):
            shared = sum(rarity[word] ** 2 for word in telling[one] & telling[other])
            if shared > alike * lengths[one] * lengths[other]:
                parent[root(one)] = root(other)
    return tuple(root(number) for number in range(len(questions)))
