"""What one model learnt between two of its versions, added to another that began from the first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.errors import ModelError  # noqa: E402
from fastsql.model import open_bundle  # noqa: E402
from fastsql.model.bundle import Bundle  # noqa: E402
from fastsql.model.weights import WORD  # noqa: E402
from fastsql.training.bundles.mixing import carried_over  # noqa: E402
from fastsql.training.bundles.weights import bundle_weights  # noqa: E402

from ...worlds.toy_bundle import make_config, write_bundle  # noqa: E402

SIZES = make_config()
OTHER_WORDS = replace(SIZES, encoder=replace(SIZES.encoder, vocabulary=SIZES.encoder.vocabulary + 5))
DEEPER = replace(SIZES, joint_layers=SIZES.joint_layers + 1)
ADDED = f"graph.{SIZES.cached_layers + SIZES.joint_layers}."


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return open_bundle(write_bundle(tmp_path_factory.mktemp("before"), seed=1, config=SIZES))


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return open_bundle(write_bundle(tmp_path_factory.mktemp("after"), seed=2, config=DEEPER))


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """What began from `before`, with words of its own."""
    return open_bundle(write_bundle(tmp_path_factory.mktemp("own"), seed=3, config=OTHER_WORDS))


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_share_of_the_difference_is_added(own: Bundle, before: Bundle, after: Bundle, share: float) -> None:
    found = carried_over(own, before, after, share).state_dict()
    mine, earlier, later = (bundle_weights(one.path) for one in (own, before, after))
    for name, weight in mine.items():
        if name == WORD:
            torch.testing.assert_close(found[name], weight)
        else:
            torch.testing.assert_close(found[name], weight + share * (later[name] - earlier[name]))


def test_a_layer_that_is_new_adds_as_much_as_the_share_says(
    own: Bundle, before: Bundle, after: Bundle
) -> None:
    later = bundle_weights(after.path)
    for share in (0.0, 0.25):
        found = carried_over(own, before, after, share)
        assert found.config.joint_layers == DEEPER.joint_layers
        for part in ("out.weight", "ffn_out.bias"):
            torch.testing.assert_close(found.state_dict()[ADDED + part], share * later[ADDED + part])


def test_who_began_from_another_one_becomes_the_later_one_with_all_of_it(
    before: Bundle, after: Bundle
) -> None:
    found, later = carried_over(before, before, after, 1.0).state_dict(), bundle_weights(after.path)
    for name in later.keys() - {WORD}:
        torch.testing.assert_close(found[name], later[name], msg=name)


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_a_share_is_between_none_and_all(own: Bundle, before: Bundle, after: Bundle, share: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        carried_over(own, before, after, share)


def test_models_of_other_sizes_are_named(own: Bundle, before: Bundle, tmp_path: Path) -> None:
    wider = open_bundle(write_bundle(tmp_path / "wider", config=replace(SIZES, ffn=SIZES.ffn + 8)))
    for pair in ((wider, before), (before, wider)):
        with pytest.raises(ModelError, match=r"wider: has other sizes.*began from"):
            carried_over(own, *pair, 0.5)
