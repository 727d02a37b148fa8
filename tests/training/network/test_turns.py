"""The network learns to point at earlier turns, and what it learned is what an exported bundle does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fastsql.engine.reference import ReferenceEngine
from fastsql.errors import ModelError
from fastsql.grammar import ActionSpace, read_path, read_turn
from fastsql.grammar.actions import STEP, TURN
from fastsql.grammar.program import masked
from fastsql.linking.relations import SchemaLinks
from fastsql.linking.turns import EarlierTurn
from fastsql.model import load_bundle, open_bundle
from fastsql.model.schema_inputs import SchemaInputs

from ...worlds import toy_bundle
from ...worlds.grammar_hospitals import HOSPITAL
from ...worlds.toy_model import WORDPIECE
from ...worlds.ward_conversations import CONVERSATIONS

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.training.batches.batch import Batch, Instance, collate, instance_layout  # noqa: E402
from fastsql.training.batches.conversations import conversation  # noqa: E402
from fastsql.training.bundles.export import export_bundle  # noqa: E402
from fastsql.training.bundles.mixing import mixed_weights  # noqa: E402
from fastsql.training.bundles.renumber import renumber, renumbered  # noqa: E402
from fastsql.training.bundles.weights import bundle_weights  # noqa: E402
from fastsql.training.corpus.programs import dump_program  # noqa: E402
from fastsql.training.network.model import Model  # noqa: E402
from fastsql.training.objectives.decisions import decision_loss  # noqa: E402
from fastsql.training.objectives.dev import right_programs  # noqa: E402
from fastsql.training.runs.run import grammar_names  # noqa: E402

LINKS = SchemaLinks(HOSPITAL)
INPUTS = SchemaInputs.build(LINKS, WORDPIECE)
CONFIG = replace(toy_bundle.make_config().with_turns(), d=32, ffn=64, dropout=0.0, encoder_dropout=0.0)
MOST_STEPS = 120


def examples() -> list[Instance]:
    return [instance for said in CONVERSATIONS for instance in conversation(said, LINKS, WORDPIECE)]


def batch_of(instances: list[Instance]) -> Batch:
    return collate(instances, INPUTS, CONFIG, (WORDPIECE.cls, WORDPIECE.sep))


def pointed_at(instance: Instance) -> set[str]:
    """What of earlier turns the gold decisions of an example point at."""
    layout = instance_layout(instance, INPUTS, CONFIG)
    located = [layout.locate(int(action)) for action in instance.trace.actions]
    first_entry = layout.sizes[STEP] - instance.entries
    return {"turn" for kind, _ in located if kind == TURN} | {
        "entry" for kind, place in located if kind == STEP and place >= first_entry
    }


@pytest.fixture(scope="module")
def trained() -> Model:
    """A model that has seen the conversations until it decides all of them as gold does."""
    torch.manual_seed(0)
    model = Model(CONFIG).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    batch = batch_of(examples())
    for _ in range(MOST_STEPS):
        output = decision_loss(model, batch)
        if right_programs(batch, output).all() and float(output.loss.detach()) < 0.02:
            break
        optimizer.zero_grad()
        output.loss.backward()
        optimizer.step()
    return model.eval()


def test_pointers_at_turns_and_at_what_they_offer_are_learned(trained: Model) -> None:
    instances = examples()
    assert set().union(*map(pointed_at, instances)) == {"turn", "entry"}
    batch = batch_of(instances)
    with torch.no_grad():
        right = right_programs(batch, decision_loss(trained, batch))
    assert right.mean() >= 0.9


def test_every_weight_of_turns_is_trained() -> None:
    model = Model(CONFIG)
    decision_loss(model, batch_of(examples())).loss.backward()
    unmoved = [
        name
        for name, weight in model.named_parameters()
        if "turn." in name and (weight.grad is None or not weight.grad.abs().sum() > 0)
    ]
    assert unmoved == []


def test_an_exported_model_answers_whole_conversations_from_its_own_turns(
    trained: Model, tmp_path: Path
) -> None:
    """Questions are pooled as they are asked, and queries of before are those that it wrote."""
    folder = export_bundle(trained, WORDPIECE, tmp_path / "trained", name="trained", **grammar_names())
    engine = ReferenceEngine(load_bundle(folder, encoder="numpy"))
    schema = engine.encode_schema(HOSPITAL)
    right = []
    for said in CONVERSATIONS:
        turns: tuple[EarlierTurn, ...] = ()
        for question, gold in said:
            prepared = engine.link(question, schema, None, turns)
            space = ActionSpace.for_question(
                HOSPITAL,
                prepared.text,
                prepared.offsets,
                prepared.candidates,
                turns=[turn.turn for turn in turns],
            )
            decoded = engine.decode(prepared, schema, space, 1)
            program = read_path(decoded.search.finished[0].path, space)
            right.append(dump_program(masked(program)) == dump_program(masked(gold)))
            turns = (*turns, EarlierTurn(read_turn(program, space), decoded.pooled))
    assert sum(right) >= 0.9 * len(right)


def test_examples_may_have_turns_or_none_in_one_batch(trained: Model) -> None:
    """Padding changes no example: alone or among others, its gold decisions are as likely."""
    instances = examples()
    with torch.no_grad():
        together = decision_loss(trained, batch_of(instances)).gold
        for index, instance in enumerate(instances):
            alone = decision_loss(trained, batch_of([instance])).gold[0]
            torch.testing.assert_close(together[index, : len(alone)], alone, rtol=1e-3, atol=1e-4)


def test_a_model_without_weights_for_turns_takes_no_such_example() -> None:
    plain = replace(CONFIG, turns=False)
    with pytest.raises(ValueError, match="no weights for earlier turns"):
        collate(examples(), INPUTS, plain, (WORDPIECE.cls, WORDPIECE.sep))


def test_training_starts_from_a_bundle_of_before_turns(tmp_path: Path) -> None:
    before = Model(toy_bundle.make_config())
    folder = export_bundle(before, WORDPIECE, tmp_path / "before", name="before", **grammar_names())
    model = Model(toy_bundle.make_config().with_turns())
    own = model.state_dict()
    found = renumbered(folder, own)
    model.load_state_dict({**own, **found})
    stored = bundle_weights(folder)
    for name, weight in model.state_dict().items():
        if name not in stored:
            assert "turn." in name
        elif ".relation_" in name:
            torch.testing.assert_close(weight[: len(stored[name])], stored[name])
            torch.testing.assert_close(weight[len(stored[name]) :], own[name][len(stored[name]) :])
        else:
            torch.testing.assert_close(weight, stored[name])


def test_renumbering_passes_weights_of_turns_on(trained: Model, tmp_path: Path) -> None:
    folder = export_bundle(trained, WORDPIECE, tmp_path / "one", name="one", **grammar_names())
    again = renumber(folder, tmp_path / "two")
    assert open_bundle(again).config.model.turns
    one, two = bundle_weights(folder), bundle_weights(again)
    assert one.keys() == two.keys()
    for name, weight in one.items():
        torch.testing.assert_close(two[name], weight)


def test_a_bundle_from_before_turns_were_called_by_numbers_is_carried_over_and_mixed_with(
    tmp_path: Path,
) -> None:
    sizes = replace(toy_bundle.make_config().with_turns(), named_turns=False)
    folder = export_bundle(Model(sizes), WORDPIECE, tmp_path / "before", name="before", **grammar_names())
    called = "turn.usable.weight"
    known = bundle_weights(folder)[called]
    model = Model(toy_bundle.make_config().with_turns())
    model.load_state_dict(renumbered(folder, model.state_dict()))
    assert model.state_dict()[called].tolist() == [*known.tolist(), known[-1].tolist()]
    with torch.no_grad():
        assert model.turn is not None
        model.turn.usable.weight[2] += 4.0
    state = {
        "ema": model.state_dict(),
        "model_config": model.config.to_dict(),
        "grammar": {"productions": grammar_names()["productions"], "symbols": grammar_names()["symbols"]},
        "tokenizer": WORDPIECE.json_text,
    }
    mixed = mixed_weights(state, open_bundle(folder), 0.25)[called]
    torch.testing.assert_close(mixed[2], known[1] + 1.0)
    torch.testing.assert_close(mixed[:2], known)
    state["model_config"] = sizes.to_dict()
    newer = export_bundle(model, WORDPIECE, tmp_path / "newer", name="newer", **grammar_names())
    with pytest.raises(ModelError, match="other sizes"):
        mixed_weights(state, open_bundle(newer), 0.25)
