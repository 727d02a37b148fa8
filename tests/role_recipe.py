"""The SQL of docs/deploying.md that creates a role for reading: what it tells users to run is what the tests run."""

from __future__ import annotations

import re
from pathlib import Path

_PAGE = Path(__file__).parent.parent / "docs" / "deploying.md"
_BLOCK = re.compile(r"<!-- test:role -->\n```sql\n(.*?)```", re.DOTALL)


def role_recipe() -> str:
    """The recipe, for a database `hospital` with the tables `patients` and `admissions`."""
    blocks = _BLOCK.findall(_PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 1, "docs/deploying.md has one block after <!-- test:role -->"
    return str(blocks[0])
