"""Identifiers by their form: which keys the "R0172" of a question can be of.

The values of keys are not kept: there is one for every row. But most are made alike, of letters that many share and digits
that count. The forms of a key's first values, such as R9999 with a 9 for any digit, tell which columns can hold what a
question writes like that; the identifier itself nobody knows before it is asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fastsql.linking.folding import UNSPACED_CLASS, fold
from fastsql.linking.value_index import ValueMatch, is_sql_text

ROWS = 1_000
"""Distinct values of a key that are looked at."""
MOST_FORMS = 8
"""A key of more forms is not made alike: its letters mean something of their own."""
LONGEST = 40
"""Characters of an identifier."""

_DIGIT = re.compile("[0-9]")
_WORD_CHARACTER = rf"[^\W_{UNSPACED_CLASS}]"


def forms_of(values: Iterable[Any]) -> tuple[str, ...]:
    """The forms of a key's values, in order; none where most values have no form, or there are too many.

    What has a form has a letter and a digit. A form of one value alone would nearly be that value, and is left out.
    """
    total = 0
    counts: Counter[str] = Counter()
    for value in values:
        total += 1
        if isinstance(value, str) and len(value) <= LONGEST and is_sql_text(value):
            form = _DIGIT.sub("9", value)
            if "9" in form and any(map(str.isalpha, form)) and form == form.strip():
                counts[form] += 1
    forms = tuple(sorted(form for form, count in counts.items() if count > 1))
    alike = sum(counts[form] for form in forms)
    return forms if len(forms) <= MOST_FORMS and 2 * alike >= total else ()


class Identifiers:
    """Finds identifiers of the forms that columns have. Immutable."""

    def __init__(self, forms: Mapping[int, Iterable[str]]) -> None:
        """`forms` are those of each column, by its index."""
        self._columns: dict[str, dict[str, list[int]]] = {}
        for column, own in sorted(forms.items()):
            for form in own:
                self._columns.setdefault(fold(form), {}).setdefault(form, []).append(column)
        longest_first = sorted(self._columns, key=lambda form: (-len(form), form))
        written = "|".join(re.escape(form).replace("9", "[0-9]") for form in longest_first)
        # Not the R0172 of R0172-3, nor that of XR0172. Chinese is written without a blank.
        self._pattern = re.compile(rf"(?<!{_WORD_CHARACTER})(?:{written})(?!{_WORD_CHARACTER}|[-./][0-9])")

    def said(self, question: str) -> Iterator[ValueMatch]:
        """Where a question says one, as columns would write it, in the order of their places."""
        if not self._columns:
            return
        for match in self._pattern.finditer(fold(question)):
            own = self._columns[_DIGIT.sub("9", match.group())]
            values = tuple(
                (_filled(form, match.group()), tuple(columns)) for form, columns in sorted(own.items())
            )
            yield ValueMatch(match.start(), match.end(), values)


def _filled(form: str, said: str) -> str:
    """A form with the digits of what was said."""
    return "".join(digit if letter == "9" else letter for letter, digit in zip(form, said, strict=True))
