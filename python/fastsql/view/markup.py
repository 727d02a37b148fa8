"""Pieces of HTML that every notebook view is made of: text, tables, the section around them."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence

from fastsql.view.style import CLASS, STYLE

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MOST_CHARACTERS = 20_000
"""Characters of one text that are shown: a page must stay light whatever the question."""


def section(label: str, parts: Iterable[str]) -> str:
    """A view as one `section` element with its style; `label` says what it is, `parts` are HTML already."""
    return (
        f'<section class="{CLASS}" aria-label="fastsql: {html.escape(label)}">'
        f"<style>{STYLE}</style>{''.join(parts)}</section>"
    )


def escaped(text: str) -> str:
    """Text as HTML; characters that steer the line's direction or a terminal are shown by their number instead."""
    shown = text[:_MOST_CHARACTERS]
    more = len(text) - len(shown)
    pieces = []
    for character in shown:
        if character in _BIDI or (
            unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t"
        ):
            pieces.append(f'<span class="steer">[U+{ord(character):04X}]</span>')
        else:
            pieces.append(html.escape(character, quote=True))
    return "".join(pieces) + (f" [{more:,} characters more]" if more else "")


def isolated(text: str) -> str:
    """Text whose direction does not reach its neighbours."""
    return f"<bdi>{escaped(text)}</bdi>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], figures: frozenset[int] = frozenset()) -> str:
    """A table; `head` is plain text, `rows` are HTML already, `figures` are columns of numbers."""
    heads = "".join(f'<th scope="col">{escaped(name)}</th>' for name in head)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="figure">{cell}</td>' if place in figures else f"<td>{cell}</td>"
            for place, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
