"""Reliability: how sure a parse is, whether the question has an answer at all, and whether to give it."""

from __future__ import annotations

from fastsql.reliability.assess import Assessment, Judge, Reliability
from fastsql.reliability.decision import pays, threshold
from fastsql.reliability.evidence import FEATURES, Evidence
from fastsql.reliability.familiarity import Familiarity
from fastsql.reliability.inspection import Inspector, Rule

__all__ = [
    "FEATURES",
    "Assessment",
    "Evidence",
    "Familiarity",
    "Inspector",
    "Judge",
    "Reliability",
    "Rule",
    "pays",
    "threshold",
]
