"""Words that stand for something said before: "those", "their", 他们.

They are few and closed classes, as in any language, and only looked for where a conversation has nothing to refer to.
"""

from __future__ import annotations

import re

_PRONOUNS = re.compile(
    r"\b(?:th(?:ose|ese|em|ey|eir|eirs)|he|him|his|she|hers?)\b(?!\W+(?:\w+\W+){0,2}?(?:who|whose|that|which|with|without|where)\b)"
    r"|[他她它]们|其中|这些|那些|[他她]的",
    re.IGNORECASE,
)
"""Not where what follows says who is meant: "those who were discharged", "those patients with sepsis"."""


def first_reference(question: str) -> int | None:
    """Where the first such word stands, in characters; None where there is none."""
    found = _PRONOUNS.search(question)
    return None if found is None else found.start()
