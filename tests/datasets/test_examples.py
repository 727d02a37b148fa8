"""Examples are read from the uniform JSON form, and a file that does not have it is refused with its place and a remedy."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from fastsql.datasets import DatasetError, read_examples, read_split_ids

ITEMS: list[dict[str, Any]] = [
    {
        "id": "a",
        "db_id": "h",
        "question": "How many?",
        "sql": "SELECT 1",
        "answer": "[['1']]",
        "template": "t",
    },
    {"id": "b", "db_id": "h", "question": "Who?", "sql": None, "level": "hard"},
    {"id": "c", "db_id": "h", "question": "几个?", "sql": "select 1 == 1", "sql_sqlite": "SELECT 1 = 1"},
    {"id": "d", "db_id": "h", "question": "哪些?", "sql": "select * ...", "sql_sqlite": None},
]


def write(path: Path, content: object) -> Path:
    text = json.dumps(content, ensure_ascii=False)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["data.json", "data.json.gz"])
def test_plain_and_gzipped_files_give_the_same_examples(tmp_path: Path, name: str) -> None:
    examples = read_examples(write(tmp_path / name, ITEMS))
    assert [example.id for example in examples] == ["a", "b", "c", "d"]
    assert examples[0].answer == "[['1']]"
    assert examples[0].template == "t"
    assert examples[1].extra == {"level": "hard"}


def test_a_null_query_asks_for_a_refusal(tmp_path: Path) -> None:
    examples = read_examples(write(tmp_path / "data.json", ITEMS))
    assert [example.answerable for example in examples] == [True, False, True, True]


def test_the_sqlite_form_is_preferred_and_its_absence_remembered(tmp_path: Path) -> None:
    *_, converted, stuck = read_examples(write(tmp_path / "data.json", ITEMS))
    assert (converted.sql, converted.runs) == ("SELECT 1 = 1", True)
    assert (stuck.sql, stuck.runs) == ("select * ...", False)


def test_ids_choose_examples_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "data.json", ITEMS)
    assert [example.id for example in read_examples(path, ids=["d", "a", "b"])] == ["a", "b", "d"]


def test_an_unknown_id_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"1 of 2 ids asked for are not in it, such as 'x'"):
        read_examples(write(tmp_path / "data.json", ITEMS), ids=["a", "x"])


def test_examples_can_be_sent_to_another_process(tmp_path: Path) -> None:
    examples = read_examples(write(tmp_path / "data.json", ITEMS))
    assert pickle.loads(pickle.dumps(examples)) == examples


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"id": "a"}, "does not hold a list of examples"),
        ([3], "item 0: is not an object"),
        ([{"id": 1, "db_id": "h", "question": "q", "sql": None}], "item 0: has no text under 'id'"),
        ([{"id": "a", "db_id": "h", "question": "q"}], "has neither text nor null under 'sql'"),
        ([{"id": "a", "db_id": "h", "question": "q", "sql": 3}], "has neither text nor null under 'sql'"),
    ],
)
def test_what_is_not_the_uniform_form_is_named(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        read_examples(write(tmp_path / "data.json", content))


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        ("data.json", b"[{", "is not JSON"),
        ("data.json", b"\xff\xfe", "is not JSON"),
        ("data.json.gz", b"not gzip", "cannot be read"),
        ("data.json.gz", gzip.compress(b"[]" * 5000, mtime=0)[:-9], "cannot be read"),
    ],
)
def test_damaged_files_are_errors_that_show_none_of_their_content(
    tmp_path: Path, name: str, raw: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(raw)
    with pytest.raises(DatasetError, match=message):
        read_examples(path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no such file"):
        read_examples(tmp_path / "none.json")


def test_ids_come_from_a_list_a_text_file_or_a_list_inside_an_object(tmp_path: Path) -> None:
    nested = write(tmp_path / "splits.json", {"template": {"dev": ["a", "b"]}, "sizes": 3})
    plain = write(tmp_path / "ids.json", ["a", "b"])
    text = tmp_path / "ids.txt"
    text.write_text("a\n\n b \n")
    assert (
        read_split_ids(f"{nested}:template.dev")
        == read_split_ids(plain)
        == read_split_ids(text)
        == ("a", "b")
    )


def test_a_split_may_list_pairs_and_databases(tmp_path: Path) -> None:
    data = write(
        tmp_path / "data.json",
        [
            {"id": number, "db_id": db_id, "question": "how many", "sql": None}
            for db_id, number in (("icu", "1"), ("icu", "2"), ("er", "1"), ("er", "3"))
        ],
    )
    held_out = write(
        tmp_path / "held_out.json",
        {"templates": [["icu", "1"], ["elsewhere", "7"]], "databases": ["er"], "examples": [["icu", "9"]]},
    )

    def chosen(name: str) -> list[tuple[str, str]]:
        found = read_examples(data, ids=read_split_ids(f"{held_out}:{name}"))
        return [(example.db_id, example.id) for example in found]

    assert chosen("templates") == [("icu", "1")]
    assert chosen("databases") == [("er", "1"), ("er", "3")]
    with pytest.raises(DatasetError, match="1 of 1 ids"):
        chosen("examples")
    assert [item.id for item in read_examples(data, ids=[("icu", "9"), ("icu", "2")])] == ["2"]
    with pytest.raises(DatasetError, match="1 of 1 ids"):
        read_examples(data, ids=[("elsewhere", "7")])


def test_an_object_of_lists_says_which_lists_it_has(tmp_path: Path) -> None:
    nested = write(tmp_path / "splits.json", {"template": {"dev": ["a"], "train": ["b"]}})
    with pytest.raises(DatasetError, match=r"splits\.json:template\.dev, splits\.json:template\.train"):
        read_split_ids(nested)
    with pytest.raises(DatasetError, match=r"under 'template\.test'"):
        read_split_ids(f"{nested}:template.test")


def test_every_public_data_set_can_be_read(fastsql_data: Path) -> None:
    files = [fastsql_data / "css/examples.json.gz", *fastsql_data.glob("*/dev.json")]
    for path in files:
        if path.exists():
            assert read_examples(path)[:3]


def test_the_id_of_a_conversation_stands_for_its_turns(tmp_path: Path) -> None:
    turns = [
        {
            "id": f"{talk}/{turn}",
            "db_id": "icu",
            "question": "how many",
            "sql": None,
            "interaction": talk,
            "turn": turn,
        }
        for talk in ("talk-1", "talk-2")
        for turn in range(2)
    ]
    data = write(tmp_path / "turns.json", turns)
    assert [one.id for one in read_examples(data, ids=[("icu", "talk-2")])] == ["talk-2/0", "talk-2/1"]
    with pytest.raises(DatasetError, match="1 of 1 ids"):
        read_examples(data, ids=[("er", "talk-2")])
