"""What a drawn figure's legends lie upon."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKER = 6
"""Pixels that a marker at the edge of the plot may reach beyond it."""


def legends_upon_data(figure: Figure) -> list[str]:
    """The words of every legend that lies upon the plot of any axes of the figure, or reaches beyond the figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.transforms import Bbox

    FigureCanvasAgg(figure).draw()
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]
    plots = [axes.get_window_extent().padded(_MARKER) for axes in figure.axes]
    wrong = []
    for legend in legends:
        box = legend.get_window_extent()
        inside = Bbox.intersection(box, figure.bbox)
        whole = inside is not None and inside.width * inside.height >= 0.99 * box.width * box.height
        if not whole or any(box.overlaps(plot) for plot in plots):
            wrong.append(" | ".join(text.get_text() for text in legend.get_texts()))
    return wrong
