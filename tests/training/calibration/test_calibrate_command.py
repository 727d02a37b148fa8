"""The command line of calibration."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

from fastsql.cli.main import main
from fastsql.training.calibration import calibrate as module
from fastsql.training.calibration import figures as figures_module
from fastsql.training.calibration.fit import UNANSWERED
from fastsql.training.calibration.observe import Observation, open_databases
from fastsql.training.config import TrainConfig

from .observed import observations


def observe_behind(look: Callable[[TrainConfig], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets all that is observed be made up, behind a `look` at the configuration that it is to be observed by."""

    def observed(_bundle: Any, config: TrainConfig, *_args: Any, **_options: Any) -> tuple[Observation, ...]:
        look(config)
        return tuple(observations())

    monkeypatch.setattr(module, "observe", observed)


def test_the_command_reads_schemas_with_the_profiles_that_the_configuration_names(
    bundle: Path,
    config_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What is observed is asked over these, too; one of no use is told with its line and key before anything is observed."""
    asked: list[str] = []

    def read(config: TrainConfig) -> None:
        with ExitStack() as stack:
            schemas, _ = open_databases(config.data.sources, stack)
        asked.extend(table.label for table in schemas["ward"].tables)

    observe_behind(read, monkeypatch)
    profile = tmp_path / "profile.toml"
    with config_file.open("a", encoding="utf-8") as out:
        out.write(f'profile = "{profile}"\n')
    command = ["calibrate", str(bundle), "--config", str(config_file)]
    assert main(command) == 2
    assert "there is no such file" in capsys.readouterr().err
    profile.write_text('format = 1\n[table.items]\nlabels = "things"\n', encoding="utf-8")
    assert main(command) == 2
    assert f"{profile}, line 3, table.items.labels: there is no such key" in capsys.readouterr().err
    assert not asked
    profile.write_text('format = 1\n[table.items]\nlabel = "things"\n', encoding="utf-8")
    assert main(command) == 0
    assert asked == ["admissions", "prescriptions", "things"]


def test_the_command_line_splits_by_the_bundles_seed(
    bundle: Path,
    config_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    seeds: list[int] = []
    observe_behind(lambda config: seeds.append(config.seed), monkeypatch)
    assert main(["calibrate", str(bundle), "--config", str(config_file)]) == 0
    assert main(["calibrate", str(bundle), "--config", str(config_file), "--seed", "5"]) == 0
    assert seeds == [7, 5]
    assert "cross-fitted" in capsys.readouterr().out


def test_a_dry_run_leaves_the_bundle_alone_and_observations_are_used_again(
    bundle: Path,
    config_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs: list[int] = []
    monkeypatch.setattr(module, "observe", lambda *_a, **_o: (runs.append(1), tuple(observations()))[1])
    monkeypatch.setattr(figures_module, "STEPS", {"beam": ("sequence",), "all": ("sequence",)})
    before = (bundle / "config.json").read_bytes()
    file = tmp_path / "observed.json.gz"
    common = [
        "calibrate",
        str(bundle),
        "--config",
        str(config_file),
        "--dry-run",
        "--observations",
        str(file),
    ]
    assert main([*common, "--table"]) == 0
    assert main([*common, "--features", ",".join(UNANSWERED[:2])]) == 0
    assert (bundle / "config.json").read_bytes() == before
    assert len(runs) == 1
    assert "| all, answers inspected |" in capsys.readouterr().out
    assert main([*common, "--features", "mood"]) == 2
    assert "no feature 'mood'" in capsys.readouterr().err


def test_the_command_line_names_what_is_wrong(
    tmp_path: Path, bundle: Path, config_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", str(tmp_path / "none"), "--config", str(config_file)]) == 2
    assert "no such model bundle" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["calibrate", str(bundle), "--config", str(config_file), "--limit", "0"])
    assert "--limit: 0 is not a whole number of at least 1" in capsys.readouterr().err
