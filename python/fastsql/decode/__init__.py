"""Decoding: constrained beam search over the action grammar."""

from __future__ import annotations

from fastsql.decode.beam import Hypothesis, Search, beam_search

__all__ = ["Hypothesis", "Search", "beam_search"]
