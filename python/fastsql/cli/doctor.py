"""``fastsql doctor``: what is installed, and what a parser would use."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path

from fastsql.cli.console import Console


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "doctor",
        help="what is installed, and what is used",
        description="Report the packages found, the backend and encoder in use, the bundled models, and what to mend.",
        epilog="examples:\n  fastsql doctor\n  fastsql doctor --json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the report."""
    from fastsql import backends

    report = backends.report()
    models = bundled_models(Path(backends.__file__).parent / "models")
    if options.json:
        content = {**dataclasses.asdict(report), "models": models}
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
        return 0
    console = Console()
    native = report.native
    console.line(f"fastsql {report.fastsql}", "bold")
    console.line(f"  Python    {report.python}")
    console.line(f"  platform  {report.platform}")
    console.line(f"  device    {report.device}, encoder on {report.encoder}")
    console.line(f"  native    {native.reason}")
    if native.available:
        console.line(f"            {native.compiler}, kernels: {', '.join(native.instruction_sets)}")
    console.line("models", "bold")
    for name, megabytes in models.items():
        console.line(f"  {name}  {megabytes:.1f} MB")
    if not models:
        console.line("  none bundled: give --model a folder")
    console.line("packages", "bold")
    rows = [
        (component.name, component.version or "-", component.extra or "base", component.purpose)
        for component in report.components
    ]
    console.table(("name", "version", "extra", "for"), rows, indent="  ")
    console.line("all is well" if not report.problems else "to mend", "bold")
    for problem in report.problems:
        console.line(f"  {problem}")
    return 0


def bundled_models(folder: Path) -> dict[str, float]:
    """Names of the bundles in a folder with their sizes in megabytes."""
    bundles = sorted(path.parent for path in folder.glob("*/config.json"))
    return {
        bundle.name: sum(file.stat().st_size for file in bundle.iterdir() if file.is_file()) / 1e6
        for bundle in bundles
    }
