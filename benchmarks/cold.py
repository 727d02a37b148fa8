"""What a fresh process takes until its first answer."""

from __future__ import annotations

if __name__ == "__main__":
    from parts import explain

    explain(__file__)

import json
import subprocess
import sys

from fastsql.schema import Schema
from figures import Figures, medians

CHILD = """
import json, sys, time
clock = [time.perf_counter()]
import fastsql
clock.append(time.perf_counter())
model, device, encoder, threads, schema, question, beam = json.loads(sys.argv[1])
parser = fastsql.load(model, device=device, encoder=encoder, threads=threads)
clock.append(time.perf_counter())
schema = fastsql.Schema.from_dict(schema)
clock.append(time.perf_counter())
parser.parse(question, schema, beam=beam)
clock.append(time.perf_counter())
parser.parse(question, schema, beam=beam)
clock.append(time.perf_counter())
stages = ["import", "load", "read schema", "first parse", "second parse"]
times = {name: 1000 * (b - a) for name, a, b in zip(stages, clock, clock[1:])}
memory = {}
names = {"VmRSS": "resident after two parses", "VmHWM": "at most"}
try:
    for line in open("/proc/self/status"):
        name = line.partition(":")[0]
        if name in names:
            memory[names[name]] = int(line.split()[1]) / 1024
except OSError:
    pass
print(json.dumps([times, memory]))
"""
"""A fresh process: milliseconds a stage, and mebibytes resident (VmRSS) and at most (VmHWM), where /proc tells."""


def cold_start(
    model: str, device: str, encoder: str, threads: int, schema: Schema, question: str, beam: int, repeat: int
) -> tuple[Figures, Figures]:
    """Medians over fresh processes of milliseconds by stage, and of mebibytes."""
    request = json.dumps([model, device, encoder, threads, schema.to_dict(), question, beam])
    runs = []
    for _ in range(repeat):
        done = subprocess.run(
            [sys.executable, "-c", CHILD, request], capture_output=True, text=True, check=True
        )
        runs.append(json.loads(done.stdout))
    times = medians([run[0] for run in runs])
    first = medians([{"all": sum(run[0].values()) - run[0]["second parse"]} for run in runs])
    return {**times, "until the first answer": first["all"]}, medians([run[1] for run in runs])
