"""Whatever stops a writer, the folder holds a whole bundle."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fastsql.errors import ModelError
from fastsql.model.bundle import CARD, open_bundle, write_manifest
from fastsql.training.bundles import replacing as module
from fastsql.training.bundles.replacing import copy_files, replacing

from ...worlds.toy_bundle import write_bundle

KILL_AT_EACH_STEP = """
import json, os, shutil, signal, sys
from pathlib import Path
from fastsql.errors import ModelError
from fastsql.model.bundle import CARD, open_bundle, write_manifest
from fastsql.training.bundles import replacing as module

sound, place = Path(sys.argv[1]), Path(sys.argv[2])
if sys.argv[3] == "two renames":
    module._exchange = lambda one, other: False

def write():
    with module.replacing(place) as new:
        module.copy_files(place, new)
        (new / CARD).write_text("new")
        write_manifest(new)

def killed(step):
    child = os.fork()
    if not child:
        steps = iter(range(step))
        def count(event, _):
            room = event.partition(".")[0]
            if event != "os.kill" and room in ("open", "os", "shutil", "ctypes") and next(steps, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count)
        write()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or status == 0, status
    return os.WIFSIGNALED(status)

def found(folder):
    open_bundle(folder)
    return (folder / CARD).read_text().strip("# ").strip()

outcomes, step, going_on = [], 0, True
while going_on:
    shutil.copytree(sound, place)
    (place / "notes.txt").write_text("mine")
    going_on = killed(step)
    beside = [path for path in place.parent.iterdir() if path.name.startswith(f".{place.name}.writing-")]
    if place.is_dir():
        outcomes.append(found(place))
    else:
        (workshop,) = beside
        outcomes.append("aside: " + found(workshop / "before"))
    workshops = [workshop / name for workshop in beside for name in ("new", "before")]
    assert any((folder / "notes.txt").is_file() for folder in (place, *workshops))
    for path in (*beside, place):
        shutil.rmtree(path, ignore_errors=True)
    step += 1
print(json.dumps(outcomes))
"""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy bundle, only to be read."""
    return write_bundle(tmp_path_factory.mktemp("sound") / "toy")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write_bundle(tmp_path / "toy")


def rewrite(bundle: Path, card: str = "new") -> None:
    with replacing(bundle) as new:
        copy_files(bundle, new)
        (new / CARD).write_text(card, encoding="utf-8")
        write_manifest(new)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.skipif(not hasattr(module.os, "fork"), reason="a system with fork runs this")
@pytest.mark.parametrize("way", ["one exchange", "two renames"])
def test_a_writer_killed_at_any_step_leaves_a_whole_bundle(sound: Path, tmp_path: Path, way: str) -> None:
    found = subprocess.run(
        [sys.executable, "-c", KILL_AT_EACH_STEP, str(sound), str(tmp_path / "toy"), way],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    outcomes = json.loads(found.stdout)
    assert len(outcomes) > 20
    assert outcomes[0] == "toy"
    assert outcomes[-1] == "new"
    # Once the new bundle is there, it stays there.
    order = ["toy", "aside: toy", "new"] if way == "two renames" else ["toy", "new"]
    assert list(dict.fromkeys(outcomes)) == order
    assert [order.index(outcome) for outcome in outcomes] == sorted(map(order.index, outcomes))


def test_the_new_bundle_takes_the_old_ones_place_and_nothing_lies_beside_it(bundle: Path) -> None:
    bundle.chmod(0o750)
    rewrite(bundle)
    open_bundle(bundle)
    assert (bundle / CARD).read_text(encoding="utf-8") == "new"
    assert bundle.stat().st_mode & 0o777 == 0o750
    assert [path.name for path in bundle.parent.iterdir()] == ["toy"]


def test_a_folder_that_is_not_there_is_made(sound: Path, tmp_path: Path) -> None:
    with replacing(tmp_path / "a" / "b") as new:
        copy_files(sound, new)
        write_manifest(new)
    assert content(tmp_path / "a" / "b") == content(sound)
    other = tmp_path / "other"
    other.mkdir()
    assert (tmp_path / "a" / "b").stat().st_mode == other.stat().st_mode, (
        "not private as temporary folders are"
    )


@pytest.mark.parametrize("exchanges", [True, False])
def test_files_and_folders_that_are_not_the_bundle_s_stay(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, *, exchanges: bool
) -> None:
    if not exchanges:
        monkeypatch.setattr(module, "_exchange", lambda *_: False)
    (bundle / "notes.txt").write_text("mine", encoding="utf-8")
    (bundle / ".git").mkdir()
    (bundle / ".git" / "HEAD").write_text("main", encoding="utf-8")
    rewrite(bundle)
    assert (bundle / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert (bundle / ".git" / "HEAD").read_text(encoding="utf-8") == "main"
    assert [path.name for path in bundle.parent.iterdir()] == ["toy"]


def test_of_a_link_what_it_leads_to_is_replaced(bundle: Path, tmp_path: Path) -> None:
    link = tmp_path / "current"
    link.symlink_to(bundle.name)
    rewrite(link)
    assert link.is_symlink()
    assert (bundle / CARD).read_text(encoding="utf-8") == "new"


def test_an_error_while_writing_leaves_everything_as_it_was(bundle: Path) -> None:
    before = content(bundle)
    with pytest.raises(OSError, match="No space left"), replacing(bundle):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(KeyboardInterrupt), replacing(bundle):
        raise KeyboardInterrupt
    assert content(bundle) == before
    assert [path.name for path in bundle.parent.iterdir()] == ["toy"]


def test_what_is_no_sound_bundle_takes_nobodys_place(bundle: Path) -> None:
    before = content(bundle)
    with pytest.raises(ModelError, match=r"manifest\.json"), replacing(bundle) as new:
        copy_files(bundle, new)
    assert content(bundle) == before


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EXDEV])
def test_a_folder_that_cannot_be_moved_is_left_alone(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def mounted(*_: object) -> bool:
        raise OSError(number, "it is a mount point")

    monkeypatch.setattr(module, "_exchange", mounted)
    before = content(bundle)
    with pytest.raises(ModelError, match="cannot be replaced as a whole") as caught:
        rewrite(bundle)
    assert "Nothing was changed" in caught.value.remedy
    assert content(bundle) == before
    assert [path.name for path in bundle.parent.iterdir()] == ["toy"]


def test_a_parent_that_may_not_be_written_is_an_error_before_anything(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> str:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    with pytest.raises(ModelError, match="Permission denied"):
        rewrite(bundle)


def test_a_file_is_no_folder_for_a_bundle(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(ModelError, match="not a folder"), replacing(tmp_path / "file"):
        pass
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"
