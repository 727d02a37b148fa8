"""Everything about the CUDA core in one run on a machine with a GPU: build, test, check, time, one short table.

    python benchmarks/gpu/run.py --json gpu.json
    python benchmarks/gpu/run.py --skip build sanitize --json again.json       with what the last run built
    python benchmarks/gpu/run.py --only attention --json attention.json
    python benchmarks/gpu/run.py --simulated --launcher ccache                 tries it out without a GPU; times mean nothing

Steps, each a script of its own that takes --json, with its seconds beside an H200 and 16 processors (~ was never run):

    questions   synthetic ones to the demo hospital, where there is no data (FASTSQL_DATA or --data)        10
    build       build.py       nvcc for this card, the native module, the tests of kernels               47
    test        tests.py       the C++ tests of kernels, through ctest                                   2
    check       check.py       the same action sequences as the C++ core, up to 2,000 questions          7
    rates       rates.py       bytes and operations a second of this card                                6
    attention   attention.py   against PyTorch eager, torch.compile and FlexAttention          ~90 to 150
    parse       parse.py       latency, throughput, end to end, the processor beside it                105
    encoder     encoder.py     our encoder against ONNX Runtime's CUDA provider, where it is           ~15
    t5          t5.py          T5-base in PyTorch on the same card                                     ~60
    sanitize    tests.py       compute-sanitizer: memcheck and racecheck                               ~60

All of it ends within --minutes: a step gets what is left, less the least that later ones need, and what it could not do for
want of time is said. A step that fails or is stopped keeps what it measured, and the next one runs. Floors are in the table:
what operations and bytes take at the measured rates (floor.py).

The machine needs nvcc, CMake 3.24 or later, Ninja, a C++20 compiler, and for its Python: numpy, torch, transformers,
tokenizers, safetensors, pybind11 3. No network is used. What to bring where it is missing:

    sqlglot     a pure-Python wheel (`pip download --no-deps "sqlglot>=30.24,<31"`), installed with `pip install --no-index
                --no-deps --target DIR sqlglot-*.whl`, and DIR on PYTHONPATH
    Catch2      for the C++ tests: Debian's package catch2 (2.13) unpacked with `dpkg -x catch2_*.deb DIR`, and
                --catch2 DIR/usr/lib/cmake/Catch2; without it there are no C++ tests, and the sanitizer watches parses
    data        ehrsql2024/ and others in the form of docs/data.md: questions and schemas alone suffice, some megabytes

One call for all of it:  PYTHONPATH=DIR python3 benchmarks/gpu/run.py --catch2 ... --json $OUT/gpu.json --log $OUT/gpu.log
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
if importlib.util.find_spec("fastsql") is None:  # the sources, until it is built
    sys.path.insert(1, str(Path(__file__).parents[2] / "python"))
from gpu.process import limited
from gpu.table import rows, text

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MARGIN = 8.0
"""Seconds between what a step is told to keep to and what it is stopped at."""
SLOWER = 6.0
"""Times the seconds that a step may have where the GPU is simulated."""


@dataclass(frozen=True)
class Step:
    """A script and how long it may run, in seconds."""

    name: str
    script: str
    most: float
    least: float
    timed: bool = False
    """Whether it takes --seconds."""
    tiny: tuple[str, ...] = field(default=())
    """Arguments that make it short enough for a simulated GPU."""


STEPS = (
    Step("questions", "questions", 45, 15, tiny=("--questions", "12")),
    Step("build", "build", 240, 60),
    Step("test", "tests", 60, 10, timed=True),
    Step(
        "check",
        "check",
        90,
        25,
        timed=True,
        tiny=("--questions", "2", "--batch", "2", "--beam", "2", "--actions", "24"),
    ),
    Step("rates", "rates", 30, 10),
    Step(
        "attention",
        "attention",
        165,
        60,
        timed=True,
        tiny=("--no-compile", "--sizes", "19", "--batches", "2", "1", "--heads", "2", "--relations", "7"),
    ),
    Step(
        "parse",
        "parse",
        110,
        45,
        timed=True,
        tiny=("--questions", "2", "--alone", "1", "--batches", "2", "--beam", "1", "--actions", "24"),
    ),
    Step(
        "encoder",
        "encoder",
        40,
        15,
        tiny=("--questions", "1", "--batches", "1", "--repeat", "1"),
    ),
    Step(
        "t5",
        "t5",
        75,
        25,
        timed=True,
        tiny=("--size", "tiny", "--read", "8", "--written", "3", "--beams", "1", "--batches", "1"),
    ),
    Step("sanitize", "tests", 90, 15, timed=True),
)
NAMES = tuple(step.name for step in STEPS)


def allowed(step: Step, later: Sequence[Step], left: float, slower: float = 1) -> float:
    """Seconds that a step may take when so many are left for it and the later ones; 0 where it need not begin."""
    spare = left - sum(other.least for other in later)
    given = min(slower * step.most, max(spare, min(step.least, left)))
    return given if given >= step.least else 0.0


class Run:
    """Steps, one after another, and what came of them."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.end = time.monotonic() + 60 * options.minutes
        self.folder: Path = options.folder
        self.steps: dict[str, dict[str, Any]] = {}
        (self.folder / "steps").mkdir(parents=True, exist_ok=True)
        options.log.write_text("", encoding="utf-8")

    def go(self) -> None:
        """Runs every step that is asked for."""
        wanted = [step for step in STEPS if self._wanted(step)]
        for number, step in enumerate(wanted):
            self._step(step, wanted[number + 1 :])
            self._save()

    def _wanted(self, step: Step) -> bool:
        name, options = step.name, self.options
        if name == "questions" and options.data is not None:
            return False
        if options.simulated and name in ("test", "sanitize"):
            return False  # the ordinary C++ tests run the kernels on the simulated GPU
        return name in options.only if options.only else name not in options.skip

    def _step(self, step: Step, later: Sequence[Step]) -> None:
        seconds = allowed(step, later, self.end - time.monotonic(), SLOWER if self.options.simulated else 1)
        row = self.steps[step.name] = {"status": "no time was left", "seconds": 0.0, "report": {}}
        if not seconds:
            print(f"{step.name:<10} no time was left", flush=True)
            return
        file = self.folder / "steps" / f"{step.name}.json"
        file.unlink(missing_ok=True)
        start = time.monotonic()
        status, output = limited(self._command(step, file, seconds), seconds, self._environment(), ROOT)
        row["seconds"] = time.monotonic() - start
        row["status"] = {0: "done", None: f"stopped after {seconds:.0f} s"}.get(status, f"failed ({status})")
        if file.is_file():
            row["report"] = json.loads(file.read_text(encoding="utf-8"))
        with self.options.log.open("a", encoding="utf-8") as log:
            log.write(f"==== {step.name}: {row['status']}, {row['seconds']:.1f} s\n{output}\n")
        print(f"{step.name:<10} {row['status']}, {row['seconds']:.0f} s", flush=True)
        if status != 0:
            print("\n".join(f"    {line[:300]}" for line in output.splitlines()[-12:]), flush=True)

    def _command(self, step: Step, file: Path, seconds: float) -> list[str | Path]:
        options = self.options
        given: list[str | Path] = [sys.executable, HERE / f"{step.script}.py"]
        if step.name == "questions":
            given += ["--folder", self.folder / "data"]
        else:
            given += ["--json", file, *(["--simulated"] if options.simulated else [])]
        if step.timed:
            given += ["--seconds", f"{max(seconds - MARGIN, 1):.0f}"]
        if step.script in ("build", "tests"):
            given += ["--folder", self.folder]
        if step.name == "build":
            given += ["--launcher", options.launcher] if options.launcher else []
            given += ["--catch2", options.catch2] if options.catch2 else []
        if step.name == "sanitize":
            given += ["--sanitizer", "memcheck", "racecheck"]
        if step.script in ("check", "parse", "encoder"):
            given += ["--model", options.model]
        return [*given, *(step.tiny if options.simulated else ())]

    def _environment(self) -> dict[str, str]:
        """With the package that was built, or the sources as long as there is none."""
        package = self.folder / "package"
        ours = package if (package / "fastsql").is_dir() else ROOT / "python"
        paths = [str(ours), *filter(None, [os.environ.get("PYTHONPATH")])]
        data = self.options.data or self.folder / "data"
        return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "FASTSQL_DATA": str(data.resolve())}

    def report(self) -> dict[str, Any]:
        """All figures, the card's name, and how they came about, as the last step told of machine and versions."""
        reports = self._reports().values()
        cards = [report["card"] for report in reports if "card" in report]
        measured = [report["measured"] for report in reports if "measured" in report]
        return {
            "measured": {**(measured[-1] if measured else {}), "command": self.options.command},
            "card": cards[0] if cards else {},
            "simulated": self.options.simulated,
            "steps": self.steps,
        }

    def table(self) -> None:
        """The one table."""
        found = list(rows(self._reports()))
        if not found:
            print("\nnothing was measured")
            return
        print(f"\nfastsql on {self.report()['card'].get('name', 'an unknown card')}")
        print("\n".join(text(found)))

    def _reports(self) -> dict[str, dict[str, Any]]:
        return {name: row["report"] for name, row in self.steps.items() if row["report"]}

    def _save(self) -> None:
        if self.options.json:
            text = json.dumps(self.report(), indent=1) + "\n"
            self.options.json.write_text(text, encoding="utf-8")


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=NAMES, default=[], metavar="STEP")
    parser.add_argument("--skip", nargs="+", choices=NAMES, default=[], metavar="STEP")
    parser.add_argument("--minutes", type=float, default=9.5, help="for everything (default: 9.5)")
    parser.add_argument("--simulated", action="store_true", help="a simulated GPU and tiny sizes")
    parser.add_argument("--model", default="ehr-en", help="a bundled model or a bundle's folder")
    parser.add_argument(
        "--data", type=Path, help="folder of data sets (default: $FASTSQL_DATA, or synthetic questions)"
    )
    parser.add_argument("--folder", type=Path, help="of the build (default: build/gpu, or build/simulated)")
    parser.add_argument("--catch2", type=Path, metavar="DIR", help="folder with Catch2Config.cmake")
    parser.add_argument("--launcher", default="", metavar="COMMAND", help="of compilers, such as ccache")
    parser.add_argument("--json", type=Path)
    parser.add_argument(
        "--log", type=Path, help="what the steps print (default: gpu.log in the build's folder)"
    )
    options = parser.parse_args(arguments)
    options.command = shlex.join(
        ["python", "benchmarks/gpu/run.py", *(sys.argv[1:] if arguments is None else arguments)]
    )
    if options.data is None and os.environ.get("FASTSQL_DATA"):
        options.data = Path(os.environ["FASTSQL_DATA"])
    options.folder = (
        options.folder or ROOT / "build" / ("simulated" if options.simulated else "gpu")
    ).resolve()
    options.log = options.log or options.folder / "gpu.log"
    options.folder.mkdir(parents=True, exist_ok=True)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the steps; print the table. Returns 1 where one failed, was stopped or found no time."""
    options = options_of(arguments)
    missing = [tool for tool in ("cmake", "ninja") if shutil.which(tool) is None]
    if missing and not (options.only and "build" not in options.only) and "build" not in options.skip:
        print(
            f"not installed: {', '.join(missing)}; --skip build uses what an earlier run built",
            file=sys.stderr,
        )
        return 2
    run = Run(options)
    run.go()
    run.table()
    return int(any(row["status"] != "done" for row in run.steps.values()))


if __name__ == "__main__":
    sys.exit(main())
