"""What was evaluated, and how: what a reader of figures needs to judge them, and to come by them again."""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fastsql import __version__
from fastsql.evaluation.made_contents import NOW
from fastsql.model import Bundle
from fastsql.model.bundle import manifest_digest


@dataclass(frozen=True)
class Provenance:
    """Of one evaluation. None stands for what is not known, as of predictions that were made before.

    Attributes:
        version: of fastsql.
        model: the bundle's name, or the class of a parser that is none of fastsql's.
        manifest_sha256: of the bundle, which tells models of one name apart.
        device: that the model ran on.
        penalty: that refusals were decided by.
        beam: hypotheses that a parse kept.
        now: the time that "now" meant in questions, gold and predicted SQL; None for the time of execution.
        values: whether values of the database were looked up.
        as_written: whether queries stayed as the model wrote them, whatever plain words of the question say.
        inspected: whether likely queries were run before one was chosen.
        sampled_from: of how many questions these are a sample; None if they are all that were asked for.
        seed: of the sample and of the draws of the bootstrap.
        command: that was typed.
        made: where there was no database, how many were made for each question to compare results on; None for forms.
    """

    version: str = __version__
    model: str | None = None
    manifest_sha256: str | None = None
    device: str | None = None
    penalty: float | None = None
    beam: int | None = None
    now: str | None = None
    values: bool | None = None
    as_written: bool = False
    inspected: bool | None = None
    sampled_from: int | None = None
    seed: int = 0
    command: str | None = None
    made: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The attributes by name."""
        return asdict(self)

    def lines(self, n: int) -> tuple[tuple[str, str], ...]:
        """What it says of `n` questions as (label, text)."""
        known = {"penalty": _plain(self.penalty), "beam": _plain(self.beam)}
        decided = ", ".join(f"{name} {value}" for name, value in known.items() if value)
        if self.inspected:
            decided += ", queries run before one was chosen"
        if self.as_written:
            decided += ", comparisons, dates and order as the model wrote them"
        if self.values is False:
            decided += ", no values looked up"
        asked = f"all {n:,}"
        if self.sampled_from is not None:
            asked = f"{n:,} of {self.sampled_from:,}, a stratified sample"
        rows = [
            ("model", self._model()),
            ("fastsql", self.version),
            ("decided with", decided or "not known"),
            ("now", self.now or "the time of execution"),
            ("questions", f"{asked}, seed {self.seed}"),
        ]
        if self.made:
            then = "" if self.now else f", where now is {NOW}"
            rows.append(
                ("results", f"compared on {self.made} databases made for each question without one{then}")
            )
        return (*rows, ("command", self.command)) if self.command else tuple(rows)

    def _model(self) -> str:
        if self.model is None:
            return "not known: these predictions were made before"
        digest = f", manifest {self.manifest_sha256[:12]}" if self.manifest_sha256 else ""
        return f"{self.model}{digest}{f', on {self.device}' if self.device else ''}"


def facts_of(parser: Any) -> dict[str, Any]:
    """What a parser says of itself, by attribute of `Provenance`: the beam is what `parse` takes unless it is told."""
    bundle, engine = getattr(parser, "bundle", None), getattr(parser, "engine", None)
    beam = inspect.signature(parser.parse).parameters.get("beam")
    facts: dict[str, Any] = {
        "model": type(parser).__name__,
        "penalty": getattr(parser, "penalty", None),
        "as_written": getattr(parser, "as_written", False),
        "beam": None if beam is None or beam.default is beam.empty else beam.default,
        "device": getattr(engine, "device", None),
    }
    if isinstance(bundle, Bundle):
        facts |= {"model": bundle.config.name, "manifest_sha256": manifest_digest(bundle.path)}
    return facts


def command_text(words: Sequence[str]) -> str:
    """A command as one types it in a shell; files of the data sets stand below ``$FASTSQL_DATA``, wherever that is."""
    data = os.environ.get("FASTSQL_DATA", "").rstrip("/")
    return " ".join(
        f"$FASTSQL_DATA/{shlex.quote(word[len(data) + 1 :])}"
        if data and word.startswith(f"{data}/")
        else shlex.quote(word)
        for word in words
    )


def _plain(number: float | None) -> str:
    return "" if number is None else f"{number:g}"
