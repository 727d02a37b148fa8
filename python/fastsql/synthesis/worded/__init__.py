"""Questions in the words of a language model on the premises, which is shown no value: phase 3 of ScienceBenchmark.

form.py: a query without its literals    prompt.py: what is asked    answers.py: what is taken of an answer
kept.py: answers on disk    wordings.py: all of it, for one query after the other
"""

from __future__ import annotations

from fastsql.synthesis.worded.wordings import Wordings

__all__ = ["Wordings"]
