"""What the documents show as output is what their code prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from fastsql.parser import BUNDLED

DOCS = Path(__file__).parents[1] / "docs"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps(document: str) -> list[tuple[str, str | None]]:
    """Python blocks of a document, each with the block without a language that follows it before any other."""
    blocks = _BLOCK.findall((DOCS / document).read_text(encoding="utf-8"))
    following = [*blocks[1:], ("end", "")]
    return [
        (code, output if kind == "" else None)
        for (language, code), (kind, output) in zip(blocks, following, strict=True)
        if language == "python"
    ]


@pytest.mark.parametrize("document", ["dialects.md", "how-it-works.md", "schemas.md"])
def test_code_in_a_document_prints_what_stands_below_it(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = steps(document)
    assert any(output is not None for _, output in found)
    if any("fastsql.load(" in code for code, _ in found) and not (BUNDLED / "ehr-en").is_dir():
        pytest.skip("the bundled model ehr-en runs this")
    if any("sqlalchemy" in code for code, _ in found):
        pytest.importorskip("sqlalchemy", reason="pip install '.[db]' runs this")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code, output in found:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, document, "exec"), names)
        if output is not None:
            assert printed.getvalue() == output
