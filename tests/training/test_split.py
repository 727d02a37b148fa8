from __future__ import annotations

from fastsql.training.split import Pair, letters_only, remove_reported, split_dev


def pairs() -> list[Pair]:
    return [Pair(f"{i}", f"question {chr(97 + i // 26)}{chr(97 + i % 26)}", "", "ward") for i in range(200)]


TEMPLATE_OF = {f"{i}": f"template {i % 40}" for i in range(200)}


def test_held_out_templates_are_held_out_whole() -> None:
    split = split_dev(pairs(), TEMPLATE_OF, 0.1, 0.05, seed=1)
    held = {TEMPLATE_OF[pair.id] for pair in split.dev_templates}
    assert len(held) == 4
    assert not held & {TEMPLATE_OF[pair.id] for pair in (*split.train, *split.dev_examples)}
    assert {TEMPLATE_OF[pair.id] for pair in split.dev_examples} <= {
        TEMPLATE_OF[pair.id] for pair in split.train
    }
    assert len(split.dev_examples) == 9


def test_the_seed_alone_decides() -> None:
    one, other = (split_dev(pairs(), TEMPLATE_OF, 0.1, 0.05, seed=1) for _ in range(2))
    assert one == other
    assert one != split_dev(pairs(), TEMPLATE_OF, 0.1, 0.05, seed=2)


def test_no_dev_question_is_a_train_question_with_another_number() -> None:
    twins = [Pair(f"{i}", f"How old is patient {i}?", "", "ward") for i in range(50)]
    split = split_dev(twins, {pair.id: "one" for pair in twins}, 0.0, 0.1, seed=1)
    assert split.train == ()


def test_questions_that_are_reported_on_are_left_out() -> None:
    kept = remove_reported([Pair("1", "Is it 5?", "", "w"), Pair("2", "Was it 5?", "", "w")], ["is it: 7"])
    assert [pair.id for pair in kept] == ["2"]


def test_letters_only_keeps_every_script() -> None:
    assert letters_only("患者 12 的 Age?") == "患者的age"
