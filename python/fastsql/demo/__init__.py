"""A synthetic hospital to try fastsql on: invented patients in the tables of MIMIC-IV."""

from __future__ import annotations

from fastsql.demo.hospital import NOW, create_hospital
from fastsql.demo.questions import CONVERSATION, QUESTIONS
from fastsql.demo.tables import REFERENCE

__all__ = ["CONVERSATION", "NOW", "QUESTIONS", "REFERENCE", "create_hospital"]
