"""What runs imports the base dependencies alone: nothing that `tokenizers` pulls in, and no network stack."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fastsql.parser import BUNDLED

PULLED_IN = {
    "huggingface_hub",
    "hf_xet",
    "httpx",
    "httpx2",
    "httpcore",
    "httpcore2",
    "h11",
    "anyio",
    "click",
    "typer",
    "rich",
}
PULLED_IN |= {
    "filelock",
    "fsspec",
    "packaging",
    "yaml",
    "tqdm",
    "typing_extensions",
    "shellingham",
    "pygments",
}
"""Modules of what `tokenizers` depends on, and of what that depends on."""
NETWORK = {"requests", "urllib3", "aiohttp", "ssl", "http"}

DEMO = """
import sys
from fastsql.cli.main import main
status = main(["demo"])
print("imported:", *sorted({name.partition(".")[0] for name in sys.modules}))
sys.exit(status)
"""


def test_the_demo_imports_neither_a_network_stack_nor_what_tokenizers_pulls_in() -> None:
    if not (BUNDLED / "ehr-en").is_dir():
        pytest.skip("the bundled model ehr-en runs this")
    done = subprocess.run(
        [sys.executable, "-c", DEMO], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "warfarin" in done.stdout
    imported = set(done.stdout.splitlines()[-1].split())
    assert {"numpy", "sqlglot", "tokenizers", "safetensors"} <= imported
    assert imported & (PULLED_IN | NETWORK) == set()
