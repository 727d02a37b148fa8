"""Reliability: how sure a parse is, and whether it is sure enough to answer."""

from __future__ import annotations

from fastsql.reliability.confidence import FEATURES, Confidence, evidence
from fastsql.reliability.familiarity import Familiarity

__all__ = ["FEATURES", "Confidence", "Familiarity", "evidence"]
