"""Synthetic questions with SQL: what draws, checks, balances and writes them, whatever schema they are about."""

from __future__ import annotations

from fastsql.synthesis.generate import generate, generate_drawn
from fastsql.synthesis.source import Contrast, Draft, Refusal, Source, Trial, VariedSource
from fastsql.synthesis.varied import generate_varied
from fastsql.synthesis.write import write_pairs

__all__ = [
    "Contrast",
    "Draft",
    "Refusal",
    "Source",
    "Trial",
    "VariedSource",
    "generate",
    "generate_drawn",
    "generate_varied",
    "write_pairs",
]
