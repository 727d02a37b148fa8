"""SQL skeletons: what is left of a query when its values, or its values and names, are taken out.

Two queries of one skeleton differ in what is asked about, not in how; a split "by template" keeps the two sides free of
common skeletons.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""(?P<string>'(?:[^']|'')*')
    | (?P<name>"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\])
    | (?P<number>(?<![\w.])\d+(?:\.\d*)?(?:e[+-]?\d+)?|(?<!\w)\.\d+)
    | (?P<word>[^\W\d][\w$]*)
    | (?P<operator><>|!=|<=|>=|==|\|\||.)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_KEYWORDS = """
    all and any as asc between by case cast cross current_date current_time current_timestamp desc distinct else end escape
    except exists filter first following from full glob group having in inner intersect is isnull join last left like limit
    natural not notnull null nulls offset on or order outer over partition preceding range recursive right row rows select
    then unbounded union using values when where window with
    """
_KEYWORD_SET = frozenset(_KEYWORDS.split())


def skeleton(sql: str, *, names: bool = True) -> str:
    """The skeleton of a query: literals replaced by a placeholder, letter case and white space evened out.

    Without `names`, those of tables, columns and aliases go too: what stays is the mere form.

    Strings of every kind count as literals, strftime formats too; functions are no names.
    """
    parts: list[str] = []
    found = _tokens(sql)
    for position, match in enumerate(found):
        kind, text = match.lastgroup, match[0].lower()
        follows = found[position + 1][0] if position + 1 < len(found) else ""
        if kind == "string":
            parts.append("'v'")
        elif kind == "number":
            parts.append("n")
        elif kind == "name":
            parts.append(text[1:-1] if names else "_")
        elif kind == "word" and not names and text not in _KEYWORD_SET and follows != "(":
            parts.append("_")
        else:
            parts.append({"<>": "!=", "==": "="}.get(text, text))
    return " ".join(parts)


def tokens(sql: str) -> list[str]:
    """The tokens of a query as they are written: literals, quoted names, words and signs; no semicolon at its end."""
    return [match[0] for match in _tokens(sql)]


def _tokens(sql: str) -> list[re.Match[str]]:
    found = [match for match in _TOKEN.finditer(sql) if not match[0].isspace()]
    while found and found[-1][0] == ";":
        found.pop()
    return found
