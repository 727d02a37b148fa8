"""A wheel runs on glibc 2.28 and later, and asks of the system for nothing else than what every Linux has."""

from __future__ import annotations

import io
import os
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

DISTRIBUTIONS = os.environ.get("FASTSQL_DISTRIBUTIONS")
NEWEST = (2, 28)
LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libgcc_s.so.1"}
LOADERS = ("ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1")


@pytest.fixture(scope="module")
def wheel() -> Path:
    if DISTRIBUTIONS is None:
        pytest.skip("set FASTSQL_DISTRIBUTIONS to a folder that scripts/build_wheel.sh filled to run this")
    (found,) = Path(DISTRIBUTIONS).glob("fastsql-*.whl")
    return found


@pytest.fixture(scope="module")
def module(wheel: Path) -> Any:
    """The native module, as ELF."""
    elffile = pytest.importorskip(
        "elftools.elf.elffile", reason="pip install -r requirements/release.in runs this"
    )
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if re.search(r"/_core.*\.so$", name)]
        return elffile.ELFFile(io.BytesIO(archive.read(name)))


def test_the_tag_of_a_wheel_says_from_which_glibc_on_it_runs(wheel: Path) -> None:
    assert re.search(rf"[-.]manylinux_{NEWEST[0]}_{NEWEST[1]}_\w+\.whl$", wheel.name)


def test_a_wheel_asks_for_no_newer_glibc_than_its_tag_says(module: Any) -> None:
    asked = {
        (library.name, version.name)
        for library, versions in module.get_section_by_name(".gnu.version_r").iter_versions()
        for version in versions
    }
    of_glibc = {version.removeprefix("GLIBC_") for _, version in asked if version.startswith("GLIBC_")}
    assert of_glibc
    assert max(tuple(map(int, version.split("."))) for version in of_glibc) <= NEWEST
    assert not any(version.startswith(("GLIBCXX", "CXXABI")) for _, version in asked)


def test_a_wheel_needs_libraries_of_the_system_only(module: Any) -> None:
    dynamic = module.get_section_by_name(".dynamic")
    needed = {tag.needed for tag in dynamic.iter_tags("DT_NEEDED")}
    assert needed <= LIBRARIES | set(LOADERS)
    assert "libpthread.so.0" in needed  # before glibc 2.34, threads lie there
    assert not list(dynamic.iter_tags("DT_RPATH"))
    assert not list(dynamic.iter_tags("DT_RUNPATH"))


def test_symbols_that_a_wheel_does_not_define_are_pythons_or_of_a_known_version(module: Any) -> None:
    """A function that an old glibc lacks would have no version where it is linked, and be missing where it is loaded."""
    versions = module.get_section_by_name(".gnu.version")
    symbols = list(module.get_section_by_name(".dynsym").iter_symbols())
    unknown = [
        symbol.name
        for number, symbol in enumerate(symbols)
        if symbol.entry["st_shndx"] == "SHN_UNDEF"
        and symbol.name
        and symbol.entry["st_info"]["bind"] != "STB_WEAK"
        and not symbol.name.startswith(("Py", "_Py"))
        and versions.get_symbol(number)["ndx"] in ("VER_NDX_LOCAL", "VER_NDX_GLOBAL")
    ]
    assert unknown == []


def test_the_module_in_a_wheel_shows_nothing_but_its_entry(module: Any) -> None:
    """Its libstdc++ is never mixed with another's."""
    shown = [
        symbol.name
        for symbol in module.get_section_by_name(".dynsym").iter_symbols()
        if symbol.entry["st_shndx"] != "SHN_UNDEF" and symbol.entry["st_info"]["bind"] == "STB_GLOBAL"
    ]
    assert shown == ["PyInit__core"]
