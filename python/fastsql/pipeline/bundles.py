"""Which bundle a name or a path stands for, and opening it."""

from __future__ import annotations

from pathlib import Path

from fastsql.errors import ModelError
from fastsql.model import Bundle, open_bundle
from fastsql.model.pinned import MANIFESTS


def open_model(model: str | Path, bundled: Path) -> Bundle:
    """The bundle that is named or lies at a path; one with a name must be what this version ships.

    Raises ModelError where there is none, or where it is damaged or another.
    """
    folder, name = _found(model, bundled)
    if name is None:
        return open_bundle(folder)
    if name not in MANIFESTS:
        raise ModelError(
            "it is none of the models that this fastsql ships",
            where=f"model {name!r}",
            remedy="Give the path of its folder if you trust it.",
        )
    return open_bundle(folder, MANIFESTS[name])


def find_bundle(model: str | Path, bundled: Path) -> Path:
    """The folder of a bundle that is named, `bundled` holding those with a name, or lies at a path.

    It is absolute, as the parser may be sent to other processes. Raises ModelError where there is none.
    """
    return _found(model, bundled)[0]


def _found(model: str | Path, bundled: Path) -> tuple[Path, str | None]:
    """The folder, and the name where it was found by one.

    A text that is a bundled model's name is that model, whatever lies in the working folder.
    """
    names = sorted(folder.name for folder in bundled.iterdir() if folder.is_dir()) if bundled.is_dir() else []
    path = Path(model)
    if isinstance(model, str) and model in names:
        return bundled / model, model
    try:
        if str(model).strip() and path.exists():
            return path.absolute(), None
    except OSError:
        pass  # too long for a path: no name of a model either, and said so below
    if str(model) in names:
        return bundled / path, str(model)
    raise ModelError(
        "there is no such model",
        where=f"model {str(model)[:200]!r}",
        remedy=f"Bundled: {', '.join(names) or 'none'}. Or give a folder.",
    )
