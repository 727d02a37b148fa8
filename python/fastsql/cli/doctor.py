"""``fastsql doctor``: what is installed, and what a parser would use."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fastsql.cli.console import Console
from fastsql.errors import ModelError

if TYPE_CHECKING:
    from fastsql.backends import Report
    from fastsql.reliability import Reliability


@dataclass(frozen=True)
class BundleFacts:
    """A model bundle as it lies on the disk."""

    name: str
    """Of its folder: what `fastsql.load` takes."""
    path: str
    megabytes: float
    format_version: int | None = None
    """None where the bundle is damaged or was not looked into."""
    parameters: int | None = None
    manifest_sha256: str = ""
    """Of its manifest, which holds that of every other file; empty where it cannot be read."""
    calibration: str = ""
    """Whether its probabilities were fitted, and on what; of others, what it is for; empty where nobody looked."""
    shipped: bool = True
    """Whether it lies among the models of this fastsql."""
    pinned: bool = False
    """Whether that is the digest that this version of fastsql ships under this name."""
    fault: str = ""
    """What is wrong with it, and what to do; empty where every file is what this version ships, or what the folder's own
    manifest says, and it is calibrated."""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "doctor",
        help="what is installed, and what is used",
        description="Report the packages found, the backend and encoder in use, the bundled models, and what needs mending.",
        epilog="examples:\n  fastsql doctor\n  fastsql doctor --json\n  fastsql doctor --model runs/ward/bundle",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="the report as JSON")
    parser.add_argument(
        "--model",
        metavar="FOLDER",
        action="append",
        default=[],
        type=Path,
        dest="models",
        help="look into this bundle, too (repeatable)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the report."""
    from fastsql import backends

    report = backends.report()
    models = bundled_models(Path(backends.__file__).parent / "models")
    models += [own_model(folder) for folder in options.models]
    report = dataclasses.replace(
        report, problems=(*report.problems, *(model.fault for model in models if model.fault))
    )
    if options.json:
        content = {**dataclasses.asdict(report), "models": [dataclasses.asdict(model) for model in models]}
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
    else:
        _print(report, models, Console())
    return 0


def bundled_models(folder: Path) -> list[BundleFacts]:
    """The models in a folder: every file of each compared with its manifest, and that with the digest in the code.

    What has no configuration is a reverse model or a reranker, which a bundle asks for a second opinion.
    """
    folders = sorted(
        {path.parent for name in ("config", "manifest") for path in folder.glob(f"*/{name}.json")}
    )
    return [_facts(path) if (path / "config.json").exists() else _second_facts(path) for path in folders]


def own_model(folder: Path) -> BundleFacts:
    """A bundle that was not shipped: every file compared with its manifest."""
    return _facts(folder, shipped=False)


def _facts(folder: Path, *, shipped: bool = True) -> BundleFacts:
    files = folder.iterdir() if folder.is_dir() else ()
    size = sum(file.stat().st_size for file in files if file.is_file()) / 1e6
    facts = BundleFacts(folder.name if shipped else str(folder), str(folder), size, shipped=shipped)
    try:
        from fastsql.model.bundle import FORMAT_VERSION, manifest_digest, open_bundle
        from fastsql.model.pinned import MANIFESTS
        from fastsql.model.weights import weight_shapes
        from fastsql.parser.weigh import second_lacking
        from fastsql.reliability import Reliability
    except ImportError as error:
        return dataclasses.replace(facts, fault=f"{facts.name} cannot be checked without {error.name}.")
    try:
        digest = manifest_digest(folder)
        pinned = shipped and digest == MANIFESTS.get(folder.name)
        facts = dataclasses.replace(facts, manifest_sha256=digest, pinned=pinned)
        bundle = open_bundle(folder)
        config = bundle.config
        known = Reliability.from_settings(config.settings, config.model.d)
    except ModelError as error:
        return dataclasses.replace(facts, fault=str(error))
    lacking = known.lacking or second_lacking(known, bundle.tokenizer())
    fault = f"{facts.name}: {lacking}" if lacking else ""
    if shipped and not pinned:
        fault = _not_shipped(folder)
    return dataclasses.replace(
        facts,
        format_version=FORMAT_VERSION,
        parameters=sum(math.prod(shape) for shape in weight_shapes(config.model).values()),
        calibration=_calibration(known),
        fault=fault,
    )


def _second_facts(folder: Path) -> BundleFacts:
    """Those of a reverse model or a reranker."""
    size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) / 1e6
    facts = BundleFacts(folder.name, str(folder), size)
    try:
        from fastsql.model.bundle import CARD, WEIGHTS, check_files, manifest_digest
        from fastsql.model.header import kind_of
        from fastsql.model.pinned import MANIFESTS
        from fastsql.reranker import weights as reranker
        from fastsql.reverse import weights as reverse
    except ImportError as error:
        return dataclasses.replace(facts, fault=f"{facts.name} cannot be checked without {error.name}.")
    try:
        digest = manifest_digest(folder)
        pinned = digest == MANIFESTS.get(folder.name)
        facts = dataclasses.replace(facts, manifest_sha256=digest, pinned=pinned)
        check_files(folder, (WEIGHTS, CARD))
        room = reranker if kind_of(folder / WEIGHTS) == "reranker" else reverse
        count = room.count_weights(folder / WEIGHTS)
    except ModelError as error:
        return dataclasses.replace(facts, fault=str(error))
    return dataclasses.replace(
        facts,
        format_version=room.FORMAT,
        parameters=count,
        calibration="a second opinion over schemas never seen, and in doubt",
        fault="" if pinned else _not_shipped(folder),
    )


def _not_shipped(folder: Path) -> str:
    return f"{folder.name} is not a model that this fastsql ships. Reinstall fastsql."


def _calibration(known: Reliability) -> str:
    if not known.calibrated:
        return "NOT calibrated, refuses unless penalty=0"
    u = "and u" if known.judge.unanswerable is not None else "but NOT u"
    return f"p {u} calibrated{', schemas never seen apart' if known.elsewhere is not None else ''}"


def _origin(model: BundleFacts) -> str:
    if model.pinned:
        return "as shipped"
    return "NOT as shipped" if model.shipped else "your own"


def _print(report: Report, models: list[BundleFacts], console: Console) -> None:
    native = report.native
    kernels = f", {report.instruction_set} kernels" if report.instruction_set else ""
    console.line(f"fastsql {report.fastsql}", "bold")
    console.line(f"  Python        {report.python}")
    console.line(f"  platform      {report.platform}")
    console.line(f"  device        auto is {report.device}: {report.encoder} encoder{kernels}")
    console.line(f"  native        {native.reason}")
    if native.available:
        console.line(f"                {native.compiler}, kernels for {', '.join(native.instruction_sets)}")
    for line in report.cuda.gpus or (report.cuda.reason,):
        console.line(f"  CUDA          {line}")
    console.line(f"  encoders      {'; '.join(report.encoders)}")
    console.line(f"  ONNX Runtime  {report.provider or 'not installed'}")
    console.line("models", "bold")
    for model in models:
        state = "see below"
        if model.parameters is not None:
            state = f"{model.parameters / 1e6:.1f} million parameters, format {model.format_version}, files intact"
        console.line(f"  {model.name}  {model.megabytes:.1f} MB, {state}")
        if model.calibration:
            console.line(f"    {model.calibration}")
        if model.manifest_sha256:
            console.line(f"    manifest {model.manifest_sha256}, {_origin(model)}")
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
