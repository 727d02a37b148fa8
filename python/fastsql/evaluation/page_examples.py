"""The examples of a report page: question, gold and predicted SQL, marked where the two differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from html import escape

from fastsql.evaluation.categories import decision_of, faults_of
from fastsql.evaluation.judged import Judged

_WORD = re.compile(r"'(?:[^']|'')*'|\w+|\s+|.", re.DOTALL)
_COMPARED = 2_000


class Examples:
    """Writes examples by category; one that was shown before is referred to by its number."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._numbers: dict[str, int] = {}

    def of_categories(self, found: Mapping[str, Sequence[Judged]], meanings: Mapping[str, str]) -> str:
        """A section a category: its name, its count, what it means, and up to `most` examples."""
        parts = []
        for name, items in found.items():
            parts.append(
                f"<h3>{escape(name)}: {len(items):,}</h3>\n<p class=soft>{escape(meanings[name])}</p>\n"
            )
            parts += [self._example(item) for item in items[: self._most]]
        return "".join(parts)

    def _example(self, item: Judged) -> str:
        known = self._numbers.get(item.prediction.id)
        if known is not None:
            return f'<p class=soft>also <a href="#example-{known}">example {known}</a></p>\n'
        number = self._numbers[item.prediction.id] = len(self._numbers) + 1
        example, prediction = item.example, item.prediction
        decision = decision_of(item)
        kinds = [*([decision] if decision else []), *faults_of(item)]
        gold, predicted = marked(example.sql or "", prediction.sql or "")
        return (
            f'<div class=example id="example-{number}">\n'
            f"<p class=label>{number} &middot; {escape(example.db_id)} &middot; {escape(example.id)} &middot; "
            f"confidence {prediction.confidence:.3f} &middot; {escape(', '.join(kinds))}</p>\n"
            f"<p class=question>{escape(example.question)}</p>\n"
            f"<p class=label>gold</p>{_code(gold, 'none: to be refused')}"
            f"<p class=label>predicted</p>{_code(predicted, 'none')}</div>\n"
        )


def marked(gold: str, predicted: str) -> tuple[str, str]:
    """Both queries as HTML, with ``<mark>`` where the texts differ; letter case and white space do not count.

    Very long queries, and those without a counterpart, are not marked.
    """
    sides = [_WORD.findall(text) for text in (gold, predicted)]
    if not all(sides) or max(map(len, sides)) > _COMPARED:
        return escape(gold), escape(predicted)
    one, other = ([word.lower() if word.strip() else " " for word in side] for side in sides)
    shared = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return (
        _mark(sides[0], [(block.a, block.size) for block in shared]),
        _mark(sides[1], [(block.b, block.size) for block in shared]),
    )


def _mark(words: Sequence[str], shared: Sequence[tuple[int, int]]) -> str:
    """Words as HTML, those outside the `shared` runs (start, length) marked."""
    parts = []
    position = 0
    for start, size in shared:
        own = "".join(words[position:start])
        if own.strip():
            parts.append(f"<mark>{escape(own)}</mark>")
        else:
            parts.append(escape(own))
        position = start + size
        parts.append(escape("".join(words[start:position])))
    return "".join(parts)


def _code(content: str, nothing: str) -> str:
    return f"<pre>{content}</pre>\n" if content else f"<p class=soft>{nothing}</p>\n"
