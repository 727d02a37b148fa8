"""SVG as text: shapes, a palette for light and dark, and a frame that stays legible wherever it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
CHARACTER = 0.602
"""Width of a character as a share of the font's size, as most fonts named in `FONT` have it."""

_LIGHT = (
    *("ground:#ffffff", "ink:#1f2328", "faint:#59636e", "line:#d1d9e0", "panel:#f6f8fa"),
    *("value:#116329", "column:#0550ae", "table:#8250df", "time:#953800", "bar:#54aeff", "soft:#b6e3ff"),
    *(
        "bad:#cf222e",
        "mint:#aceebb",
        "peach:#ffd8b5",
        "lilac:#e6d5ff",
        "sky:#b6e3ff",
        "rose:#ffcecb",
        "sand:#f5e0a3",
    ),
)
_DARK = (
    *("ground:#0d1117", "ink:#e6edf3", "faint:#9198a1", "line:#3d444d", "panel:#151b23"),
    *("value:#7ee787", "column:#79c0ff", "table:#d2a8ff", "time:#ffa657", "bar:#1f6feb", "soft:#0c2d6b"),
    *(
        "bad:#ff7b72",
        "mint:#116329",
        "peach:#7d3e04",
        "lilac:#5a3a91",
        "sky:#0c3d7a",
        "rose:#86201d",
        "sand:#6b5208",
    ),
)


def _style(shapes: str) -> str:
    """The rules of the colours that are used. No CSS variables: not every viewer of SVG knows them."""
    rules = []
    for entries in (_LIGHT, _DARK):
        colours = [entry.split(":") for entry in entries]
        filled = [f".f-{name}{{fill:{colour}}}" for name, colour in colours if f"f-{name}" in shapes]
        drawn = [
            f".s-{name}{{stroke:{colour};fill:none}}" for name, colour in colours if f"s-{name}" in shapes
        ]
        rules.append("".join([*filled, *drawn]))
    fonts = f"text{{font-family:{FONT};white-space:pre}}.b{{font-weight:700}}"
    return f"{fonts}{rules[0]}@media(prefers-color-scheme:dark){{{rules[1]}}}"


def text(
    x: float,
    y: float,
    content: str,
    colour: str = "ink",
    *,
    size: float = 12,
    anchor: str = "start",
    bold: bool = False,
    fixed: bool = False,
) -> str:
    """A line of text whose base line begins (or ends, or has its middle) at a point; `fixed` in width for any font."""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    place += f' textLength="{len(content) * size * CHARACTER:.1f}"' if fixed else ""
    look = f"f-{colour} b" if bold else f"f-{colour}"
    return f'<text x="{x:g}" y="{y:g}" class="{look}" font-size="{size:g}"{place}>{escape(content)}</text>'


def turned(
    x: float, y: float, content: str, colour: str = "ink", *, size: float = 11, angle: int = -90
) -> str:
    """A line of text turned about its beginning."""
    return (
        f'<text transform="translate({x:g} {y:g}) rotate({angle})" class="f-{colour}" font-size="{size:g}">'
        f"{escape(content)}</text>"
    )


def box(x: float, y: float, width: float, height: float, colour: str, *, edge: str = "") -> str:
    """A rectangle, filled, with an edge where it has a colour."""
    shape = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="f-{colour}"/>'
    if not edge:
        return shape
    return shape + f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="s-{edge}"/>'


def path(data: str, colour: str, *, width: float = 1.5, dashes: str = "") -> str:
    """A stroked path."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="{data}" class="s-{colour}" stroke-width="{width:g}"{dashed}/>'


def dot(x: float, y: float, radius: float, colour: str) -> str:
    """A filled circle."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:.2g}" class="f-{colour}"/>'


def picture(width: float, height: float, title: str, description: str, shapes: Iterable[str]) -> str:
    """A whole picture on a ground of its own, so that it can be read whatever the page around it looks like."""
    drawn = "\n".join((box(0, 0, width, height, "ground"), *shapes))
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    lines = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} xml:space="preserve" role="img" aria-labelledby="t d">',
        f'<title id="t">{escape(title)}</title>',
        f'<desc id="d">{escape(description)}</desc>',
        f"<style>{_style(drawn)}</style>",
        drawn,
        "</svg>\n",
    )
    return "\n".join(lines)
