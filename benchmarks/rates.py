"""What can this machine do at most? Multiply-adds a second, bytes a second, and the floor that follows for a parse.

    python benchmarks/rates.py
    python benchmarks/rates.py --threads 1 2 --json rates.json

Compiles benchmarks/rates.cc with the C++ compiler at hand ($CXX, or c++) and runs it. Multiply-adds: float32, ten
independent chains in registers, for every instruction set that the processor has. Bytes: a working set that lies in one
level of the memory, read with vector loads, or its one half copied to the other (both halves count). Every figure is the
best of many windows of a few milliseconds, so other work on the machine seldom meddles, and none is what a real program
reaches: they are ceilings, and a floor that is computed from them is one.

`benchmarks/latency.py` sets the stages of a parse against these rates.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from figures import show
from record import machine, save

SOURCE = Path(__file__).with_suffix(".cc")
FLAGS = ("-O3", "-std=c++17", "-ffp-contract=fast", "-pthread")
KIB, MIB = 2**10, 2**20
WORKING_SETS = {"L1": 16 * KIB, "L2": 512 * KIB, "L3": 8 * MIB, "DRAM": 128 * MIB}
"""Bytes of each thread's working set by where it lies, on a core with 48 KiB, 1 MiB and a share of 32 MiB."""


class NoCompilerError(RuntimeError):
    """There is no C++ compiler, or it does not take the source."""


@dataclass(frozen=True)
class Rates:
    """The best that `threads` threads do together, a second."""

    threads: int
    operations: dict[str, float]
    """Float32 operations, a multiply-add counting as two, by instruction set from the narrowest to the widest."""
    read: dict[str, float]
    """Bytes read, by level of the memory."""
    copied: dict[str, float]
    """Bytes read and written by copying, by level of the memory."""

    @property
    def peak(self) -> float:
        """Operations with the widest instruction set."""
        return max(self.operations.values())

    def floor_ms(self, operations: float, weights: float, level: str = "L3") -> float:
        """Milliseconds below which no program gets that needs so many float32 operations and bytes of weights.

        The two overlap at best, so the longer counts. The weights of a parse (16 MB) do not fit the L2 of a core.
        """
        return 1000 * max(operations / self.peak, weights / self.read[level])


def measure(threads: Sequence[int], seconds: float = 0.003, rounds: int = 100) -> list[Rates]:
    """Rates for each number of threads; the best of `rounds` windows of so many seconds.

    Raises NoCompilerError.
    """
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        raise NoCompilerError("no C++ compiler: install one, or name it in CXX")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "rates"
        made = subprocess.run(
            [compiler, *FLAGS, str(SOURCE), "-o", str(program)], capture_output=True, text=True, check=False
        )
        if made.returncode:
            raise NoCompilerError(f"{compiler} does not compile {SOURCE.name}: {made.stderr.strip()}")
        return [_run(program, count, seconds, rounds) for count in threads]


def _run(program: Path, threads: int, seconds: float, rounds: int) -> Rates:
    sizes = [str(size) for size in WORKING_SETS.values()]
    done = subprocess.run(
        [str(program), str(seconds), str(threads), str(rounds), *sizes],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    read, copied = (
        {level: entry[kind] for level, entry in zip(WORKING_SETS, found["bytes"], strict=True)}
        for kind in ("read", "copy")
    )
    return Rates(threads, found["operations"], read, copied)


def report(found: Sequence[Rates]) -> None:
    """Print tables."""
    rows = {f"{rates.threads} thread{'s' * (rates.threads > 1)}": rates for rates in found}
    show(
        "float32 operations, billions a second",
        {name: {k: v / 1e9 for k, v in rates.operations.items()} for name, rates in rows.items()},
        list(found[0].operations),
    )
    for title, kind in (("read", "read"), ("copied", "copied")):
        show(
            f"bytes {title}, billions a second",
            {name: {k: v / 1e9 for k, v in getattr(rates, kind).items()} for name, rates in rows.items()},
            list(WORKING_SETS),
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print tables; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--milliseconds", type=float, default=3.0, help="of a window")
    parser.add_argument("--rounds", type=int, default=100, help="windows a figure")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    try:
        found = measure(options.threads, options.milliseconds / 1000, options.rounds)
    except NoCompilerError as error:
        print(error, file=sys.stderr)
        return 1
    print(machine())
    report(found)
    save(options.json, {"rates": [asdict(rates) for rates in found]}, __file__, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
