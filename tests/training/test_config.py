from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.training.config import (
    ConfigError,
    TrainConfig,
    config_from_dict,
    expand_path,
    load_config,
    override,
)

ROOT = Path(__file__).parents[2]
LEAST = '[[data.sources]]\nexamples = "a.json"\nschemas = "s.json"\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_configuration_loads() -> None:
    config = load_config(ROOT / "configs" / "ehr-en.toml")
    assert config.name == "ehr-en"
    assert config.data.sources[0].report


def test_a_configuration_survives_being_plain_data(config: TrainConfig) -> None:
    assert config_from_dict(config.to_dict()) == config


def test_whole_numbers_serve_as_fractions(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, 'name = "x"\n' + LEAST + "[schedule]\nepochs = 3\n"))
    assert isinstance(config.schedule.epochs, float)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "is not TOML"),
        (LEAST, "setting 'name' is missing"),
        ('name = "x"\n[data]\nsources = []\n', "data.sources is empty"),
        ('name = "x"\nseeds = 3\n' + LEAST, "unknown setting 'seeds'"),
        ('name = "x"\nseed = "3"\n' + LEAST, "seed: must be int"),
        ('name = "x"\nseed = true\n' + LEAST, "seed: must be int"),
        ('name = "x"\noptim = 3\n' + LEAST, "optim: must be a table"),
        ('name = "x"\n[data]\nsources = 3\n', "sources: must be a list"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(write(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no\.toml: cannot be read"):
        load_config(tmp_path / "no.toml")


def test_paths_take_environment_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARD", "/somewhere")
    assert expand_path("${WARD}/train.json") == Path("/somewhere/train.json")
    monkeypatch.delenv("WARD")
    with pytest.raises(ConfigError, match="WARD is not set"):
        expand_path("${WARD}/train.json")


def test_settings_are_changed_from_the_command_line(config: TrainConfig) -> None:
    changed = override(config, ["model.joint_layers=0", "schedule.epochs=3", 'name="other"'])
    assert (changed.model.joint_layers, changed.schedule.epochs, changed.name) == (0, 3.0, "other")
    assert changed.data == config.data
    assert override(config, []) == config


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("model.joint_layers", "is not an assignment"),
        ("model.joint_layers=", "is not an assignment"),
        ("name=other", "is not an assignment"),
        ("model.layers=3", "there is no setting 'model.layers'"),
        ("model.d.x=3", "there is no setting"),
        ("nothing.d=3", "there is no setting"),
        ("model.d=2.5", "d: must be int"),
        ('data.sources="x"', "sources: must be a list"),
    ],
)
def test_an_assignment_that_fits_nothing_is_named(config: TrainConfig, assignment: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as error:
        override(config, [assignment])
    assert assignment in str(error.value)


def test_held_out_examples_are_looked_for_beside_the_configuration(tmp_path: Path) -> None:
    config = load_config(
        write(tmp_path, 'name = "x"\n[data]\nheld_out = "dev.json"\n' + LEAST.replace("[[data", "[[data"))
    )
    assert config.data.held_out == str(tmp_path / "dev.json")
