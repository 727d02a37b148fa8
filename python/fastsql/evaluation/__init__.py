"""Measuring a parser: accuracy, exact match, reliability, calibration, latency, and what goes wrong."""

from __future__ import annotations

from fastsql.evaluation.answers import answer_rows, published_form
from fastsql.evaluation.canonical import CanonicalForm, canonical_form
from fastsql.evaluation.evaluate import Options, evaluate
from fastsql.evaluation.gold_sql import normalise_sql
from fastsql.evaluation.judged import Judged
from fastsql.evaluation.page import write_page
from fastsql.evaluation.plots import write_plots
from fastsql.evaluation.predictions import Prediction, read_predictions, write_predictions
from fastsql.evaluation.report import Report
from fastsql.evaluation.skeleton import skeleton

__all__ = [
    "CanonicalForm",
    "Judged",
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
    "write_page",
    "write_plots",
    "write_predictions",
]
