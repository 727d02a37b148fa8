"""Files beside a database that attacks try to read."""

from __future__ import annotations

from pathlib import Path

SECRET = "planted-file-secret"
"""What stands in the file that must not be read."""


def plant_files(folder: Path) -> None:
    """A folder with files that attacks try to read."""
    (folder / "secret.csv").write_text(f"a\n{SECRET}\n")
    (folder / "secret.json").write_text(f'{{"a": "{SECRET}"}}\n')


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder with their content."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def holds_file_content(rows: object) -> bool:
    """Whether rows hold what stands in a file."""
    text = repr(rows)
    return SECRET in text or "root:" in text
