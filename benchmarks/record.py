"""A benchmark's figures as a file that says by which command, when, where and with which versions they came about."""

from __future__ import annotations

if __name__ == "__main__":
    from parts import explain

    explain(__file__)

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fastsql import __version__
from fastsql.evaluation.provenance import command_text

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "ctranslate2",
    "duckdb",
    "llguidance",
    "numpy",
    "onnxruntime",
    "psycopg",
    "safetensors",
    "sqlglot",
    "tokenizers",
    "torch",
    "transformers",
    "xgrammar",
)
"""Packages whose versions are kept where a process has imported them."""
_BEGUN = datetime.now(timezone.utc)
_LOAD = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
_WIDEST = {"avx512f": "AVX-512", "avx2": "AVX2", "asimd": "NEON"}
"""The widest vector instructions, by the flag of /proc/cpuinfo that tells of them."""


@dataclass(frozen=True)
class Machine:
    """What a benchmark ran on. None and "" stand for what the system does not tell."""

    processor: str
    cores: int
    vectors: str
    memory_gib: float | None
    system: str

    def __str__(self) -> str:
        return f"{self.cores} x {self.processor}{f', {self.vectors}' if self.vectors else ''}"


def machine() -> Machine:
    """What the system tells of itself."""
    try:
        told = dict(_lines(Path("/proc/cpuinfo").read_text(encoding="utf-8")))
    except OSError:  # not Linux
        told = {}
    flags = f"{told.get('flags', '')} {told.get('Features', '')}".split()
    name = told.get("model name") or platform.processor() or platform.machine()
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else None
    return Machine(
        processor=name,
        cores=os.cpu_count() or 1,
        vectors=next((shown for flag, shown in _WIDEST.items() if flag in flags), ""),
        memory_gib=None if pages is None else round(pages / 2**30, 1),
        system=f"{platform.system()} {platform.machine()}, {' '.join(platform.libc_ver())}".rstrip(", "),
    )


def measured(script: str, arguments: Sequence[str] | None) -> dict[str, Any]:
    """How figures came about: the script's command line, its arguments being the process's own unless given.

    `load_before` is how many processes wanted a processor, on average, in the minute before: above 0.1 or so, times are not
    those of a quiet machine.
    """
    given = sys.argv[1:] if arguments is None else arguments
    return {
        "command": command_text(["python", _shown(script), *given]),
        "date": _BEGUN.strftime("%Y-%m-%d"),
        "machine": asdict(machine()),
        "load_before": _LOAD,
        "versions": {
            "fastsql": __version__,
            "revision": _revision(),
            "python": platform.python_version(),
            **{name: found for name in PACKAGES if name in sys.modules and (found := _version(name))},
        },
    }


def save(
    path: Path | None, figures: Mapping[str, Any], script: str, arguments: Sequence[str] | None = None
) -> None:
    """Write figures, and under "measured" how they came about; nothing where no file is asked for."""
    if path is not None:
        content = {"measured": measured(script, arguments), **figures}
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _lines(text: str) -> list[tuple[str, str]]:
    pairs = (line.partition(":") for line in text.splitlines())
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def _shown(script: str) -> str:
    path = Path(script).resolve()
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:  # of a package that is imported from its sources
        return None


def _revision() -> str | None:
    """The commit that was measured, marked where files differ from it; None outside of a repository."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
