from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.training.config import ConfigError
from fastsql.training.corpus.split import (
    HeldOut,
    Pair,
    Split,
    draw_held_out,
    letters_only,
    remove_reported,
    split_dev,
)


def pairs() -> list[Pair]:
    return [Pair(f"{i}", f"question {chr(97 + i // 26)}{chr(97 + i % 26)}", "", "ward") for i in range(200)]


TEMPLATE_OF = {("ward", f"{i}"): f"template {i % 40}" for i in range(200)}


def carve(templates: float, examples: float, seed: int) -> Split:
    return split_dev(pairs(), TEMPLATE_OF, draw_held_out(pairs(), TEMPLATE_OF, templates, examples, seed))


def test_held_out_templates_are_held_out_whole() -> None:
    split = carve(0.1, 0.05, seed=1)
    held = {TEMPLATE_OF[pair.key] for pair in split.dev_templates}
    assert len(held) == 4
    assert not held & {TEMPLATE_OF[pair.key] for pair in (*split.train, *split.dev_examples)}
    assert {TEMPLATE_OF[pair.key] for pair in split.dev_examples} <= {
        TEMPLATE_OF[pair.key] for pair in split.train
    }
    assert len(split.dev_examples) == 9


def test_the_seed_alone_decides_the_split() -> None:
    one, other = (carve(0.1, 0.05, seed=1) for _ in range(2))
    assert one == other
    assert one != carve(0.1, 0.05, seed=2)


def test_no_dev_question_is_a_train_question_with_another_number() -> None:
    twins = [Pair(f"{i}", f"How old is patient {i}?", "", "ward") for i in range(50)]
    template_of = {pair.key: "one" for pair in twins}
    split = split_dev(twins, template_of, draw_held_out(twins, template_of, 0.0, 0.1, seed=1))
    assert split.train == ()


def test_questions_that_are_reported_on_are_left_out() -> None:
    kept = remove_reported([Pair("1", "Is it 5?", "", "w"), Pair("2", "Was it 5?", "", "w")], ["is it: 7"])
    assert [pair.id for pair in kept] == ["2"]


def test_letters_only_keeps_every_script() -> None:
    assert letters_only("患者 12 的 Age?") == "患者的age"


def test_another_source_with_a_held_out_template_is_not_trained_on() -> None:
    """The held-out template stays unseen, whichever data set shows it."""
    twin = Pair("made", "something else", "", "ward")
    held_out = HeldOut(templates=frozenset({("ward", "3")}))
    split = split_dev([*pairs(), twin], {**TEMPLATE_OF, twin.key: TEMPLATE_OF["ward", "3"]}, held_out)
    assert [pair.id for pair in split.dev_templates] == ["3"]
    assert not {"made", "43", "83"} & {pair.id for pair in split.train}


def test_a_pair_held_out_by_itself_is_of_an_unseen_template_where_no_other_has_its_own() -> None:
    held_out = HeldOut(examples=frozenset({("ward", "alone"), ("ward", "3")}))
    alone = Pair("alone", "nobody else asks this", "", "ward")
    split = split_dev([*pairs(), alone], {**TEMPLATE_OF, alone.key: "its own"}, held_out)
    assert [pair.id for pair in split.dev_templates] == ["alone"]
    assert [pair.id for pair in split.dev_examples] == ["3"]
    assert {"43", "83"} <= {pair.id for pair in split.train}, "nothing leaves train for its template"


def test_what_was_held_out_comes_back_from_its_file(tmp_path: Path) -> None:
    held_out = HeldOut.of(carve(0.1, 0.05, seed=1)) | HeldOut(examples=frozenset({("病房", "甲")}))
    held_out.save(tmp_path / "held_out.json")
    assert HeldOut.load(tmp_path / "held_out.json") == held_out


@pytest.mark.parametrize("text", ["", "[]", '{"templates": []}', '{"templates": [1], "examples": []}'])
def test_a_file_of_another_form_is_no_list_of_held_out_examples(tmp_path: Path, text: str) -> None:
    (tmp_path / "held_out.json").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"held_out\.json: is not a list of held-out examples"):
        HeldOut.load(tmp_path / "held_out.json")


def test_databases_are_held_out_whole_and_their_questions_elsewhere_too() -> None:
    wards = [Pair(f"{i}", f"question {chr(97 + i)}", "", f"ward {i % 5}") for i in range(20)]
    wards.append(Pair("twin", "Question A?", "", "another set's ward"))
    template_of = {pair.key: f"template {pair.id}" for pair in wards}
    held_out = draw_held_out(wards[:20], template_of, 0.1, 0.1, seed=3, databases=0.4)
    assert len(held_out.databases) == 2
    split = split_dev(wards, template_of, held_out)
    parts = (split.train, split.dev_templates, split.dev_examples, split.dev_databases)
    assert {pair.db_id for pair in split.dev_databases} == held_out.databases
    assert len(split.dev_databases) == 8
    assert not held_out.databases & {pair.db_id for part in parts[:3] for pair in part}
    held_letters = {letters_only(pair.question) for pair in split.dev_databases}
    assert not held_letters & {letters_only(pair.question) for pair in split.train}
    assert HeldOut.of(split).databases == held_out.databases


def test_what_is_held_out_can_be_written_and_read(tmp_path: Path) -> None:
    held_out = HeldOut(frozenset({("a", "1")}), frozenset({("b", "2")}), frozenset({"c"}))
    held_out.save(tmp_path / "held_out.json")
    assert HeldOut.load(tmp_path / "held_out.json") == held_out
    (tmp_path / "older.json").write_text('{"templates": [["a", "1"]], "examples": []}')
    assert HeldOut.load(tmp_path / "older.json").databases == frozenset()
