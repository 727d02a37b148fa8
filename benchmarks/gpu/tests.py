"""Do the kernels pass their tests on this card, and what does compute-sanitizer say of them?

    python benchmarks/gpu/tests.py --folder build/gpu                          through ctest
    python benchmarks/gpu/tests.py --folder build/gpu --sanitizer memcheck racecheck

Where the C++ tests were not built, the sanitizer watches a few parses by `benchmarks/gpu/check.py` in their place: have the
package of that folder on PYTHONPATH. Each tool may take its share of `--seconds`; one that is stopped then has found nothing
so far, which is said.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from gpu.build import ROOT, TESTS
from gpu.device import Report
from gpu.process import limited
from record import measured

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
_SUMMARY = re.compile(r"(ERROR SUMMARY: .*|RACECHECK SUMMARY: .*)")
_CATCH = re.compile(r"(All tests passed \(.*\)|test cases: .*)")
_FOUND = re.compile(r"SUMMARY: ([1-9]\d*) (?:error|hazard)")
FOUND_SOMETHING = 99
"""What compute-sanitizer is told to exit with where it has found something."""


def executable(folder: Path) -> Path | None:
    """The tests of kernels, where they were built."""
    return next((path for path in (folder / "tests" / "cpp" / TESTS, folder / TESTS) if path.is_file()), None)


def outcome(status: int | None, output: str, pattern: re.Pattern[str]) -> dict[str, Any]:
    """In words, with the end of the output where something is wrong."""
    said = pattern.findall(output)
    row: dict[str, Any] = {"passed": status == 0, "said": said[-1] if said else ""}
    if status is None:
        # Nothing is wrong yet with what was stopped; where a tool speaks as it goes, what it said counts.
        row = {"passed": None, "said": "its time was up" + (f"; {said[-1]}" if said else "")}
    if status:
        row["output"] = output[-4000:]
    return row


def tests(folder: Path, seconds: float) -> dict[str, Any]:
    """The C++ tests of kernels, through ctest. A machine without a GPU passes none."""
    if executable(folder) is None:
        return {"passed": None, "said": "the C++ tests were not built"}
    status, output = limited(["ctest", "--test-dir", folder, "-R", "^on_gpu$", "--verbose"], seconds)
    row = outcome(status, output, _CATCH)
    if "no GPU" in output or "No tests were found" in output:
        return {"passed": False, "said": "there is no GPU", "output": output[-2000:]}
    return row


def watched(folder: Path, simulated: bool) -> list[str | Path]:
    """What the sanitizer runs."""
    program = executable(folder)
    if program is not None:
        return [program]
    check = [sys.executable, Path(__file__).with_name("check.py"), "--questions", "8", "--batch", "4"]
    return [*check, *(["--simulated"] if simulated else [])]


def sanitize(tool: str, folder: Path, seconds: float, simulated: bool) -> dict[str, Any]:
    """What a tool of compute-sanitizer finds."""
    program = shutil.which("compute-sanitizer") or shutil.which(
        "compute-sanitizer", path="/usr/local/cuda/bin"
    )
    if program is None:
        return {"passed": None, "said": "compute-sanitizer is not installed"}
    more = ["--tool", tool, "--error-exitcode", str(FOUND_SOMETHING), "--target-processes", "all"]
    status, output = limited([program, *more, *watched(folder, simulated)], seconds)
    row = outcome(status, output, _SUMMARY)
    if _FOUND.search(output):
        row |= {"passed": False, "output": output[:4000]}
    return row


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was found; write it as JSON where asked. Returns 1 where something is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "gpu", help="of the build")
    parser.add_argument(
        "--sanitizer", nargs="+", choices=TOOLS, default=[], help="these, in place of the tests alone"
    )
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--simulated", action="store_true", help="the GPU is")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    report, rows = Report(options.json, measured(__file__, arguments)), {}
    share = options.seconds / max(len(options.sanitizer), 1)
    if not options.sanitizer:
        rows["tests"] = tests(options.folder, share)
    for tool in options.sanitizer:
        rows[tool] = sanitize(tool, options.folder, share, options.simulated)
        report.add(**rows)
    report.add(**rows)
    for name, row in rows.items():
        print(
            f"{name}: {'passed' if row['passed'] else 'not told' if row['passed'] is None else 'FAILED'}; {row['said']}"
        )
        if "output" in row:
            print(row["output"], file=sys.stderr)
    return int(any(row["passed"] is False for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
