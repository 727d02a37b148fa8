from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.training.config import ConfigError, TrainConfig, config_from_dict, expand_path, load_config

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
        ("name = ", "is no TOML"),
        (LEAST, "setting 'name' is missing"),
        ('name = "x"\n[data]\nsources = []\n', "data.sources is empty"),
        ('name = "x"\nseeds = 3\n' + LEAST, "unknown setting 'seeds'"),
        ('name = "x"\nseed = "3"\n' + LEAST, "seed: is no int"),
        ('name = "x"\nseed = true\n' + LEAST, "seed: is no int"),
        ('name = "x"\noptim = 3\n' + LEAST, "optim: is no table"),
        ('name = "x"\n[data]\nsources = 3\n', "sources: is no list"),
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
