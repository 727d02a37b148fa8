"""What must hold of the package as a whole, however it was built."""

from __future__ import annotations

import ast
import graphlib
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import fastsql
from fastsql import backends
from fastsql.demo.tables import HOSPITAL_DDL
from fastsql.errors import ModelError

PACKAGE = Path(fastsql.__file__).parent
HEAVY = (
    "numpy",
    "sqlglot",
    "tokenizers",
    "safetensors",
    "onnxruntime",
    "onnx",
    "torch",
    "transformers",
    "sqlalchemy",
)

# Folders of the inner layers, and what none of their files may import.
INNER = ("schema", "linking", "grammar", "model", "reverse", "reranker", "decode", "memory")
OUTER = (
    "cli",
    "demo",
    "execution",
    "evaluation",
    "verification",
    "parser",
    "datasets",
    "training",
    "synthesis",
    "session",
)


def _modules_after(statement: str) -> set[str]:
    program = f"import sys\n{statement}\nprint('\\n'.join(name.partition('.')[0] for name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    return set(done.stdout.split())


def test_importing_fastsql_imports_nothing_heavy() -> None:
    assert _modules_after("import fastsql").isdisjoint(HEAVY)


def test_what_runs_sql_is_a_name_of_the_package_and_imports_nothing_heavy() -> None:
    loaded = _modules_after("import fastsql; fastsql.open_executor, fastsql.Rows, fastsql.Answer")
    assert loaded.isdisjoint(HEAVY)


def test_asking_which_backends_there_are_imports_nothing_heavy() -> None:
    loaded = _modules_after(
        "import fastsql.backends; fastsql.backends.components(); fastsql.backends.resolve_device('auto')"
    )
    assert loaded.isdisjoint(HEAVY)


# What a question that stands alone, over a schema without values, does without.
OF_OTHERS = (
    "adapt",
    "answer",
    "cli",
    "datasets",
    "demo",
    "endpoint",
    "evaluation",
    "execution",
    "explanation.retrace",
    "grammar.convert",
    "grammar.render.typed",
    "linking.dictionary",
    "memory.example",
    "parser.audit",
    "parser.by_language",
    "parser.inspect",
    "parser.recall",
    "parser.refuse",
    "parser.turns",
    "reliability.inspection",
    "reranker",
    "reverse",
    "session",
    "synthesis",
    "training",
    "view",
)
MOST_MODULES = {"cpu": 154, "python": 163}
"""By the device: the reference in NumPy is made of more files than its interface to the native core."""


@pytest.mark.parametrize("device", MOST_MODULES)
def test_a_single_question_imports_what_it_needs_and_no_more(device: str) -> None:
    if device == "cpu" and backends.native() is None:
        pytest.skip("the native module is not built; pip install . builds it where a C++20 compiler is")
    program = f"""
import sys, fastsql
parser = fastsql.load(device={device!r}, encoder={"native" if device == "cpu" else "numpy"!r})
result = parser.parse("How many patients were prescribed warfarin?", sys.stdin.read(), penalty=0)
assert result.sql, result.reason
print(*(name for name in sys.modules if name.partition(".")[0] == "fastsql"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], input=HOSPITAL_DDL, capture_output=True, text=True, check=True
    )
    loaded = {name.removeprefix("fastsql.") for name in done.stdout.split()}
    assert [name for name in OF_OTHERS if any(f"{one}.".startswith(f"{name}.") for one in loaded)] == []
    assert len(loaded) <= MOST_MODULES[device]


def test_threads_may_need_a_room_for_the_first_time_at_once() -> None:
    program = """
import sys, threading, fastsql
schema = sys.stdin.read()
parser = fastsql.load()
asked = "How many patients were prescribed warfarin?"
uses = (
    lambda: parser.parse(asked, schema, penalty=0).sql,
    lambda: parser.parse(asked, schema, penalty=0, history=()).sql,
    lambda: parser.parse(asked, schema, penalty=1e9).suggestions,
    lambda: parser.parse("Which ward has the best food?", schema).reason,
    lambda: len(parser.parse(asked, schema, penalty=0).explain().reasons),
    lambda: parser.remember("How many patients are there?", "SELECT COUNT(*) FROM patients", schema),
    lambda: parser.parse("How many cats sleep?", "CREATE TABLE cats (name TEXT, sleeps INT)", penalty=0).sql,
)
together, found = threading.Barrier(2 * len(uses)), {}
def use(number):
    together.wait()
    found[number] = uses[number % len(uses)]()
threads = [threading.Thread(target=use, args=(number,)) for number in range(2 * len(uses))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert [found[number] for number in range(2 * len(uses))] == [use() for use in uses] * 2
"""
    subprocess.run(
        [sys.executable, "-c", program], input=HOSPITAL_DDL, capture_output=True, text=True, check=True
    )


def _imports(path: Path, *, types: bool = True) -> Iterator[tuple[str, int]]:
    """Absolute names of everything a file imports, inside functions too, with the line; `types`: for types alone, too."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    if not types:
        tree.body = [node for node in tree.body if not (isinstance(node, ast.If) and _is_for_types(node))]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno


def _is_for_types(condition: ast.If) -> bool:
    return isinstance(condition.test, ast.Name) and condition.test.id == "TYPE_CHECKING"


def test_inner_layers_never_import_outer_ones() -> None:
    forbidden = tuple(f"fastsql.{name}" for name in OUTER)
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line}: {name}"
        for folder in INNER
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        for name, line in _imports(path)
        if any(name == outer or name.startswith(f"{outer}.") for outer in forbidden)
    ]
    assert wrong == []


def test_of_the_inner_layers_only_the_schema_hands_out_profiles() -> None:
    importing = {
        path.relative_to(PACKAGE).as_posix()
        for folder in INNER
        for path in (PACKAGE / folder).rglob("*.py")
        for name, _ in _imports(path)
        if name.startswith("fastsql.profile")
    }
    assert importing == {"schema/schema.py"}


def test_no_files_import_each_other_in_a_circle() -> None:
    """Inside functions too; what only types are imported for does not count.

    A file imports the packages above what it imports, too, and where a package hands out a name of one of its files, that
    file as well, though it may do so only when asked.
    """
    modules = {_module_of(path): path for path in PACKAGE.rglob("*.py")}
    handed_out = {
        (package, imported.rpartition(".")[2]): imported.rpartition(".")[0]
        for package, path in modules.items()
        if path.name == "__init__.py"
        for imported, _ in _imports(path)
    }
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        graph[name] = set()
        for imported, _ in _imports(path, types=False):
            package, _, last = imported.rpartition(".")
            file = imported if imported in modules else handed_out.get((package, last), package)
            if file in modules:
                graph[name] |= {package, *_with_packages(file)} & modules.keys()
        graph[name] -= set(_with_packages(name))
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def _with_packages(module: str) -> list[str]:
    """A module and the packages that it is in."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _module_of(path: Path) -> str:
    return ".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )


def test_only_training_imports_torch() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] != "training"
        for name, line in _imports(path)
        if name.partition(".")[0] == "torch"
    ]
    assert wrong == []


def test_every_folder_of_code_is_a_package() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def test_type_information_and_the_grammar_come_with_the_package() -> None:
    assert (PACKAGE / "py.typed").is_file()
    assert (PACKAGE / "_core.pyi").is_file()
    assert (PACKAGE / "grammar" / "actions.grammar").is_file()


@pytest.fixture(scope="module")
def distribution() -> importlib.metadata.Distribution:
    try:
        return importlib.metadata.distribution("fastsql")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("fastsql runs from a source tree; pip install . to run this")


def test_the_version_is_that_of_the_distribution(distribution: importlib.metadata.Distribution) -> None:
    assert fastsql.__version__ == distribution.version


def test_the_command_leads_to_the_command_line(distribution: importlib.metadata.Distribution) -> None:
    commands = {
        entry.name: entry.value for entry in distribution.entry_points if entry.group == "console_scripts"
    }
    assert commands == {"fastsql": "fastsql.cli.main:main"}
    assert importlib.util.find_spec("fastsql.cli.main") is not None


def test_both_licences_are_in_the_distribution(distribution: importlib.metadata.Distribution) -> None:
    files = {path.name for path in distribution.files or ()}
    assert {"LICENSE", "LICENSE-WEIGHTS.md"} <= files


def test_base_dependencies_are_the_four_promised(distribution: importlib.metadata.Distribution) -> None:
    base = {
        requirement.split(">")[0].split("<")[0].strip()
        for requirement in distribution.requires or ()
        if "extra ==" not in requirement
    }
    assert base == {"numpy", "sqlglot", "tokenizers", "safetensors"}


def test_the_report_names_every_base_dependency_with_its_version() -> None:
    report = backends.report()
    base = [component for component in report.components if not component.extra]
    assert [component.name for component in base] == ["numpy", "sqlglot", "tokenizers", "safetensors"]
    assert all(component.installed for component in base)


@pytest.mark.parametrize("runtime", ["onnxruntime", "numpy"])
def test_the_report_says_what_auto_means_and_what_it_runs_on(
    monkeypatch: pytest.MonkeyPatch, runtime: str
) -> None:
    monkeypatch.setattr(backends, "encoder_runtime", lambda: runtime)
    monkeypatch.delenv("FASTSQL_NATIVE", raising=False)
    provider = {"onnxruntime": "CPUExecutionProvider", "numpy": ""}[runtime]

    there = backends.NativeStatus(True, "in use", instruction_sets=("baseline", "avx2"))
    monkeypatch.setattr(backends, "native_status", lambda: there)
    monkeypatch.setattr(backends, "cuda_status", lambda: backends.CudaStatus((), "no GPU"))
    report = backends.report()
    assert (report.device, report.encoder, report.instruction_set) == ("cpu", "native", "avx2")
    assert report.provider == provider
    assert not any("native" in problem for problem in report.problems)

    monkeypatch.setattr(backends, "native_status", lambda: backends.NativeStatus(False, "not built"))
    report = backends.report()
    assert (report.device, report.encoder, report.instruction_set) == ("python", runtime, "")
    assert report.provider == provider
    assert "The native module is not built" in report.problems
    assert any("ONNX Runtime" in problem for problem in report.problems) == (runtime == "numpy")

    monkeypatch.setenv("FASTSQL_NATIVE", "require")
    assert backends.report().device == "none"


def test_both_onnx_runtimes_at_once_are_a_problem_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_version", lambda name: "1.0")
    assert any(
        "pip uninstall onnxruntime onnxruntime-gpu" in problem for problem in backends.report().problems
    )


@pytest.mark.parametrize(
    ("device", "with_module", "without"),
    [("auto", "cpu", "python"), ("cpu", "cpu", None), ("python", "python", "python")],
)
def test_auto_is_the_native_core_where_it_is_there(
    device: str, with_module: str, without: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "native", lambda: sys)
    assert backends.resolve_device(device) == with_module
    monkeypatch.setattr(backends, "native", lambda: None)
    if without is not None:
        assert backends.resolve_device(device) == without
        return
    with pytest.raises(ModelError, match=r"device 'cpu': it needs the native module, .*'auto' or 'python'"):
        backends.resolve_device(device)


def test_switched_off_the_native_core_is_not_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTSQL_NATIVE", "off")
    assert backends.resolve_device("auto") == "python"
    with pytest.raises(ModelError, match="switched off by FASTSQL_NATIVE=off"):
        backends.resolve_device("cpu")


@pytest.mark.parametrize("device", ["tpu", ""])
def test_an_unknown_device_is_refused_with_the_choices(device: str) -> None:
    with pytest.raises(ModelError, match=f"unknown device '{device}'.*'auto', 'cpu', 'cuda', 'python'"):
        backends.resolve_device(device)
