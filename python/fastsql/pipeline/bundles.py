"""Where the bundle lies that a name or a path stands for."""

from __future__ import annotations

from pathlib import Path

from fastsql.errors import ModelError


def find_bundle(model: str | Path, bundled: Path) -> Path:
    """The folder of a bundle that is named, `bundled` holding those with a name, or lies at a path.

    It is absolute, as the parser may be sent to other processes. Raises ModelError where there is none.
    """
    path = Path(model)
    try:
        if str(model).strip() and path.exists():
            return path.absolute()
    except OSError:
        pass  # too long for a path: no name of a model either, and said so below
    names = sorted(folder.name for folder in bundled.iterdir() if folder.is_dir()) if bundled.is_dir() else []
    if str(model) in names:
        return bundled / path
    raise ModelError(
        "there is no such model",
        where=f"model {str(model)[:200]!r}",
        remedy=f"Bundled: {', '.join(names) or 'none'}. Or give a folder.",
    )
