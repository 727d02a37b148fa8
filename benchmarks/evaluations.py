"""Does another model keep what docs/benchmarks.md says? Runs the page's evaluations by their commands, several at a time.

    python benchmarks/evaluations.py                                          # all of them, into benchmarks/results
    python benchmarks/evaluations.py spider sparc                             # only these
    python benchmarks/evaluations.py --model run/bundle --into /tmp/figures   # another bundle, for comparison alone
    python benchmarks/evaluations.py --rows                                   # the page's rows, from benchmarks/results

What a command needs, such as databases that another command of its block makes, is made first, in a folder of its own.
At the end each evaluation's figures stand beside those that its file in benchmarks/results had. FASTSQL_DATA names the
folder of the data sets.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastsql.cli import main as command_line

sys.path.insert(0, str(Path(__file__).parent))
from evaluation_rows import ROWS, headline, rows_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
RESULTS = ROOT / "benchmarks" / "results"
PACKAGES = Path(command_line.__file__).resolve().parents[2]
"""The folder that holds the package."""
LINKED = ("benchmarks", "configs")
"""Folders of the repository that commands read."""
PLOTS, PLOTS_IN = "docs", "images"
"""That which they draw plots into, and write nothing else; and the folder of it."""
_BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_RESULT = re.compile(r" --json \$R/(\w+)\.json$")
_BASH = shutil.which("bash") or "/bin/bash"
_PROGRAMS = 'fastsql() { "$PYTHON" -m fastsql "$@"; }; python() { "$PYTHON" "$@"; }; '
"""The programs that commands begin with are those of the interpreter that runs this."""


@dataclass(frozen=True)
class Evaluation:
    """One command of the page, and those of its block that make what it reads."""

    name: str
    command: str
    preparations: tuple[str, ...]


def evaluations(page: str) -> dict[str, Evaluation]:
    """Those whose rows are known (`evaluation_rows`), by name, in the page's order."""
    found = {}
    for block in _BLOCK.findall(page):
        commands = [
            line for line in re.sub(r"\s*\\\n\s*", " ", block).splitlines() if line and line[0] != "#"
        ]
        preparations = tuple(command for command in commands if not _RESULT.search(command))
        for command in commands:
            result = _RESULT.search(command)
            if result and result[1] in ROWS:
                found[result[1]] = Evaluation(result[1], command, preparations)
    return found


def with_rows(page: str, reports: Mapping[str, Mapping[str, Any]]) -> str:
    """The page with the rows of these reports: each takes the place of that which begins as it does, in its section.

    Raises:
        ValueError: a row has not one place in its section.
    """
    sections = re.split(r"^(?=##+ )", page, flags=re.MULTILINE)
    for name, report in reports.items():
        place = next(i for i, section in enumerate(sections) if f"--json $R/{name}.json\n" in section)
        for row in rows_of(name, report):
            label = row[: row.index(" | ") + 3]
            old = re.findall(f"^{re.escape(label)}.*$", sections[place], re.MULTILINE)
            if len(old) != 1:
                raise ValueError(f"{len(old)} rows of {name}'s section begin with {label!r}")
            sections[place] = sections[place].replace(old[0], row)
    return "".join(sections)


def read_reports(folder: Path, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The reports that are there, by name."""
    paths = {name: folder / f"{name}.json" for name in names}
    return {name: json.loads(path.read_text("utf-8")) for name, path in paths.items() if path.is_file()}


def compared(name: str, before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> str:
    """One line: each figure, and by how much it differs from that of `before`."""
    earlier = headline(before) if before else {}
    cells = []
    for figure, value in headline(after).items():
        digits = {"wrong": 0, "refused": 0, "ECE": 3}.get(figure, 1)
        change = f" ({value - earlier[figure]:+.{digits}f})" if figure in earlier else ""
        cells.append(f"{figure} {value:.{digits}f}{change}")
    return f"{name:<20}{'  '.join(cells)}"


class Runner:
    """Runs commands of the page in a folder where what they name is linked."""

    def __init__(self, folder: Path, into: Path | None, lanes: int) -> None:
        self.folder = folder
        for name in LINKED:
            (folder / name).symlink_to(ROOT / name)
        (folder / PLOTS).symlink_to(ROOT / PLOTS if into is None else into.resolve())
        data = os.environ["FASTSQL_DATA"]
        threads = str(max(1, (os.cpu_count() or 1) // lanes))
        # The commands' fastsql is this one, installed or not, though they run elsewhere.
        sources = os.pathsep.join(filter(None, [str(PACKAGES), os.environ.get("PYTHONPATH")]))
        self._environment = {
            "OMP_NUM_THREADS": threads,
            **os.environ,
            "D": f"{data}/ehrsql2024",
            "S": f"{data}/spider",
            "R": "benchmarks/results" if into is None else str(into.resolve()),
            "PYTHON": sys.executable,
            "PYTHONPATH": sources,
        }

    def run(self, name: str, command: str) -> bool:
        """Whether it ended well; if not, the end of what it printed is shown."""
        begin = time.perf_counter()
        done = subprocess.run(
            [_BASH, "-c", _PROGRAMS + command],
            cwd=self.folder,
            env=self._environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        print(f"{name}: {time.perf_counter() - begin:.0f} s", file=sys.stderr)
        if done.returncode:
            print(f"{name} failed: {command}\n{done.stdout[-2_000:]}", file=sys.stderr)
        return done.returncode == 0


def run_all(
    wanted: Sequence[Evaluation], folder: Path, model: str | None, into: Path | None, lanes: int
) -> list[str]:
    """Prepare and run, those that take longest first; the names of those that failed."""
    runner = Runner(folder, into, lanes)
    preparations = dict.fromkeys(command for evaluation in wanted for command in evaluation.preparations)
    failed = {command for command in preparations if not runner.run("preparation", command)}
    option = "" if model is None else f" --model {shlex.quote(model)}"
    ready = [evaluation for evaluation in wanted if not failed.intersection(evaluation.preparations)]
    with ThreadPoolExecutor(lanes) as pool:
        ended = pool.map(lambda each: runner.run(each.name, each.command + option), ready)
        well = {evaluation.name for evaluation, good in zip(ready, ended, strict=True) if good}
    return [evaluation.name for evaluation in wanted if evaluation.name not in well]


def _longest_first(
    wanted: Iterable[Evaluation], reports: Mapping[str, Mapping[str, Any]]
) -> list[Evaluation]:
    def seconds(evaluation: Evaluation) -> float:
        report = reports.get(evaluation.name)
        return float(report["n"] * report["latency_ms"]["p50"]) if report else float("inf")

    return sorted(wanted, key=seconds, reverse=True)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "names", nargs="*", metavar="NAME", help="of files of benchmarks/results (default: all)"
    )
    options.add_argument("--model", metavar="BUNDLE", help="in place of the bundled English one, with --into")
    options.add_argument(
        "--into", type=Path, metavar="DIR", help="where files go (default: benchmarks/results)"
    )
    options.add_argument("--lanes", type=int, default=2, metavar="N", help="commands at a time (default: 2)")
    options.add_argument("--rows", action="store_true", help="run nothing; write the rows into the page")
    options.add_argument("--page", type=Path, default=PAGE, help=argparse.SUPPRESS)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run evaluations, or write rows; 1 where a command failed."""
    options = parser()
    given = options.parse_args(arguments)
    page = given.page.read_text("utf-8")
    known = evaluations(page)
    if unknown := [name for name in given.names if name not in known]:
        options.error(
            f"no evaluation of {given.page.name}: {', '.join(unknown)}; there are {', '.join(known)}"
        )
    names = given.names or list(known)
    before = read_reports(RESULTS, names)
    if given.rows:
        given.page.write_text(with_rows(page, before), encoding="utf-8")
        return 0
    if given.model is not None and given.into is None:
        options.error(
            "the files of benchmarks/results are of the bundled models: with --model, say --into, too"
        )
    if "FASTSQL_DATA" not in os.environ:
        options.error("FASTSQL_DATA does not name the folder of the data sets (docs/data.md)")
    if given.into is not None:
        (given.into / PLOTS_IN).mkdir(parents=True, exist_ok=True)
    wanted = [known[name] for name in names if given.model is None or "--model " not in known[name].command]
    model = given.model
    if model is not None and Path(model).exists():
        model = str(Path(model).resolve())  # commands run elsewhere
    with tempfile.TemporaryDirectory(prefix="evaluations-") as folder:
        failed = run_all(_longest_first(wanted, before), Path(folder), model, given.into, given.lanes)
    after = read_reports(given.into or RESULTS, (each.name for each in wanted if each.name not in failed))
    for name, report in after.items():
        print(compared(name, before.get(name), report))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
