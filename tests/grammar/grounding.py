"""Action spaces in which a given program can be written."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar import ActionSpace, Literal, Program
from fastsql.limits import DEFAULT, Limits
from fastsql.linking import Candidate
from fastsql.schema import Schema

EVERYWHERE = (0, 1, 2)
"""Numbers that every query may use."""
WORDS = re.compile(r"[\u4e00-\u9fff]|\w+|[^\w\s]")


def tokens(text: str) -> NDArray[np.int32]:
    """Words, Chinese characters and punctuation marks: int32[Q, 2]."""
    spans = [match.span() for match in WORDS.finditer(text)]
    return np.asarray(spans, dtype=np.int32).reshape(-1, 2)


def space_for(
    schema: Schema, text: str, candidates: tuple[Candidate, ...] = (), limits: Limits = DEFAULT
) -> ActionSpace:
    """The space of a question, tokenised into words."""
    return ActionSpace.for_question(schema, text, tokens(text), candidates, limits=limits)


def literals_as_candidates(program: Program) -> tuple[Candidate, ...]:
    """A candidate for every literal of a program that neither the schema nor the closed set offers."""
    found: dict[tuple[object, str], Candidate] = {}
    for item in program:
        if isinstance(item, Literal) and not item.name and item.value not in EVERYWHERE:
            kind = "date" if item.format else "text" if isinstance(item.value, str) else "number"
            source = "quoted" if kind == "text" else kind
            found[item.value, item.format] = Candidate(item.value, kind, (0, 1), source, (), item.format)
    return tuple(found.values())
