"""Text between quotation marks, as the user typed it."""

from __future__ import annotations

import re

from fastsql.linking.candidate import Candidate

_LONGEST = 200
_PAIRS = (('"', '"'), ("“", "”"), ("「", "」"), ("『", "』"), ("《", "》"), ("‘", "’"), ("`", "`"))
_QUOTED = re.compile(
    "|".join(
        f"{start}(?P<q{index}>[^{start[0]}{end[0]}\n]{{1,{_LONGEST}}}){end}"
        for index, (start, end) in enumerate(_PAIRS)
    )
    # An apostrophe opens a quotation only where a word could start, and closes it only where a word could end.
    + rf"|(?<![^\s(\[,:=])'(?P<single>[^\s'](?:[^\n']|'(?=\w)){{0,{_LONGEST}}})'(?![\w])"
)


def find_quoted(question: str) -> tuple[Candidate, ...]:
    """Quoted spans of the question, without their marks and outer blanks, in the case in which they are written."""
    found = []
    for match in _QUOTED.finditer(question):
        group = match.lastgroup or ""
        inner = match[group]
        value = inner.strip()
        if not value:
            continue
        start = match.start(group) + len(inner) - len(inner.lstrip())
        found.append(Candidate(value, "text", (start, start + len(value)), "quoted"))
    return tuple(found)
