#!/usr/bin/env python3
"""Write the bill of materials of built distributions, CycloneDX in JSON.

    python scripts/make_sbom.py FOLDER

FOLDER holds fastsql-*.whl and fastsql-*.tar.gz; fastsql-VERSION.cdx.json is written beside them. It lists these files, what
is linked into the wheel's module, the bundled models with all their files, and every package that the wheel's metadata asks
for: those of its base as required, those of an extra as optional and marked with its name. Versions of packages are those
that requirements/ci.txt locks, by which this version was tested; the declared range stands beside them. Packages that those
packages need in turn are not listed.

The same distributions give the same bytes: the serial number follows from their digests, the time is SOURCE_DATE_EPOCH. What
was written is checked against the schema of the specification. Needs requirements/release.in.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import uuid
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from email.message import Message
from email.parser import BytesHeaderParser
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import BY_SCHEMA_VERSION
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation import make_schemabased_validator
from packageurl import PackageURL
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCKS = (ROOT / "requirements" / "ci.txt", ROOT / "requirements" / "torch.txt")
SPECIFICATION = SchemaVersion.V1_7
MODEL_LICENCE = "CC-BY-SA-4.0"
DEVELOPMENT = "dev"
"""The extra that no one needs who uses fastsql."""
_licences = LicenseFactory()


@dataclass(frozen=True)
class Wheel:
    """What a wheel says of itself."""

    path: Path
    metadata: Message

    @classmethod
    def read(cls, path: Path) -> Wheel:
        """Open a wheel and read its metadata."""
        with zipfile.ZipFile(path) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            return cls(path, BytesHeaderParser().parsebytes(archive.read(name)))

    @property
    def version(self) -> str:
        """Of the distribution."""
        return str(self.metadata["Version"])

    @property
    def requirements(self) -> list[Requirement]:
        """All that it asks for, extras included."""
        return [Requirement(line) for line in self.metadata.get_all("Requires-Dist") or []]


def main() -> int:
    """Write the bill of materials of a folder's distributions."""
    parser = argparse.ArgumentParser(description="Write the bill of materials of built distributions.")
    parser.add_argument("folder", type=Path, help="holds one wheel and one source distribution")
    folder = parser.parse_args().folder
    wheels, sources = sorted(folder.glob("fastsql-*.whl")), sorted(folder.glob("fastsql-*.tar.gz"))
    if len(wheels) != 1 or len(sources) != 1:
        raise SystemExit(
            f"{folder} holds {len(wheels)} wheels and {len(sources)} source distributions, not one of each"
        )
    wheel = Wheel.read(wheels[0])
    target = folder / f"fastsql-{wheel.version}.cdx.json"
    target.write_text(as_json(bill_of_materials(wheel, sources[0])), encoding="utf-8")
    sys.stdout.write(f"{target}\n")
    return 0


def bill_of_materials(wheel: Wheel, source: Path) -> Bom:
    """The bill of a wheel and of the source distribution that it was built from."""
    product = Component(
        name="fastsql",
        type=ComponentType.LIBRARY,
        version=wheel.version,
        description=wheel.metadata["Summary"],
        licenses=[_licences.make_from_string(str(wheel.metadata["License-Expression"]))],
        purl=PackageURL("pypi", None, "fastsql", wheel.version),
        bom_ref="fastsql",
    )
    files = [_file(path.name, _sha256(path.read_bytes())) for path in (wheel.path, source)]
    parts = [*files, *_linked(wheel), *_models(wheel)]
    packages = list(_packages(wheel))
    serial = uuid.uuid5(
        uuid.NAMESPACE_URL, " ".join(f"{file.name} {next(iter(file.hashes)).content}" for file in files)
    )
    moment = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), tz=timezone.utc)
    bom = Bom(
        components=[*parts, *packages],
        serial_number=serial,
        metadata=BomMetaData(component=product, timestamp=moment),
    )
    bom.register_dependency(product, [*parts, *packages])
    return bom


def as_json(bom: Bom) -> str:
    """The bill as text; SystemExit where the specification's schema refuses it."""
    text = BY_SCHEMA_VERSION[SPECIFICATION](bom).output_as_string(indent=1)
    fault = make_schemabased_validator(OutputFormat.JSON, SPECIFICATION).validate_str(text)
    if fault is not None:
        raise SystemExit(f"The bill of materials does not fit its schema: {fault}")
    return text + "\n"


# ---------------------------------------------------------------- what the wheel holds


def _linked(wheel: Wheel) -> Iterator[Component]:
    """What is compiled or linked into the wheel's native modules, whose tools say who made them."""
    with zipfile.ZipFile(wheel.path) as archive:
        names = [name for name in archive.namelist() if re.search(r"\.so(\.\d+)*$", name)]
        modules = {name: archive.read(name) for name in names}
    ours = [content for name, content in modules.items() if name.startswith("fastsql/_core")]
    for name in sorted(set(modules)):
        if not name.startswith("fastsql/"):
            yield _file(name, _sha256(modules[name]))  # a library that auditwheel added
    if not ours:
        return
    compiler = re.search(rb"GCC: \([^)]*\) (\d+(?:\.\d+)+)", ours[0])
    if b"libstdc++.so" not in ours[0]:
        version = compiler[1].decode() if compiler else None
        yield _library("libstdc++", version, "GPL-3.0-or-later WITH GCC-exception-3.1", "linked statically")
    yield _library("pybind11", _locked().get("pybind11"), "BSD-3-Clause", "compiled in, header-only")


def _library(name: str, version: str | None, licence: str, how: str) -> Component:
    return Component(
        name=name,
        type=ComponentType.LIBRARY,
        version=version,
        scope=ComponentScope.REQUIRED,
        licenses=[_licences.make_from_string(licence)],
        properties=[Property(name="fastsql:inclusion", value=f"{how}, in fastsql/_core")],
        bom_ref=f"in-wheel:{name}",
    )


def _models(wheel: Wheel) -> Iterator[Component]:
    """The bundled models; the hash of each is that of its manifest, which the package's code knows."""
    with zipfile.ZipFile(wheel.path) as archive:
        for name in sorted(archive.namelist()):
            found = re.fullmatch(r"fastsql/models/([^/]+)/manifest\.json", name)
            if found is None:
                continue
            content = archive.read(name)
            listed = {file: entry["sha256"] for file, entry in json.loads(content)["files"].items()}
            listed["manifest.json"] = _sha256(content)
            folder = f"fastsql/models/{found[1]}"
            yield Component(
                name=found[1],
                type=ComponentType.MACHINE_LEARNING_MODEL,
                version=wheel.version,
                scope=ComponentScope.REQUIRED,
                licenses=[_licences.make_from_string(MODEL_LICENCE)],
                hashes=[_hash(listed["manifest.json"])],
                properties=[Property(name="fastsql:hash-of", value=f"{folder}/manifest.json")],
                components=[_file(f"{folder}/{file}", listed[file]) for file in sorted(listed)],
                bom_ref=f"model:{found[1]}",
            )


def _file(name: str, sha256: str) -> Component:
    return Component(name=name, type=ComponentType.FILE, hashes=[_hash(sha256)], bom_ref=f"file:{name}")


def _hash(sha256: str) -> HashType:
    return HashType(alg=HashAlgorithm.SHA_256, content=sha256)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# ---------------------------------------------------------------- what it asks for


def _packages(wheel: Wheel) -> Iterator[Component]:
    """Every package of its base and of its extras, once."""
    extras: dict[str, set[str]] = {}
    ranges: dict[str, set[str]] = {}
    within: dict[str, set[str]] = {}  # by extra those that ask for all of it, as `adapt` does for `train`
    for requirement in wheel.requirements:
        name = canonicalize_name(requirement.name)
        found = set(re.findall(r"""extra\s*==\s*["']([^"']+)""", str(requirement.marker or "")))
        if found == {DEVELOPMENT}:
            continue
        if name == "fastsql":
            for extra in requirement.extras:
                within.setdefault(extra, set()).update(found)
            continue
        extras.setdefault(name, set()).update(found or {""})
        ranges.setdefault(name, set()).add(str(requirement.specifier))
    for found in extras.values():
        found |= {other for extra in found for other in within.get(extra, ())}
    locked = _locked()
    for name in sorted(extras):
        properties = [Property(name="fastsql:requirement", value=wanted) for wanted in sorted(ranges[name])]
        properties += [Property(name="fastsql:extra", value=extra) for extra in sorted(extras[name]) if extra]
        yield Component(
            name=name,
            type=ComponentType.LIBRARY,
            version=locked.get(name),
            scope=ComponentScope.REQUIRED if "" in extras[name] else ComponentScope.OPTIONAL,
            purl=PackageURL("pypi", None, name, locked.get(name)),
            properties=properties,
            bom_ref=f"pypi:{name}",
        )


def _locked() -> dict[str, str]:
    """The versions that CI installs under the Python of today, by name."""
    versions = {}
    for path in LOCKS:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line[:1].isalnum():
                requirement = Requirement(line.rstrip("\\ "))
                if requirement.marker is None or requirement.marker.evaluate(dict(default_environment())):
                    (pinned,) = requirement.specifier
                    versions[canonicalize_name(requirement.name)] = pinned.version
    return versions


if __name__ == "__main__":
    sys.exit(main())
