"""The demo hospital of each language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fastsql.demo import hospital, questions, tables


@dataclass(frozen=True)
class DemoHospital:
    """A hospital and what it is asked."""

    create: Callable[[Path], None]
    """Writes it to an SQLite file that is not there yet; the same everywhere."""
    now: str
    """The time there."""
    questions: tuple[str, ...]
    """Each by itself. The last one nobody can answer from the hospital's tables."""
    conversation: tuple[str, ...]
    """One after the other: each goes on from those before."""
    counted: tuple[str, ...]
    """Tables whose rows tell its size."""
    reference: tuple[str, ...] = ()
    """Tables that are terminologies."""
    penalty: float | None = None
    """How many right answers a wrong one outweighs here; the model's own unless given."""


def hospital_of(language: str) -> DemoHospital:
    """The hospital of "en" or "zh"."""
    if language == "en":
        return DemoHospital(
            hospital.create_hospital,
            hospital.NOW,
            questions.QUESTIONS,
            questions.CONVERSATION,
            ("patients", "admissions", "labevents", "prescriptions"),
            tables.REFERENCE,
        )
    from fastsql.demo import chinese  # for those who ask in Chinese

    return DemoHospital(
        chinese.create_hospital,
        chinese.NOW,
        chinese.QUESTIONS,
        chinese.CONVERSATION,
        ("病人", "住院", "检验", "用药"),
        penalty=chinese.PENALTY,
    )
