"""How a result is shown: as HTML to a notebook, as text to a terminal."""
