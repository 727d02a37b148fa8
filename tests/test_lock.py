"""What CI installs is locked: exact versions that fit what is declared, and the digest of every file."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
LOCK = (ROOT / "requirements" / "ci.txt").read_text(encoding="utf-8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
INSTALLED_EXTRAS = ("cpu", "db", "dev", "train", "fast", "postgres", "duckdb", "chat", "ray")
RENEW = "scripts/lock.sh"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")


def lines_of(name: str) -> list[str]:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def entries() -> list[tuple[Requirement, list[str]]]:
    """Each requirement of the lock with the SHA-256 of its files."""
    blocks = re.split(r"\n(?=[A-Za-z0-9])", "\n".join(LOCK.splitlines()[1:]))
    return [
        (
            Requirement(block.splitlines()[0].rstrip("\\ ")),
            re.findall(r"--hash=sha256:([0-9a-f]{64})\b", block),
        )
        for block in blocks
    ]


def locked(python: str) -> dict[str, str]:
    """Versions by name under a Python on Linux."""
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.5",
        "sys_platform": "linux",
        "os_name": "posix",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    found: dict[str, str] = {}
    for requirement, _ in entries():
        if requirement.marker is None or requirement.marker.evaluate(dict(environment)):
            (pinned,) = requirement.specifier
            name = canonicalize_name(requirement.name)
            assert name not in found, f"{name} is locked twice for Python {python}"
            found[name] = pinned.version
    return found


def declared(python: str) -> list[Requirement]:
    """What CI asks for: the README's extras, the wheel's build, tools."""
    extras = PYPROJECT["project"]["optional-dependencies"]
    lines = [
        *PYPROJECT["project"]["dependencies"],
        *PYPROJECT["build-system"]["requires"],
        *(line for extra in INSTALLED_EXTRAS for line in extras[extra]),
        *lines_of("ci.in"),
        *lines_of("release.in"),
    ]
    wanted = [Requirement(line) for line in lines]
    return [
        requirement
        for requirement in wanted
        if requirement.name not in ("fastsql", "torch")
        and (requirement.marker is None or requirement.marker.evaluate({"python_version": python}))
    ]


def test_the_readme_installs_no_extra_that_is_not_locked() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    extras = [extra for found in re.findall(r"\.\[([a-z,]+)\]", text) for extra in found.split(",")]
    assert {"dev", "train"} <= set(extras) <= set(INSTALLED_EXTRAS)


@pytest.mark.parametrize("python", PYTHONS)
def test_all_that_is_declared_is_locked_in_a_version_that_fits(python: str) -> None:
    versions = locked(python)
    for requirement in declared(python):
        name = canonicalize_name(requirement.name)
        assert name in versions, f"{name} is not locked; run: {RENEW}"
        assert requirement.specifier.contains(versions[name]), (
            f"{requirement}, locked {versions[name]}; run: {RENEW}"
        )


def test_every_locked_version_has_digests() -> None:
    assert len(entries()) > 100
    assert [requirement.name for requirement, digests in entries() if not digests] == []


def test_only_torch_is_locked_without_digests_and_is_one_version() -> None:
    (line,) = lines_of("torch.txt")
    (pinned,) = Requirement(line).specifier
    assert (Requirement(line).name, pinned.operator) == ("torch", "==")
    assert all(Requirement(wanted).specifier.contains(pinned.version) for wanted in _torch())
    assert "torch" not in locked("3.11")


def _torch() -> list[str]:
    return [
        line for line in PYPROJECT["project"]["optional-dependencies"]["train"] if line.startswith("torch")
    ]


@pytest.mark.parametrize("name", ["ci.txt", "ci.in", "release.in", "torch.txt"])
def test_no_file_names_a_package_index(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    assert (
        re.findall(r"(?i)https?:|file:|--(?:extra-)?index-url|--find-links|--trusted-host|^-[if] ", text)
        == []
    )
