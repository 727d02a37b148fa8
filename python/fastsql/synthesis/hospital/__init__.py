"""Synthetic questions with SQL over MIMIC-IV's tables: families of questions, each in words and SQL of many templates."""

from __future__ import annotations

from fastsql.synthesis.hospital.source import DATABASE, Hospital
from fastsql.synthesis.hospital.values import Vocabulary, VocabularyError

__all__ = ["DATABASE", "Hospital", "Vocabulary", "VocabularyError"]
