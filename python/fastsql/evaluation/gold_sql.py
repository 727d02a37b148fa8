"""SQL as the scorer runs it: a fixed "now", and the data sets' own shorthand replaced.

Follows the post-processing of the EHRSQL 2024 scorer (``current_time`` and its kin become a fixed time, ``%y`` and ``%j`` of
strftime become ``%Y`` and ``%J``, names such as ``diastolic_bp_lower`` become bounds of normal), but on tokens, so that the
text inside a value is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from fastsql.datasets.schemas import NORMAL_RANGES

_TOKEN = re.compile(
    r"""'(?:[^']|'')*'        # string
    | "(?:[^"]|"")*"          # quoted name
    | `[^`]*` | \[[^\]]*\]
    | [<>!]\s+=               # an operator that a tokenizer has torn apart
    | \s+
    | [^\W\d]\w*              # word
    | [\d.]+
    | .""",
    re.VERBOSE | re.DOTALL,
)
_TORN = re.compile(r"[<>!]\s+=")
_BOUNDS: Mapping[str, str] = MappingProxyType(
    {
        f"{name}_{end}": str(bound)
        for name, pair in NORMAL_RANGES.items()
        for end, bound in zip(("lower", "upper"), pair, strict=True)
    }
)


def normalise_sql(sql: str, now: str | None = None) -> str:
    """The SQL to run in place of gold or predicted SQL.

    `now` is the time that "now" means, ``YYYY-MM-DD HH:MM:SS``; if it is None, current_time and its kin stay.
    """
    moments = _moments(now) if now else {}
    parts: list[str] = []
    previous = before = ""
    for match in _TOKEN.finditer(sql.strip()):
        token = match[0]
        if token.isspace():
            parts.append(" ")
            continue
        folded = token.lower()
        if _TORN.fullmatch(token):
            token = token[0] + "="
        elif previous != "." and folded in moments:
            token = moments[folded]
        elif previous != "." and folded in _BOUNDS:
            token = _BOUNDS[folded]
        elif (before, previous) == ("strftime", "(") and token.startswith("'"):
            token = token.replace("%y", "%Y").replace("%j", "%J")
        parts.append(token)
        before, previous = previous, folded
    return "".join(parts)


def _moments(now: str) -> dict[str, str]:
    date, _, _time = now.partition(" ")
    moment = f"'{now}'"
    return {"current_time": moment, "current_timestamp": moment, "'now'": moment, "current_date": f"'{date}'"}
