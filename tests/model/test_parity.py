"""The reference, the torch model and ONNX Runtime compute the same function of the same weights."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from fastsql.grammar.actions import NO_ACTION, STEP, TURN
from fastsql.linking.prepare import prepare
from fastsql.linking.relations import SchemaLinks
from fastsql.model import load_bundle
from fastsql.model.bundle import WEIGHTS, write_manifest
from fastsql.model.config import GRAPHS, RAT
from fastsql.model.schema_inputs import SchemaInputs
from fastsql.model.weights import WORD, weight_shapes

from ..worlds.toy_conversation import earlier_turns
from ..worlds.toy_model import (
    CONFIG_OF,
    QUESTIONS,
    SCHEMA,
    WORDPIECE,
    link,
    make_config,
    random_trace,
    random_weights,
    write_bundle,
)

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")
pytest.importorskip("onnx", reason="pip install '.[train]' runs this")

from fastsql.training.batches.batch import Instance, collate, instance_layout  # noqa: E402
from fastsql.training.bundles.agreement import compare, teacher_forced  # noqa: E402
from fastsql.training.bundles.export import MOST_OF_A_WORD, export_bundle, load_trained  # noqa: E402
from fastsql.training.bundles.onnx_graph import encoder_graph  # noqa: E402
from fastsql.training.bundles.weights import bundle_weights  # noqa: E402
from fastsql.training.network.model import Model  # noqa: E402
from fastsql.training.objectives.decisions import decision_loss  # noqa: E402

INPUTS = SchemaInputs.build(SchemaLinks(SCHEMA), WORDPIECE)
SPECIAL = (WORDPIECE.cls, WORDPIECE.sep)


def make_model(sizes: tuple[int, int] = (2, 1), graph: str = RAT) -> Model:
    config = make_config(*sizes, graph)
    model = Model(config)
    weights = {name: torch.from_numpy(weight) for name, weight in random_weights(config).items()}
    model.load_state_dict(weights)
    return model.eval()


def make_instances(decisions: int = 9) -> list[Instance]:
    config = make_config()
    prepared = [link(text) for text in QUESTIONS]
    return [
        Instance(question, random_trace(question, INPUTS, config, decisions + index, seed=index))
        for index, question in enumerate(prepared)
    ]


def export(model: Model, folder: Path) -> Path:
    config = model.config
    names = [str(index) for index in range(config.n_productions)]
    return export_bundle(
        model, WORDPIECE, folder, name="toy", productions=names, symbols=names[: config.n_symbols]
    )


@pytest.mark.parametrize("graph", GRAPHS)
def test_the_torch_model_has_the_weights_of_a_bundle(graph: str) -> None:
    found = {name: tuple(weight.shape) for name, weight in make_model(graph=graph).state_dict().items()}
    assert found == weight_shapes(make_config(graph=graph))


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("sizes", CONFIG_OF.values(), ids=CONFIG_OF.keys())
def test_reference_and_torch_give_the_same_log_probabilities(
    tmp_path: Path, sizes: tuple[int, int], graph: str
) -> None:
    folder = export(make_model(sizes, graph), tmp_path / "toy")
    reference = load_bundle(folder, encoder="numpy")
    agreement = compare(load_trained(folder), reference, reference.encode_schema(SCHEMA), make_instances())
    assert agreement.worst < 1e-4
    assert agreement.same == agreement.examples
    assert agreement.decisions == agreement.of_decisions


def test_reference_and_torch_agree_beyond_the_first_allocation_of_the_decoder(tmp_path: Path) -> None:
    folder = export(make_model(), tmp_path / "toy")
    reference = load_bundle(folder, encoder="numpy")
    instances = make_instances(decisions=45)[:1]
    assert compare(load_trained(folder), reference, reference.encode_schema(SCHEMA), instances).worst < 1e-4


@pytest.mark.parametrize("graph", GRAPHS)
def test_padding_changes_nothing(tmp_path: Path, graph: str) -> None:
    """Each example of a batch scores as the reference scores it alone."""
    folder = export(make_model((1, 2), graph), tmp_path / "toy")
    reference = load_bundle(folder, encoder="numpy")
    schema = reference.encode_schema(SCHEMA)
    instances = make_instances()
    batch = collate(instances, INPUTS, make_config(), SPECIAL)
    with torch.no_grad():
        output = decision_loss(load_trained(folder), batch)
    for index, instance in enumerate(instances):
        scores = np.where(instance.trace.legal, teacher_forced(reference, schema, instance), -np.inf)
        log_sum = np.log(np.exp(scores - scores.max(1, keepdims=True)).sum(1)) + scores.max(1)
        gold = scores[np.arange(len(scores)), instance.trace.actions] - log_sum
        np.testing.assert_allclose(output.gold[index, : len(gold)].numpy(), gold, atol=1e-4)


def test_onnx_runtime_encodes_as_the_reference_does(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="pip install '.[cpu]' runs this")
    folder = export(make_model(), tmp_path / "toy")
    onnx, reference = (load_bundle(folder, encoder=encoder).encoder for encoder in ("onnx", "numpy"))
    rng = np.random.default_rng(1)
    for shape in ((1, 2), (3, 7), (1, 80)):
        ids = rng.integers(0, WORDPIECE.vocabulary, shape).astype(np.int32)
        np.testing.assert_allclose(onnx.encode(ids), reference.encode(ids), rtol=1e-4, atol=1e-4)


def test_the_onnx_graph_reads_matrices_that_are_stored_as_floats_too(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="pip install '.[cpu]' runs this")
    config = make_config()
    folder = write_bundle(tmp_path / "toy", config)
    (folder / "encoder.onnx").write_bytes(encoder_graph(folder / WEIGHTS, config.encoder))
    write_manifest(folder)
    onnx, reference = (load_bundle(folder, encoder=encoder).encoder for encoder in ("onnx", "numpy"))
    ids = np.array([[2, 5, 6, 3]], dtype=np.int32)
    np.testing.assert_allclose(onnx.encode(ids), reference.encode(ids), rtol=1e-4, atol=1e-4)


def test_exported_weights_come_back_within_the_rounding_of_int8(tmp_path: Path) -> None:
    model = make_model()
    weights = bundle_weights(export(model, tmp_path / "toy"))
    for name, weight in model.state_dict().items():
        most = MOST_OF_A_WORD if name == WORD else 127
        bound = weight.abs().max() / most / 2 + 1e-6
        assert (weights[name] - weight).abs().max() <= bound, name


def test_a_step_pointer_stands_for_what_was_decided_there() -> None:
    instance = make_instances()[0]
    step = make_config().max_steps
    layout_start = instance.trace.legal.shape[1] - step
    actions = instance.trace.actions.copy()
    actions[0], actions[1], actions[2] = 3, layout_start, layout_start + 1  # a production, it, it once more
    batch = collate(
        [Instance(instance.prepared, dataclasses.replace(instance.trace, actions=actions))],
        INPUTS,
        make_config(),
        SPECIAL,
    )
    assert batch.previous_production[0, 1:4].tolist() == [3, 3, 3]
    assert batch.previous_kind[0, 1:4].tolist() == [0, STEP, STEP]


def test_training_learns_decisions_by_heart() -> None:
    torch.manual_seed(0)
    model = Model(make_config()).train()
    batch = collate(make_instances(), INPUTS, make_config(), SPECIAL)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    losses = []
    for _ in range(60):
        output = decision_loss(model, batch)
        output.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(output.loss.detach()))
    assert losses[-1] < losses[0] / 2
    assert output.best.shape == batch.actions.shape


def test_bf16_training_gives_finite_gradients_to_every_weight() -> None:
    model = make_model().train()
    batch = collate(make_instances(), INPUTS, make_config(), SPECIAL)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = decision_loss(model, batch, label_smoothing=0.1)
    output.loss.backward()
    missing = [name for name, weight in model.named_parameters() if weight.grad is None]
    assert not missing
    assert all(torch.isfinite(weight.grad).all() for weight in model.parameters())


def test_the_first_decision_follows_no_action() -> None:
    batch = collate(make_instances(), INPUTS, make_config(), SPECIAL)
    assert (batch.previous_production[:, 0] == make_config().n_productions + 1).all()
    assert NO_ACTION == -1


@pytest.mark.parametrize("sizes", CONFIG_OF.values(), ids=CONFIG_OF.keys())
def test_reference_and_torch_read_earlier_turns_alike(tmp_path: Path, sizes: tuple[int, int]) -> None:
    """Random decisions, some of them pointers at turns and at what these offer; some questions have fewer turns, or none."""
    config = make_config(*sizes).with_turns()
    model = Model(config)
    model.load_state_dict({name: torch.from_numpy(one) for name, one in random_weights(config).items()})
    folder = export(model.eval(), tmp_path / "toy")
    turns = earlier_turns(config.d)
    prepared = [
        prepare(text, SchemaLinks(SCHEMA), WORDPIECE, turns=turns[:count])
        for text, count in zip(QUESTIONS, (3, 1, 0, 2), strict=True)
    ]
    instances = [
        Instance(question, random_trace(question, INPUTS, config, 50 + index, seed=index))
        for index, question in enumerate(prepared)
    ]
    kinds = {
        instance_layout(one, INPUTS, config).locate(int(a))[0] for one in instances for a in one.trace.actions
    }
    assert {STEP, TURN} <= kinds
    reference = load_bundle(folder, encoder="numpy")
    agreement = compare(load_trained(folder), reference, reference.encode_schema(SCHEMA), instances)
    assert agreement.worst < 1e-4
    assert agreement.same == agreement.examples
