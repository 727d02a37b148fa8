"""Which wordings of a model are kept: those that say what their query does, neither more nor less nor otherwise.

lexicon.py: words that tell what a query does    said.py: a question's words against its query
sentence.py: whether it is English               neighbours.py: queries that differ in one thing
guard.py: all of it, and the round trip
"""

from __future__ import annotations

from fastsql.synthesis.guard.guard import Guard

__all__ = ["Guard"]
