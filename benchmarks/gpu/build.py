"""Build the native module with its CUDA core, and the tests of its kernels, into a folder, for the card of this machine.

    python benchmarks/gpu/build.py --folder build/gpu
    python benchmarks/gpu/build.py --folder build/simulated --simulated       without nvcc and without a GPU

Needs CMake, Ninja, a C++20 compiler, nvcc and the Python package pybind11. The C++ tests need Catch2 2 (`--catch2` names a
folder with its CMake files where it is not installed); without it only the module is built. `FOLDER/package/fastsql` is the
package of this source tree with the module in it: put `FOLDER/package` on PYTHONPATH.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from gpu.device import Report
from record import measured

ROOT = Path(__file__).resolve().parents[2]
MODULE, TESTS = "_core", "fastsql_cuda_tests"


class BuildError(RuntimeError):
    """A tool is missing, or CMake or a compiler refused."""


def command(arguments: Sequence[str | Path]) -> str:
    """Output of a command, both streams. Raises BuildError with its end where it fails."""
    try:
        done = subprocess.run(
            list(map(str, arguments)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    except OSError as error:
        raise BuildError(f"{arguments[0]} cannot be run: {error}") from error
    if done.returncode:
        errors = [line for line in done.stdout.splitlines() if re.search(r"error|CMake Error|FAILED", line)]
        tail = done.stdout.splitlines()[-30:]
        raise BuildError("\n".join([f"{arguments[0]} failed:", *errors[:10], "...", *tail]))
    return done.stdout


def pybind11_folder() -> str:
    """Where pybind11's CMake files are. Raises BuildError."""
    try:
        import pybind11
    except ImportError as error:
        raise BuildError("the Python package pybind11 (3 or later) is not installed") from error
    return str(pybind11.get_cmake_dir())


def settings(simulated: bool, tests: bool, catch2: Path | None, launcher: str = "") -> list[str]:
    """CMake's arguments."""
    found = {
        "FASTSQL_PYTHON": "ON",
        "FASTSQL_TESTS": "ON" if tests else "OFF",
        "FASTSQL_CUDA": "SIMULATED" if simulated else "ON",
        "Python_EXECUTABLE": sys.executable,
        "pybind11_DIR": pybind11_folder(),
    }
    if catch2 is not None:
        found["Catch2_DIR"] = str(catch2.resolve())
    if launcher:
        found["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher
    if not simulated and shutil.which("nvidia-smi"):
        found["CMAKE_CUDA_ARCHITECTURES"] = (
            "native"  # of this machine's card; several would take as many times as long
        )
    return [f"-D{name}={value}" for name, value in found.items()]


def build(folder: Path, simulated: bool, catch2: Path | None, jobs: int, launcher: str = "") -> str:
    """Configures and compiles; with the tests where that works. Returns why they are missing. Raises BuildError.

    The tests' build takes every warning for an error, so that a compiler that nobody tried may refuse what is right: the
    module is then built without them.
    """

    def attempt(tests: bool) -> None:
        given = settings(simulated, tests, catch2, launcher)
        command(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *given])
        targets = [MODULE, TESTS] if tests else [MODULE]
        command(["cmake", "--build", folder, "--parallel", str(jobs), "--target", *targets])

    if simulated:  # its kernels' tests are part of the ordinary C++ tests
        attempt(tests=False)
        return "the GPU is simulated"
    try:
        attempt(tests=True)
    except BuildError as error:
        attempt(tests=False)
        return str(error)
    return ""


def package(folder: Path) -> Path:
    """Makes FOLDER/package/fastsql: links to the sources, and the module. Returns FOLDER/package. Raises BuildError."""
    inner = folder / "package" / "fastsql"
    if inner.exists():
        shutil.rmtree(inner)
    inner.mkdir(parents=True)
    for source in sorted((ROOT / "python" / "fastsql").iterdir()):
        if source.name != "__pycache__" and not source.name.startswith("_core."):
            (inner / source.name).symlink_to(source)
    (inner / "_core.pyi").symlink_to(ROOT / "python" / "fastsql" / "_core.pyi")
    built = sorted(folder.glob("_core*.so"))
    if len(built) != 1:
        raise BuildError(f"{folder} has {len(built)} files named _core*.so")
    shutil.copy2(built[0], inner)
    return folder / "package"


def main(arguments: Sequence[str] | None = None) -> int:
    """Build; write where things are as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "gpu")
    parser.add_argument("--simulated", action="store_true", help="with a simulated GPU")
    parser.add_argument("--catch2", type=Path, metavar="DIR", help="folder with Catch2Config.cmake")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--launcher", default="", metavar="COMMAND", help="of compilers, such as ccache")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    start = time.monotonic()
    report = Report(options.json, measured(__file__, arguments))
    try:
        problem = build(options.folder, options.simulated, options.catch2, options.jobs, options.launcher)
        report.add(
            package=str(package(options.folder)), without_tests=problem, seconds=time.monotonic() - start
        )
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"built in {report.figures['seconds']:.0f} s; PYTHONPATH={report.figures['package']}")
    if problem:
        print(f"without the C++ tests of kernels: {problem}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
