"""Reliability: how sure a parse is, and whether it is sure enough to answer."""

from __future__ import annotations

from fastsql.reliability.confidence import FEATURES, Confidence, evidence

__all__ = ["FEATURES", "Confidence", "evidence"]
