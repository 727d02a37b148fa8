"""A wider model begins as the narrower one, and every number that it has more of learns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.linking.relations import SchemaLinks  # noqa: E402
from fastsql.model.config import ModelConfig  # noqa: E402
from fastsql.model.schema_inputs import SchemaInputs  # noqa: E402
from fastsql.training.batches.batch import Batch, collate  # noqa: E402
from fastsql.training.batches.conversations import conversation  # noqa: E402
from fastsql.training.bundles.export import export_bundle  # noqa: E402
from fastsql.training.bundles.start import starting_weights  # noqa: E402
from fastsql.training.bundles.widen import widened  # noqa: E402
from fastsql.training.network.model import Model  # noqa: E402
from fastsql.training.objectives.decisions import decision_loss  # noqa: E402
from fastsql.training.runs.run import grammar_names  # noqa: E402

from ...worlds import toy_bundle  # noqa: E402
from ...worlds.grammar_hospitals import HOSPITAL  # noqa: E402
from ...worlds.toy_model import WORDPIECE  # noqa: E402
from ...worlds.ward_conversations import CONVERSATIONS  # noqa: E402

LINKS = SchemaLinks(HOSPITAL)
INPUTS = SchemaInputs.build(LINKS, WORDPIECE)
NARROW = replace(
    toy_bundle.make_config().with_turns(), d=32, heads=2, ffn=48, dropout=0.0, encoder_dropout=0.0
)
WIDE = replace(NARROW, d=48, heads=3, ffn=80)


def batch(config: ModelConfig, *, later: bool) -> Batch:
    """First questions of conversations, or those that refer to them."""
    said = [list(conversation(turns, LINKS, WORDPIECE)) for turns in CONVERSATIONS]
    chosen = [turn for turns in said for turn in (turns[1:] if later else turns[:1])]
    return collate(chosen, INPUTS, config, (WORDPIECE.cls, WORDPIECE.sep))


@pytest.fixture(scope="module")
def narrow() -> Model:
    """A model none of whose weights is as it was drawn: norms have weights and biases of their own."""
    torch.manual_seed(5)
    model = Model(NARROW).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    return model


def grown(narrow: Model, config: ModelConfig = WIDE) -> Model:
    model = Model(config).eval()
    model.load_state_dict(widened(narrow.state_dict(), model.state_dict()))
    return model


def test_questions_are_decided_as_before(narrow: Model) -> None:
    asked = batch(NARROW, later=False)
    with torch.no_grad():
        expected, found = (decision_loss(model, asked) for model in (narrow, grown(narrow)))
    torch.testing.assert_close(found.gold, expected.gold, rtol=1e-3, atol=1e-3)
    assert torch.equal(found.best, expected.best)


def test_turns_are_decided_nearly_as_before(narrow: Model) -> None:
    with torch.no_grad():
        expected, found = (
            decision_loss(model, batch(model.config, later=True)).loss for model in (narrow, grown(narrow))
        )
    drawn = decision_loss(Model(WIDE).eval(), batch(WIDE, later=True)).loss
    assert abs(found - expected) < 0.05 * abs(drawn - expected)


def test_everything_that_is_new_learns(narrow: Model) -> None:
    """A step away from the start, no part of any weight is without a gradient."""
    model = grown(narrow)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(3):
        optimizer.zero_grad()
        (decision_loss(model, batch(WIDE, later=True)).loss).backward()
        optimizer.step()
    still = []
    for name, was in narrow.state_dict().items():
        gradient = model.get_parameter(name).grad
        if gradient is None or not gradient.any():
            assert name.startswith(("encoder.position", "decoder.pointer_key")), (
                f"{name} is not asked for here"
            )
            continue
        for axis, size in enumerate(was.shape):
            if (
                size < gradient.shape[axis]
                and not gradient.narrow(axis, size, gradient.shape[axis] - size).any()
            ):
                still.append((name, axis))
    assert still == []


def test_what_is_drawn_is_the_same_every_time(narrow: Model) -> None:
    torch.manual_seed(1)
    first = grown(narrow).state_dict()
    torch.manual_seed(2)
    expected = torch.rand(1)
    torch.manual_seed(2)
    second = grown(narrow).state_dict()
    for name, weight in first.items():
        assert torch.equal(weight, second[name]), name
    Model(WIDE)
    torch.manual_seed(2)
    widened(narrow.state_dict(), first)
    assert torch.equal(torch.rand(1), expected), "the run draws what it would have drawn"


@pytest.mark.parametrize(
    ("sizes", "can"),
    [
        ({"d": 32, "heads": 2, "ffn": 48}, True),
        ({"d": 48, "heads": 3, "ffn": 48}, True),
        ({"d": 32, "heads": 2, "ffn": 64}, True),
        ({"d": 48, "heads": 2, "ffn": 48}, False),  # heads of another size
        ({"d": 32, "heads": 4, "ffn": 48}, False),
        ({"d": 16, "heads": 1, "ffn": 48}, False),
        ({"d": 48, "heads": 3, "ffn": 32}, False),
    ],
)
def test_only_more_of_the_same_can_begin_as_a_model(sizes: dict[str, int], can: bool) -> None:
    assert NARROW.grows_to(**sizes) is can


def test_a_bundle_is_renumbered_widened_and_deepened_at_once(narrow: Model, tmp_path: Path) -> None:
    folder = export_bundle(
        narrow, WORDPIECE, tmp_path / "narrow", name="narrow", exact=narrow.state_dict(), **grammar_names()
    )
    config = replace(WIDE, joint_layers=NARROW.joint_layers + 1)
    model = Model(config).eval()
    model.load_state_dict(starting_weights(folder, config, model.state_dict()))
    asked = batch(NARROW, later=False)
    with torch.no_grad():
        expected, found = (decision_loss(one, asked).gold for one in (narrow, model))
    torch.testing.assert_close(found, expected, rtol=1e-2, atol=2e-2)
