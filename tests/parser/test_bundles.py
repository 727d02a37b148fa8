"""What is loaded by a bundled model's name is what this version ships; a path is loaded as it lies."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fastsql
from fastsql.errors import ModelError
from fastsql.model.bundle import CARD, manifest_digest, write_manifest
from fastsql.model.pinned import MANIFESTS
from fastsql.parser import BUNDLED
from fastsql.parser.bundles import open_model

ROOT = Path(__file__).resolve().parents[2]
PIN = "python scripts/pin_models.py"


@pytest.fixture
def bundled(toy_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package's folder of models with one, "small-en", that is pinned."""
    shutil.copytree(toy_bundle, tmp_path / "models" / "small-en")
    monkeypatch.setattr("fastsql.parser.bundles.MANIFESTS", {"small-en": manifest_digest(toy_bundle)})
    monkeypatch.setattr("fastsql.parser.bundles.BUNDLED", tmp_path / "models")
    return tmp_path / "models"


def sign_anew(folder: Path) -> None:
    """Another bundle, whose every file is as its manifest says."""
    (folder / CARD).write_text("# another\n", encoding="utf-8")
    write_manifest(folder)


def test_every_bundled_model_is_pinned_by_its_manifest_of_today() -> None:
    found = {path.parent.name: manifest_digest(path.parent) for path in BUNDLED.glob("*/manifest.json")}
    assert dict(MANIFESTS) == found, f"the pinned digests are stale; run: {PIN}"


def test_a_pinned_model_is_opened_by_its_name(bundled: Path) -> None:
    assert open_model("small-en").path == bundled / "small-en"


@pytest.mark.parametrize("name", [str, Path])
def test_a_bundle_signed_anew_is_refused_by_name_and_taken_by_path(
    bundled: Path, name: Callable[[str], str | Path]
) -> None:
    sign_anew(bundled / "small-en")
    with pytest.raises(ModelError, match=r"manifest\.json: it is not the model 'small-en' of this fastsql"):
        open_model(name("small-en"))
    assert open_model(name(str(bundled / "small-en"))).config.name == "toy"


def test_a_folder_that_no_version_shipped_has_no_name(bundled: Path) -> None:
    (bundled / "small-en").rename(bundled / "large-en")
    with pytest.raises(ModelError, match=r"'large-en': it is not one of the models that this fastsql ships"):
        open_model("large-en")


def test_a_folder_in_the_working_directory_never_stands_in_for_a_bundled_model(
    bundled: Path, toy_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sign_anew(Path(shutil.copytree(toy_bundle, tmp_path / "small-en")))
    assert open_model("small-en").path == bundled / "small-en"
    assert open_model("./small-en").path == tmp_path / "small-en"
    assert open_model(Path("small-en")).path == tmp_path / "small-en"


def test_the_bundled_model_signed_anew_is_refused_by_load_and_by_parse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_anew(Path(shutil.copytree(BUNDLED / "ehr-en", tmp_path / "ehr-en")))
    monkeypatch.setattr("fastsql.parser.bundles.BUNDLED", tmp_path)
    monkeypatch.setattr("fastsql.parser.loading._parser", None)
    with pytest.raises(ModelError, match="ehr-en"):
        fastsql.load()
    with pytest.raises(ModelError, match="ehr-en"):
        fastsql.parse("How many patients are there?", "CREATE TABLE patients (id INT)")


@pytest.fixture
def checkout(bundled: Path, tmp_path: Path) -> Path:
    """As much of a checkout as the script touches."""
    package = tmp_path / "checkout" / "python" / "fastsql"
    for source, place in (("scripts", tmp_path / "checkout"), ("python/fastsql/model", package)):
        shutil.copytree(ROOT / source, place / Path(source).name)
    shutil.copytree(bundled, package / "models")
    return tmp_path / "checkout"


def pin(checkout: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(checkout / "scripts" / "pin_models.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_script_pins_what_lies_there_and_notices_what_is_stale(checkout: Path) -> None:
    stale = pin(checkout, "--check")
    assert (stale.returncode, PIN in stale.stderr) == (1, True)
    assert pin(checkout).returncode == 0
    assert pin(checkout, "--check").returncode == 0
    package = checkout / "python" / "fastsql"
    digest = manifest_digest(package / "models" / "small-en")
    assert f'"small-en": "{digest}"' in (package / "model" / "pinned.py").read_text(encoding="utf-8")


def test_the_script_pins_no_manifest_that_its_files_contradict(checkout: Path) -> None:
    card = checkout / "python" / "fastsql" / "models" / "small-en" / CARD
    card.write_text("# changed behind the manifest\n", encoding="utf-8")
    refused = pin(checkout)
    assert refused.returncode == 1
    assert f"{card} is not what its manifest says" in refused.stderr
