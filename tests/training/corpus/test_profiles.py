"""``profile`` of a source of a configuration: the schema is learnt from, and calibrated on, as people have described it."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.errors import SchemaError
from fastsql.training.calibration.observe import open_databases
from fastsql.training.config import ConfigError, SourceSettings, TrainConfig
from fastsql.training.corpus.corpus import load_corpus
from fastsql.training.corpus.sources import read_pairs
from fastsql.training.words.texts import read_texts

PROFILE = """\
format = 1
[table.prescriptions]
label = "medicines given"
[column.prescriptions.drug]
label = "药品"
synonyms = ["medication", "用药"]
"""


def quiet(_line: str) -> None:
    pass


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "profiles" / "ward.toml"
    path.parent.mkdir()
    path.write_text(PROFILE, encoding="utf-8")
    return path


@pytest.fixture
def source(config: TrainConfig, file: Path) -> SourceSettings:
    return replace(config.data.sources[0], profile=str(file))


def test_whatever_reads_a_source_s_schema_has_the_words_of_its_profile(
    config: TrainConfig, source: SourceSettings, file: Path, tmp_path: Path
) -> None:
    for named in (source, replace(source, profile=str(file.parent))):
        settings = replace(config.data, sources=(named,))
        corpus = load_corpus(settings, 7, tmp_path / "cache", quiet)
        with ExitStack() as stack:
            opened, _ = open_databases(settings.sources, stack)
        for schema in (corpus.domains["ward"].schema, opened["ward"]):
            column = schema.columns[schema.column_index("prescriptions", "drug")]
            assert (column.label, column.synonyms[:2]) == ("药品", ("medication", "用药"))
        assert {"药品", "medicines given"} <= set(read_texts(settings)[0])
    assert corpus.train  # its programs name columns of the profiled schema


def test_conversations_are_made_in_the_words_of_a_profile_and_anew_where_it_changes(
    source: SourceSettings, file: Path, tmp_path: Path
) -> None:
    made = replace(source, conversations="made")

    def asked() -> str:
        pairs, _ = read_pairs(made, 7, tmp_path / "cache", quiet)
        return "\n".join(pair.question for pair in pairs)

    assert "药品" in asked()
    file.write_text(PROFILE.replace("药品", "remedy"), encoding="utf-8")
    assert "remedy" in asked()
    assert len(list((tmp_path / "cache").iterdir())) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            PROFILE.replace("synonyms", "synonym"),
            r"ward\.toml, line 6, column\.prescriptions\.drug\.synonym: ",
        ),
        (
            "format = 1\n[table.films]\n",
            r"ward\.toml: it is the profile of another schema: none of its 1 tables",
        ),
    ],
)
def test_a_profile_of_no_use_is_named_with_line_and_key(
    config: TrainConfig, source: SourceSettings, file: Path, tmp_path: Path, text: str, message: str
) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SchemaError, match=message):
        load_corpus(replace(config.data, sources=(source,)), 7, tmp_path / "cache", quiet)


def test_a_profile_that_is_not_there_is_told_before_anything_is_read(
    config: TrainConfig, source: SourceSettings, tmp_path: Path
) -> None:
    missing = replace(source, profile=f"{tmp_path}/none.toml", examples=source.schemas)
    with pytest.raises(ConfigError, match=r"profile .*none\.toml.* there is no such file"):
        load_corpus(replace(config.data, sources=(missing,)), 7, tmp_path / "cache", quiet)


def test_one_file_is_not_for_several_schemas_whichever_are_asked_of(
    config: TrainConfig, source: SourceSettings, tmp_path: Path
) -> None:
    (schema,) = json.loads(Path(source.schemas).read_text(encoding="utf-8"))
    (tmp_path / "schemas.json").write_text(json.dumps([schema, {**schema, "db_id": "other"}]))
    several = replace(source, schemas=str(tmp_path / "schemas.json"))
    with pytest.raises(SchemaError, match="it is one profile, and there are 2 schemas"):
        load_corpus(replace(config.data, sources=(several,)), 7, tmp_path / "cache", quiet)


def test_sources_of_one_database_name_the_same_profile(
    config: TrainConfig, source: SourceSettings, tmp_path: Path
) -> None:
    examples = json.loads(Path(source.examples).read_text(encoding="utf-8"))
    more = tmp_path / "more.json"
    more.write_text(json.dumps([{**one, "id": f"more {one['id']}"} for one in examples]), encoding="utf-8")
    other = replace(source, examples=str(more))
    both = replace(config.data, sources=(source, other))
    assert load_corpus(both, 7, tmp_path / "cache", quiet).domains["ward"].profile == Path(source.profile)
    for sources in ((source, replace(other, profile="")), (replace(other, profile=""), source)):
        with pytest.raises(ConfigError, match="'ward' has another profile than in an earlier source"):
            load_corpus(replace(config.data, sources=sources), 7, tmp_path / "cache", quiet)
