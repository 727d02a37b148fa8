"""Measuring a parser: execution accuracy, exact match, reliability, latency."""

from __future__ import annotations

from fastsql.evaluation.answers import answer_rows, published_form
from fastsql.evaluation.canonical import CanonicalForm, canonical_form
from fastsql.evaluation.evaluate import Options, evaluate
from fastsql.evaluation.gold_sql import normalise_sql
from fastsql.evaluation.predictions import Prediction, read_predictions, write_predictions
from fastsql.evaluation.report import Report
from fastsql.evaluation.skeleton import skeleton

__all__ = [
    "CanonicalForm",
    "Options",
    "Prediction",
    "Report",
    "answer_rows",
    "canonical_form",
    "evaluate",
    "normalise_sql",
    "published_form",
    "read_predictions",
    "skeleton",
    "write_predictions",
]
