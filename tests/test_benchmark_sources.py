"""Each table of the benchmarks' page names the file that its figures come from, or says that they were not run again."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from .test_benchmarks import module

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
RESULTS = ROOT / "benchmarks" / "results"
MODELS = ROOT / "python" / "fastsql" / "models"
_START = re.compile(r"^(?=##+ |\*\*[^*\n]+\.\*\*)", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SOURCE = re.compile(r"^Source: (.+)$", re.MULTILINE)
_DAY = r"\d{1,2} [A-Z][a-z]+ 20\d\d"
_WITHOUT_FILE = (
    rf"measured on {_DAY} without keeping a file, and not run again since\.",
    r"none, as nothing was run; .+",
)


def sections() -> list[str]:
    """The page, cut at headings and at paragraphs that begin with a title in bold."""
    return [section for section in _START.split(PAGE) if section.strip()]


def title(section: str) -> str:
    return section.partition("\n")[0].lstrip("# ").partition(".**")[0].lstrip("*")


def has_figures(section: str) -> bool:
    """Whether a section has a table of numbers, in Markdown or as a benchmark printed it."""
    rows = [line for line in section.splitlines() if line.startswith("|") and re.search(r"\d", line)]
    printed = [
        line for language, block in _BLOCK.findall(section) if not language for line in block.splitlines()
    ]
    return bool(rows) or sum(len(re.findall(r"(?<!\S)[\d,.]+(?!\S)", line)) > 1 for line in printed) > 2


MEASURED = [section for section in sections() if has_figures(section)]


def files(section: str) -> list[str]:
    return [name for source in _SOURCE.findall(section) for name in re.findall(r"`([\w.]+\.json)`", source)]


def test_the_tables_are_found() -> None:
    titles = {title(section) for section in MEASURED}
    assert {"Latency", "What the machine can do", "Memory", "Encoder", "Attention", "Same answers"} <= titles
    assert len(MEASURED) > 12


@pytest.mark.parametrize("section", MEASURED, ids=title)
def test_a_table_has_its_file_or_says_that_it_was_not_run_again(section: str) -> None:
    (source,) = _SOURCE.findall(section)
    named = files(section)
    assert bool(named) != any(re.fullmatch(form, source) for form in _WITHOUT_FILE)
    assert [name for name in named if not (RESULTS / name).is_file()] == []


@pytest.mark.parametrize("section", [section for section in MEASURED if files(section)], ids=title)
def test_a_file_was_written_by_a_command_of_its_section(section: str) -> None:
    for name in files(section):
        found = json.loads((RESULTS / name).read_text("utf-8"))
        made = found["measured"] if "measured" in found else found["details"]["provenance"]
        assert made["command"].endswith(f"--json benchmarks/results/{name}")
        said = made["command"].replace("benchmarks/results/", "$R/").replace("'", '"')
        for short, folder in (("$D", "ehrsql2024"), ("$S", "spider")):
            said = said.replace(f"$FASTSQL_DATA/{folder}/", f"{short}/")
        assert said in re.sub(r"\s*\\\n\s*", " ", section)


def test_every_file_is_the_source_of_one_section() -> None:
    named = sorted(name for section in MEASURED for name in files(section))
    assert named == sorted(path.name for path in RESULTS.glob("*.json"))


EVALUATIONS = {
    path.stem: found["details"]["provenance"]
    for path in sorted(RESULTS.glob("*.json"))
    if "details" in (found := json.loads(path.read_text("utf-8")))
}


def test_evaluations_of_both_bundled_models_are_found() -> None:
    assert {made["model"] for made in EVALUATIONS.values()} == {"ehr-en", "css-zh"}


@pytest.mark.parametrize("name", EVALUATIONS)
def test_an_evaluation_is_of_the_model_that_is_bundled(name: str) -> None:
    """Whoever bundles another model measures it anew."""
    made = EVALUATIONS[name]
    manifest = (MODELS / made["model"] / "manifest.json").read_bytes()
    assert made["manifest_sha256"] == hashlib.sha256(manifest).hexdigest()


def test_the_table_of_memory_has_the_figures_of_its_files() -> None:
    (section,) = (section for section in MEASURED if title(section) == "Memory")
    rows = {
        cells[0]: cells[1:] for line in section.splitlines() if len(cells := line.strip("|").split("|")) == 7
    }
    shown = {name.strip(): [cell.strip() for cell in cells] for name, cells in rows.items()}
    names = {"`import fastsql`": "import", "model loaded": "load"}
    kinds = ("resident", "anonymous", "of files")
    for place, (device, file) in enumerate((("cpu", "memory.json"), ("python", "memory_python.json"))):
        found = json.loads((RESULTS / file).read_text("utf-8"))["mebibytes"][device]["stages"]
        for name, cells in list(shown.items())[2:]:
            stage = found.get(names.get(name, name), {})
            expected = [f"{stage[kind]:.1f}" if stage else "" for kind in kinds]
            assert cells[3 * place : 3 * place + 3] == expected, (device, name)


def test_the_times_of_a_parse_on_the_page_are_those_of_its_file() -> None:
    (section,) = (section for section in MEASURED if title(section) == "Latency")
    block = next(text for language, text in _BLOCK.findall(section) if not language)
    found = json.loads((RESULTS / "latency.json").read_text("utf-8"))
    assert f" on {found['machine']}: device" in block
    tables = {part.partition("\n")[0]: part for part in block.split("\n\n")}

    def total(table: str) -> list[float]:
        (row,) = (line for line in tables[table].splitlines() if line.startswith("total "))
        return [float(figure.replace(",", "")) for figure in row.split()[1:]]

    for beam, laps in found["latency_ms"].items():
        times = [laps["total"][name] for name in ("p50", "p90", "p99", "mean", "max")]
        assert total(f"milliseconds, beam {beam}") == pytest.approx(times, abs=0.051)
    floor = [found["floor"]["total"][name] for name in ("floor, ms", "p50, ms", "floors")]
    assert total("a middling question against the floor, beam 4")[2:] == pytest.approx(floor, abs=0.0051)


def test_the_readme_cites_a_parse_with_its_machine_and_the_ratio_to_its_floor() -> None:
    found = json.loads((RESULTS / "latency.json").read_text("utf-8"))
    cited = module("latency").summary(found, 4)
    assert re.search(r"on \d+ x .+ \(beam 4\), [\d.]+ times that machine's floor of [\d.]+ ms$", cited)
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    for text in (readme, PAGE):
        assert f"A parse takes {cited}" in text


def test_the_readme_names_no_time_of_a_parse_without_a_machine() -> None:
    """But for what the demo prints, which says whose times they are."""
    readme = _BLOCK.sub("", (ROOT / "README.md").read_text("utf-8"))
    sentences = re.split(r"(?<=[.;])\s", " ".join(readme.split()))
    timed = [sentence for sentence in sentences if re.search(r"\d ms\b|\d s\b|\bMiB\b", sentence)]
    assert timed
    assert [sentence for sentence in timed if not re.search(r"EPYC|Xeon|there\b", sentence)] == []
