"""Synthetic questions with SQL: what draws, checks, balances and writes them, whatever schema they are about."""

from __future__ import annotations

from fastsql.synthesis.generate import generate, generate_drawn
from fastsql.synthesis.source import Draft, Source, Trial
from fastsql.synthesis.write import write_pairs

__all__ = ["Draft", "Source", "Trial", "generate", "generate_drawn", "write_pairs"]
