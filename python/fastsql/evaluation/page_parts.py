"""What pages of figures are put together from: one HTML file without requests to anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape

from fastsql.evaluation.page_style import STYLE
from fastsql.evaluation.shares import Share


def document(title: str, body: Iterable[str], script: str = "") -> str:
    """The page. A browser runs its `script` and no other, and lets it ask nothing of anybody."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    scripts = f"; script-src 'sha256-{digest}'" if script else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'{scripts}\">\n"
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{''.join(body)}"
        f"{f'<script>{script}</script>' if script else ''}</body>\n</html>\n"
    )


def html_facts(lines: Iterable[tuple[str, str]]) -> str:
    """Labels with what they say."""
    rows = "".join(f"<tr><td>{escape(label)}</td><td>{escape(text)}</td></tr>\n" for label, text in lines)
    return f"<div class=wide><table>\n{rows}</table></div>\n"


def html_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table: the first column and a last one of text are set left, the others right. Empty text for no rows."""
    lines = []
    for row in rows:
        cells = [f"<td>{escape(row[0])}</td>"]
        for cell in row[1:]:
            kind = " class=number" if cell[:1].isdigit() or cell[:1] in ("-", "") else ""
            cells.append(f"<td{kind}>{escape(cell)}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>\n")
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    return f"<div class=wide><table>\n<tr>{head}</tr>\n{''.join(lines)}</table></div>\n" if lines else ""


def said_number(value: float | None) -> str:
    """A figure; "-" for none."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}" if abs(value) < 1 else f"{value:,.1f}"


def said_share(found: Share) -> str:
    """A share in percent, with Wilson's interval."""
    ends = found.interval()
    return (
        "-"
        if ends is None
        else f"{said_number(found.percent)} ({said_number(ends[0])} to {said_number(ends[1])})"
    )
