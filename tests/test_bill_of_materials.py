"""The bill of materials lists what the distributions hold and what they ask for.

Distributions of the same form are made up here; `FASTSQL_DISTRIBUTIONS` names a folder with those that
scripts/build_wheel.sh built, and is looked at as well.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from fastsql.model.pinned import MANIFESTS
from fastsql.parser import BUNDLED

from .test_version_ranges import PROJECT

pytest.importorskip("cyclonedx", reason="pip install -r requirements/release.in to run this")
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
NAME = f"fastsql-{PROJECT['version']}"
WHEEL, SOURCE = f"{NAME}-cp311-cp311-manylinux_2_34_x86_64.whl", f"{NAME}.tar.gz"
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
DISTRIBUTIONS = os.environ.get("FASTSQL_DISTRIBUTIONS")


def write_distributions(folder: Path, module: bytes = b"GCC: (Debian 12.2.0-14) 12.2.0\0") -> Path:
    """As much of a wheel and of a source distribution as the script reads."""
    extras = [
        f"{line} and extra == '{extra}'" if ";" in line else f"{line}; extra == '{extra}'"
        for extra, lines in EXTRAS.items()
        for line in lines
    ]
    lines = [
        "Metadata-Version: 2.4",
        "Name: fastsql",
        f"Version: {PROJECT['version']}",
        f"Summary: {PROJECT['description']}",
        f"License-Expression: {PROJECT['license']}",
        *(f"Requires-Dist: {line}" for line in (*PROJECT["dependencies"], *extras)),
    ]
    folder.mkdir()
    with zipfile.ZipFile(folder / WHEEL, "w") as archive:
        archive.writestr(f"{NAME}.dist-info/METADATA", "\n".join(lines) + "\n\n")
        archive.writestr("fastsql/_core.cpython-311-x86_64-linux-gnu.so", module)
        for manifest in BUNDLED.glob("*/manifest.json"):
            archive.write(manifest, f"fastsql/models/{manifest.parent.name}/manifest.json")
    (folder / SOURCE).write_bytes(b"sources")
    return folder


def make(folder: Path, moment: str = "1700000000") -> str:
    """What the script writes of a folder."""
    command = [sys.executable, str(ROOT / "scripts" / "make_sbom.py"), str(folder)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": moment}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return (folder / f"{NAME}.cdx.json").read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=["made up", "built"])
def distributions(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of distributions with their bill of materials."""
    if request.param == "built":
        if DISTRIBUTIONS is None:
            pytest.skip("run scripts/build_wheel.sh FOLDER and set FASTSQL_DISTRIBUTIONS=FOLDER to run this")
        return Path(DISTRIBUTIONS)
    folder = write_distributions(tmp_path_factory.mktemp("made") / "dist")
    make(folder)
    return folder


@pytest.fixture(scope="module")
def bill(distributions: Path) -> dict[str, Any]:
    """What it says."""
    (path,) = distributions.glob("fastsql-*.cdx.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def components(bill: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    return {component["name"]: component for component in bill["components"] if component["type"] == kind}


def values(component: dict[str, Any], name: str) -> set[str]:
    return {entry["value"] for entry in component.get("properties", []) if entry["name"] == f"fastsql:{name}"}


def sha256(component: dict[str, Any]) -> str:
    (digest,) = component["hashes"]
    assert digest["alg"] == "SHA-256"
    return str(digest["content"])


def test_the_bill_is_of_the_distribution(bill: dict[str, Any]) -> None:
    product = bill["metadata"]["component"]
    assert bill["bomFormat"] == "CycloneDX"
    assert (product["name"], product["version"]) == (PROJECT["name"], PROJECT["version"])
    assert product["licenses"] == [{"expression": PROJECT["license"]}]


def test_the_bill_lists_what_pyproject_declares_for_use_each_extra_marked(bill: dict[str, Any]) -> None:
    declared: dict[str, set[str]] = {}
    for extra, lines in {"": PROJECT["dependencies"], **EXTRAS}.items():
        for requirement in map(Requirement, lines) if extra != "dev" else ():
            declared.setdefault(canonicalize_name(requirement.name), set()).add(extra)
    assert declared.pop("fastsql") == {"adapt"}  # which is all of `train`
    for extras in declared.values():
        if "train" in extras:
            extras.add("adapt")
    packages = {
        name: component
        for name, component in components(bill, "library").items()
        if component["bom-ref"].startswith("pypi:")
    }
    assert set(packages) == set(declared)
    for name, extras in declared.items():
        assert values(packages[name], "extra") == extras - {""}, name
        assert packages[name]["scope"] == ("required" if "" in extras else "optional"), name
        assert values(packages[name], "requirement"), name


def test_versions_lie_in_the_declared_ranges(bill: dict[str, Any]) -> None:
    known = {component["name"]: component.get("version") for component in bill["components"]}
    for requirement in map(Requirement, (*PROJECT["dependencies"], *EXTRAS["db"], *EXTRAS["duckdb"])):
        assert requirement.specifier.contains(known[canonicalize_name(requirement.name)])


def test_the_files_are_listed_with_their_digests(bill: dict[str, Any], distributions: Path) -> None:
    files = components(bill, "file")
    found = [path for path in distributions.glob("fastsql-*") if path.suffix != ".json"]
    assert set(files) == {path.name for path in found}
    for path in found:
        assert sha256(files[path.name]) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_bundled_models_are_listed_with_licence_and_the_digest_that_the_code_knows(
    bill: dict[str, Any],
) -> None:
    models = components(bill, "machine-learning-model")
    assert {name: sha256(model) for name, model in models.items()} == dict(MANIFESTS)
    for name, model in models.items():
        listed = json.loads((BUNDLED / name / "manifest.json").read_text(encoding="utf-8"))["files"]
        files = {Path(file["name"]).name: sha256(file) for file in model["components"]}
        assert files.pop("manifest.json") == MANIFESTS[name]
        assert files == {file: entry["sha256"] for file, entry in listed.items()}
        assert model["licenses"] == [{"license": {"id": "CC-BY-SA-4.0"}}]


def test_what_is_linked_into_the_module_is_listed(bill: dict[str, Any]) -> None:
    linked = {
        name: c for name, c in components(bill, "library").items() if c["bom-ref"].startswith("in-wheel:")
    }
    assert set(linked) == {"libstdc++", "pybind11"}
    assert all(component["licenses"] and component["version"] for component in linked.values())


def test_a_module_that_asks_the_system_for_its_libstdcxx_holds_none(tmp_path: Path) -> None:
    folder = write_distributions(tmp_path / "dist", b"libstdc++.so.6\0GCC: (Debian) 12.2.0\0")
    assert "libstdc++" not in components(json.loads(make(folder)), "library")


def test_the_same_distributions_give_the_same_bytes_and_others_another_number(tmp_path: Path) -> None:
    folder = write_distributions(tmp_path / "dist")
    first = make(folder)
    assert first == make(folder)
    (folder / SOURCE).write_bytes(b"other sources")
    second = json.loads(make(folder))
    assert second["serialNumber"] != json.loads(first)["serialNumber"]
    assert second["metadata"]["timestamp"] == json.loads(first)["metadata"]["timestamp"]


def test_a_folder_without_distributions_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "make_sbom.py"), str(tmp_path)]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "0 wheels" in refused.stderr
