"""The mapped file of a value dictionary: opened without reading it all, checked where it is read, and older files."""

from __future__ import annotations

import hashlib
import json
import pickle
from pathlib import Path

import pytest

from fastsql.errors import ModelError
from fastsql.linking import ValueDictionary, dictionary_file
from fastsql.linking.mapped_file import BLOCK

from ..worlds.valued_hospital import SCHEMA, VALUES

MANY = {("prescriptions", "drug"): [f"substance {number:05}" for number in range(4000)]}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "values.fsv"
    ValueDictionary.from_mapping({**VALUES, **MANY}, SCHEMA).save(path)
    return path


def matched(dictionary: ValueDictionary, question: str) -> list[str]:
    return [value for match in dictionary.match(question) for value, _ in match.values]


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_a_file_of_version_1_is_read(tmp_path: Path) -> None:
    body = json.dumps(
        {"columns": [["samples", "specimen"], ["prescriptions", "drug"]],
         "groups": [[[0], ["swab", "no\0text"]], [[1, 0], ["heparin"]]]}
    ).encode()  # fmt: skip
    header = {"format": "fastsql-values", "version": 1, "bytes": len(body)}
    header["sha256"] = hashlib.sha256(body).hexdigest()
    path = tmp_path / "old.fsv"
    path.write_bytes(json.dumps(header).encode() + b"\n" + body)
    dictionary = ValueDictionary.load(path, SCHEMA)
    assert len(dictionary) == 2
    specimen, drug = SCHEMA.column_index("samples", "specimen"), SCHEMA.column_index("prescriptions", "drug")
    assert dictionary.columns == (drug, specimen)
    assert [match.values for match in dictionary.match("swab with heparin")] == [
        (("swab", (specimen,)),),
        (("heparin", (drug, specimen)),),
    ]
    path.write_bytes(path.read_bytes()[:-1] + b"]")
    with pytest.raises(ModelError, match="checksum"):
        ValueDictionary.load(path, SCHEMA)


def test_the_arrays_begin_at_a_block(saved: Path) -> None:
    header, directory = saved.read_bytes().split(b"\n", 2)[:2]
    begin = len(header) + 1 + json.loads(header)["bytes"]
    sizes = json.loads(directory)
    first = -(-begin // BLOCK) * BLOCK + sum(sizes["sections"])
    assert saved.stat().st_size == -(-first // BLOCK) * BLOCK + sum(sizes["grams"])


def test_damage_in_a_large_file_is_noticed_where_it_is_read(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ValueDictionary.load(saved, SCHEMA)
    assert matched(whole, "substance 02000 and swab") == ["substance 02000", "swab"]
    place = saved.read_bytes().index(b"substance 02000")
    flip(saved, place)
    with pytest.raises(ModelError, match="damaged"):  # a small file is read whole
        ValueDictionary.load(saved, SCHEMA)
    monkeypatch.setattr(dictionary_file, "_CHECKED_AT_ONCE", 0)
    dictionary = ValueDictionary.load(saved, SCHEMA)
    assert matched(dictionary, "swab") == ["swab"]
    for _ in range(2):
        with pytest.raises(ModelError, match="damaged") as caught:
            dictionary.match("substance 02000")
        assert str(saved) in str(caught.value)
        assert "substance" not in str(caught.value)
    with pytest.raises(ModelError, match="damaged"):
        pickle.dumps(dictionary)


def test_a_file_that_is_written_into_is_not_read_further(saved: Path) -> None:
    dictionary = ValueDictionary.load(saved, SCHEMA)
    with saved.open("r+b") as stream:
        stream.truncate(BLOCK)
    for use in (lambda: dictionary.match("swab"), lambda: dictionary.canonical(0, "swab")):
        with pytest.raises(ModelError, match="while it was in use"):
            use()


def test_saving_over_the_file_in_use_does_not_disturb_its_readers(saved: Path) -> None:
    before = ValueDictionary.load(saved, SCHEMA)
    ValueDictionary.from_mapping({("samples", "specimen"): ["smear"]}, SCHEMA).save(saved)
    assert matched(before, "swab or smear") == ["swab"]
    before.save(saved)
    assert matched(ValueDictionary.load(saved, SCHEMA), "swab or smear") == ["swab"]
    saved.unlink()
    assert matched(before, "swab or smear") == ["swab"]


def test_an_opened_dictionary_goes_to_another_process(saved: Path) -> None:
    moved = pickle.loads(pickle.dumps(ValueDictionary.load(saved, SCHEMA)))
    assert matched(moved, "heparin on a swab") == ["heparin", "swab"]


def test_no_change_of_a_byte_goes_unnoticed(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ValueDictionary.from_mapping(VALUES, SCHEMA).save(saved)
    content = saved.read_bytes()
    padding = content.index(b"\0" * 64)
    directory = json.loads(content.split(b"\n", 2)[1])
    between = range(BLOCK + sum(directory["sections"]), len(content) - sum(directory["grams"]))
    assert not content[padding:BLOCK].strip(b"\0")
    assert not content[between.start : between.stop].strip(b"\0")
    for place in range(0, len(content), 7):
        changed = bytearray(content)
        changed[place] ^= 64
        saved.unlink()  # what is written over is first flushed to the disk
        saved.write_bytes(changed)
        if padding <= place < BLOCK or place in between:
            continue  # nothing is there
        with pytest.raises(ModelError):
            ValueDictionary.load(saved, SCHEMA)
