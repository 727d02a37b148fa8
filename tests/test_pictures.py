"""The pictures of the documents are of the bundled model, say what they show, and can be read in light and dark."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fastsql.parser import BUNDLED

DOCS = Path(__file__).parents[1] / "docs"
SCRIPT = DOCS / "images" / "make.py"
PICTURES = sorted((DOCS / "images").glob("*.svg"))
DIAGRAMS = sorted((DOCS / "images").glob("*/*.png"))
"""What `fastsql eval --plots` drew for the documents, a folder for each set."""
SVG = "{http://www.w3.org/2000/svg}"
_LARGEST = 64_000
"""Bytes of a picture."""


def test_every_picture_is_used_in_a_document() -> None:
    used = {
        name
        for page in DOCS.glob("*.md")
        for name in re.findall(r"\]\(images/(\S+?)\)", page.read_text("utf-8"))
    }
    drawn = (*PICTURES, *DIAGRAMS)
    assert used == {picture.relative_to(DOCS / "images").as_posix() for picture in drawn} != set()


@pytest.mark.parametrize("diagram", DIAGRAMS, ids=lambda diagram: f"{diagram.parent.name}/{diagram.stem}")
def test_a_diagram_is_small_and_drawn_by_a_command_of_the_benchmarks(diagram: Path) -> None:
    assert diagram.stat().st_size < _LARGEST
    folder = diagram.parent.relative_to(DOCS.parent).as_posix()
    assert f"--plots {folder} " in (DOCS / "benchmarks.md").read_text("utf-8")


def test_every_picture_is_described_where_it_is_shown() -> None:
    for page in DOCS.glob("*.md"):
        for described in re.findall(r"!\[([^\]]*)\]\(images/", page.read_text("utf-8")):
            assert len(described.split()) >= 5


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: str(picture.name))
def test_a_picture_is_small_plain_and_legible(picture: Path) -> None:
    content = picture.read_text("utf-8")
    assert len(content.encode()) < _LARGEST
    root = ET.fromstring(content)
    assert root.tag == f"{SVG}svg"
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "style", "rect", "path", "circle", "text"}
    assert not re.search(r"(?i)href|url\(|@import|<image", content)
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert description is not None
    assert title.text
    assert description.text
    assert "prefers-color-scheme:dark" in content
    width, height = (float(root.attrib[side]) for side in ("width", "height"))
    for element in root.iter(f"{SVG}text"):
        if "x" in element.attrib:
            assert 0 <= float(element.attrib["x"]) <= width
            assert 0 <= float(element.attrib["y"]) <= height


def test_pictures_are_of_the_bundled_model() -> None:
    weights = BUNDLED / "ehr-en" / "weights.safetensors"
    if not weights.is_file():
        pytest.skip("the bundled model ehr-en runs this")
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()[:12]
    stale = [picture.name for picture in PICTURES if f"weights {digest}" not in picture.read_text("utf-8")]
    assert stale == [], "another model is bundled: run python docs/images/make.py"


def test_the_script_draws_what_is_there(tmp_path: Path) -> None:
    """What depends on the model's arithmetic may differ in the last digit; what depends on linking and grammar may not."""
    if not (BUNDLED / "ehr-en").is_dir():
        pytest.skip("the bundled model ehr-en runs this")
    subprocess.run([sys.executable, str(SCRIPT), str(tmp_path)], check=True)
    drawn = {path.name: path.read_text("utf-8") for path in tmp_path.glob("*.svg")}
    assert sorted(drawn) == [picture.name for picture in PICTURES]
    for picture in PICTURES:
        before, now = (
            re.sub(r"[0-9.]+", "0", text) for text in (picture.read_text("utf-8"), drawn[picture.name])
        )
        assert before == now, f"{picture.name} is out of date: run python docs/images/make.py"
