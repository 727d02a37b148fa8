"""Synthetic hospitals to try fastsql on: invented patients in the tables of MIMIC-IV, and in tables with Chinese names."""

from __future__ import annotations

from fastsql.demo.hospital import NOW, create_hospital
from fastsql.demo.languages import DemoHospital, hospital_of
from fastsql.demo.questions import CONVERSATION, QUESTIONS
from fastsql.demo.tables import REFERENCE

__all__ = [
    "CONVERSATION",
    "NOW",
    "QUESTIONS",
    "REFERENCE",
    "DemoHospital",
    "create_hospital",
    "hospital_of",
]
