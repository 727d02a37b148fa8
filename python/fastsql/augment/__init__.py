"""Synthetic questions with SQL over MIMIC-IV's tables: meanings composed of parts, in words and SQL of many templates."""

from __future__ import annotations

from fastsql.augment.generate import generate
from fastsql.augment.values import Vocabulary, VocabularyError

__all__ = ["Vocabulary", "VocabularyError", "generate"]
