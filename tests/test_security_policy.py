"""SECURITY.md says how to report, and names nothing that is not there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
POLICY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_file_that_the_policy_names_is_there() -> None:
    quoted = re.findall(r"`([\w./-]+/[\w.-]*|[\w-]+\.(?:toml|py|txt|md))`", POLICY)
    named = {name for name in quoted if name not in ("manifest.json",)} | set(
        re.findall(r"\]\(([^)]+)\)", POLICY)
    )
    assert len(named) >= 5
    assert [
        name for name in sorted(named) if not any((base / name).exists() for base in (ROOT, ROOT / "python"))
    ] == []


def test_reports_are_private_and_go_to_no_person() -> None:
    assert "**Security** tab" in POLICY
    assert "**Report a vulnerability**" in POLICY
    assert re.findall(r"[\w.+-]+@[\w-]+\.\w+|https?://", POLICY) == []
