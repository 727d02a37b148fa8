"""A parser from a model's name or folder, and the one that `fastsql.parse` uses."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, overload

from fastsql.errors import CalibrationWarning
from fastsql.forking import renew_in_child
from fastsql.limits import DEFAULT, Limits
from fastsql.parser.bundles import DEFAULT_MODEL, open_model
from fastsql.parser.parser import DEFAULT_PENALTY, Parser

if TYPE_CHECKING:
    from fastsql.parser.audit import Audit, Hook
    from fastsql.parser.by_language import ParserByLanguage

AUTO: Final = "auto"
"""In place of a model's name: that of the question's language."""
_parser: ParserByLanguage | None = None


@overload
def load(  # type: ignore[overload-overlap] # "auto" is a text, too
    model: Literal["auto"],
    *,
    device: str = "auto",
    encoder: str = "auto",
    penalty: float = DEFAULT_PENALTY,
    threads: int = 0,
    limits: Limits = DEFAULT,
    suggest: bool = True,
    as_written: bool = False,
    audit: Audit | Hook | None = None,
) -> ParserByLanguage: ...


@overload
def load(
    model: str | Path = DEFAULT_MODEL,
    *,
    device: str = "auto",
    encoder: str = "auto",
    penalty: float = DEFAULT_PENALTY,
    threads: int = 0,
    limits: Limits = DEFAULT,
    suggest: bool = True,
    as_written: bool = False,
    audit: Audit | Hook | None = None,
) -> Parser: ...


def load(
    model: str | Path = DEFAULT_MODEL,
    *,
    device: str = "auto",
    encoder: str = "auto",
    penalty: float = DEFAULT_PENALTY,
    threads: int = 0,
    limits: Limits = DEFAULT,
    suggest: bool = True,
    as_written: bool = False,
    audit: Audit | Hook | None = None,
) -> Parser | ParserByLanguage:
    """A parser from a bundled model's name or the folder of a bundle.

    Args:
        model: "ehr-en", "css-zh", or a path; "auto" for the model of each question's language, opened when it is needed. A
            name is that of a model of this version, whose files must be those that were shipped; a folder of the same name
            is "./ehr-en".
        device: "cpu" for the native core, "python" for the reference in NumPy, "auto" for the fastest that is there; see
            `fastsql doctor`.
        encoder: what reads the texts: "native" (of "cpu" and "cuda"), "numpy" (of "python"), or "onnxruntime" for the
            bundle's `encoder.onnx` in ONNX Runtime, on the GPU under "cuda"; "auto" is the device's own where the bundle has
            its weights, under "python" ONNX Runtime where that is installed.
        penalty: how many right answers a wrong one outweighs; the higher, the more is refused.
        threads: that share the work of one question; 0 leaves the choice to fastsql, or to ONNX Runtime under "python".
        limits: bounds of what is accepted.
        suggest: whether a refusal says what is missing and what would help, in words of the question and of its values.
        as_written: whether a query's comparisons, dates, order and units stay as the model writes them. Otherwise they are
            those that the question plainly says ("at least 80", "from 2020 on"), whatever a model's data made of such words.
        audit: called with a record of every parse and execution; see `fastsql.Audit`.

    Raises ModelError: no such model, device or encoder, or the bundle is damaged, exchanged or made for another grammar.
    LimitError: a query could have more decisions than the model was made for. Warns with CalibrationWarning of a bundle that
    was not calibrated: it refuses every question unless the penalty is 0.
    """
    opener = _Opener(device, encoder, penalty, threads, limits, suggest, as_written, audit)
    if model != AUTO:
        return opener.open(model)
    from fastsql.parser.by_language import ParserByLanguage  # for those who ask in more than one

    return ParserByLanguage(opener.open, limits)


@dataclass(frozen=True)
class _Opener:
    """Opens models with the settings of one `load`."""

    device: str
    encoder: str
    penalty: float
    threads: int
    limits: Limits
    suggest: bool
    as_written: bool
    audit: Audit | Hook | None

    def open(self, model: str | Path) -> Parser:
        bundle = open_model(model)
        parser = Parser(
            bundle,
            device=self.device,
            encoder=self.encoder,
            penalty=self.penalty,
            threads=self.threads,
            limits=self.limits,
            suggest=self.suggest,
            as_written=self.as_written,
            audit=self.audit,
        )
        if parser.lacking:
            warnings.warn(f"{bundle.path}: {parser.lacking}", CalibrationWarning, stacklevel=3)
        return parser


class _Loading:
    """Lets one thread load while others wait for it."""

    def __init__(self) -> None:
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Wait for no thread that was loading in the other process."""
        self.lock = threading.Lock()


_loading = _Loading()


def default_parser() -> ParserByLanguage:
    """The one parser of this process with the bundled models and default settings, loaded when it is first needed."""
    global _parser
    with _loading.lock:
        if _parser is None:
            _parser = load(AUTO)
        return _parser
