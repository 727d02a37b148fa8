"""Which bundle a name or a path stands for, and opening it."""

from __future__ import annotations

from pathlib import Path

from fastsql.errors import ModelError
from fastsql.model import Bundle, open_bundle
from fastsql.model.bundle import CONFIG
from fastsql.model.pinned import MANIFESTS

BUNDLED = Path(__file__).parents[1] / "models"
"""The folder of the models that come with this version."""
DEFAULT_MODEL = "ehr-en"


def open_model(model: str | Path) -> Bundle:
    """The bundle that is named or lies at a path; one with a name must be what this version ships.

    Raises ModelError where there is none, or where it is damaged or another.
    """
    folder, name = _found(model)
    if name is None:
        return open_bundle(folder)
    if name not in MANIFESTS:
        raise ModelError(
            "it is not one of the models that this fastsql ships",
            where=f"model {name!r}",
            remedy="Give the path of its folder if you trust it.",
        )
    return open_bundle(folder, MANIFESTS[name])


def find_bundle(model: str | Path) -> Path:
    """The folder of a bundle that is named, or lies at a path.

    It is absolute, as the parser may be sent to other processes. Raises ModelError where there is none.
    """
    return _found(model)[0]


def _found(model: str | Path) -> tuple[Path, str | None]:
    """The folder, and the name where it was found by one.

    A text that is a bundled model's name is that model, whatever lies in the working folder.
    """
    names = sorted(file.parent.name for file in BUNDLED.glob(f"*/{CONFIG}"))
    path = Path(model)
    if isinstance(model, str) and model in names:
        return BUNDLED / model, model
    try:
        if str(model).strip() and path.exists():
            return path.absolute(), None
    except OSError:
        pass  # too long for a path: no name of a model either, and said so below
    if str(model) in names:
        return BUNDLED / path, str(model)
    raise ModelError(
        "there is no such model",
        where=f"model {str(model)[:200]!r}",
        remedy=f"Bundled: {', '.join(names) or 'none'}. Or give a folder.",
    )
