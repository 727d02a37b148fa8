"""How much memory does a process hold, where does it lie, and does it grow?

    python benchmarks/memory.py                                   fresh processes, 1,000 parses each
    python benchmarks/memory.py --parses 10000 --devices cpu --json memory.json

One fresh process for each device is looked at after each stage: the interpreter alone, `import fastsql`, the model loaded,
the schema encoded and the first question parsed, and then while it parses questions of ehrsql2024 valid, over and over, on
that schema. Resident pages (VmRSS) are told apart by the kernel's own account (/proc/self/smaps_rollup): anonymous ones,
which are the process's alone, and those of mapped files (libraries, a mapped bundle), which processes share. Growth is that
of the second half of the parses: what a cache fills in the first half is not a leak.

Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastsql.datasets import read_examples, read_schemas
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parent))
from figures import Figures, show, spread
from record import machine, save

SMAPS = Path("/proc/self/smaps_rollup")

CHILD = """
import json, sys

def resident():
    found = {}
    for path, names in (("/proc/self/status", ("VmRSS", "VmHWM")), ("/proc/self/smaps_rollup", ("Anonymous", "Rss"))):
        with open(path) as lines:
            for line in lines:
                name, _, rest = line.partition(":")
                if name in names:
                    found[name] = int(rest.split()[0]) / 1024
    return {
        "resident": found["VmRSS"], "anonymous": found["Anonymous"],
        "of files": found["Rss"] - found["Anonymous"], "at most": found["VmHWM"],
    }

def report(stage):
    print(json.dumps([stage, resident()]), flush=True)

request = json.load(sys.stdin)
report("interpreter")
import fastsql
report("import")
parser = fastsql.load(request["model"], device=request["device"], threads=request["threads"])
report("load")
schema = fastsql.Schema.from_dict(request["schema"])
questions, beam = request["questions"], request["beam"]
parser.parse(questions[0], schema, beam=beam)
report("first parse")
checkpoints = set(request["checkpoints"])
for count in range(1, max(checkpoints) + 1):
    parser.parse(questions[count % len(questions)], schema, beam=beam)
    if count in checkpoints:
        report(f"{count:,} parses")
"""
"""What the fresh process runs: one line of JSON a stage."""


def checkpoints(parses: int) -> list[int]:
    """Powers of ten up to `parses`, its half, and itself."""
    powers = [10**power for power in range(2, 10) if 10**power < parses]
    return sorted({*powers, max(parses // 2, 1), parses})


def watch(request: dict[str, Any]) -> dict[str, Figures]:
    """Mebibytes by stage, of a fresh process."""
    stages: dict[str, Figures] = {}
    command = [sys.executable, "-c", CHILD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        with child.stdin as stream:
            json.dump(request, stream)
        for line in child.stdout:
            stage, figures = json.loads(line)
            stages[stage] = figures
            print(f"{request['device']}, {stage}: {figures['resident']:.1f} MiB", file=sys.stderr)
    if child.returncode:
        raise SystemExit(f"the process for device {request['device']} failed: see above")
    return stages


def growth(stages: dict[str, Figures], parses: int) -> float:
    """MiB that a thousand parses add, in the second half of them."""
    before, after = (stages[f"{count:,} parses"]["resident"] for count in (max(parses // 2, 1), parses))
    return (after - before) / max(parses - parses // 2, 1) * 1000


def main(arguments: Sequence[str] | None = None) -> int:
    """Print tables; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="ehr-en", help="a bundled model or a bundle's folder")
    parser.add_argument("--devices", nargs="+", default=["cpu", "python"])
    parser.add_argument(
        "--data",
        type=Path,
        help="folder with valid.json and schemas.json (default: $FASTSQL_DATA/ehrsql2024)",
    )
    parser.add_argument("--questions", type=int, default=200, metavar="N", help="different ones")
    parser.add_argument("--parses", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=0, help="0 leaves the choice to fastsql")
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if not SMAPS.is_file():
        print(f"{SMAPS} is not there: this needs Linux", file=sys.stderr)
        return 1
    data = options.data or Path(os.environ.get("FASTSQL_DATA", ".")) / "ehrsql2024"
    if not (data / "valid.json").is_file():
        print(f"{data} has no valid.json: set FASTSQL_DATA, or give --data", file=sys.stderr)
        return 2
    examples = read_examples(data / "valid.json")
    schema: Schema = read_schemas(data / "schemas.json")[examples[0].db_id]
    request = {
        "model": options.model,
        "threads": options.threads,
        "schema": schema.to_dict(),
        "questions": spread([example.question for example in examples], options.questions),
        "beam": options.beam,
        "checkpoints": checkpoints(options.parses),
    }
    print(f"{machine()}, {len(schema.columns)} columns, beam {options.beam}; MiB of a fresh process")
    found = {}
    for device in options.devices:
        stages = watch({**request, "device": device})
        found[device] = {"stages": stages, "growth_per_1000": growth(stages, options.parses)}
        show(f"device {device}", stages, list(stages["interpreter"]))
        print(
            f"growth in the second half of the parses: {found[device]['growth_per_1000']:.2f} MiB a thousand"
        )
    save(options.json, {"threads": options.threads, "mebibytes": found}, __file__, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
