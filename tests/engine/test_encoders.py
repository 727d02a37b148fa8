"""Any encoder of the interface reads the texts, on every device; whatever is none is refused when it is loaded."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastsql
from fastsql import ModelError, Parser, backends
from fastsql.datasets import read_examples, read_schemas
from fastsql.model.bundle import ENCODER, open_bundle
from fastsql.model.onnx_encoder import DeviceEncoder, OnnxEncoder

from ..worlds.own_encoder import give_encoder, give_own_encoder
from ..worlds.toy_bundle import QUESTIONS, load_toy, outcome, runs_onnx, write_bundle
from ..worlds.toy_model import SCHEMA


@pytest.fixture(scope="module", autouse=True)
def packages() -> None:
    """What writes and runs a graph."""
    pytest.importorskip("onnxruntime", reason="pip install '.[cpu]' runs this")
    pytest.importorskip("onnx", reason="pip install '.[train]' runs this")


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return write_bundle(tmp_path / "toy")


@pytest.fixture
def native() -> None:
    if backends.native() is None:
        pytest.skip("the native module is missing; reinstall where a C++20 compiler is, to run this")


def answers(parser: Parser, digits: int = 4) -> list[dict[str, Any]]:
    return [outcome(parser.parse(question, SCHEMA), digits) for question in QUESTIONS]


# ---------------------------------------------------------------- the bundle's own encoder in ONNX Runtime


@pytest.mark.usefixtures("native")
def test_onnx_runtime_and_the_native_encoder_decide_alike_on_real_questions(ehrsql2024: Path) -> None:
    schema = next(iter(read_schemas(ehrsql2024 / "schemas.json").values()))
    questions = [example.question for example in read_examples(ehrsql2024 / "valid.json")][::29]
    assert len(questions) >= 40
    own, other = (fastsql.load("ehr-en", device="cpu", encoder=name) for name in ("native", "onnxruntime"))
    assert (own.engine.encoder, other.engine.encoder) == ("native", "onnxruntime")
    for question in questions:
        one, two = (parser.parse(question, schema) for parser in (own, other))
        assert (one.best, one.sql, one.abstained) == (two.best, two.sql, two.abstained)
        assert one.confidence == pytest.approx(two.confidence, abs=1e-3)


@pytest.mark.usefixtures("native")
def test_onnx_runtime_and_the_native_encoder_give_the_same_states(ehrsql2024: Path) -> None:
    bundle = open_bundle(Path(fastsql.__file__).parent / "models" / "ehr-en")
    tokenizer, hidden = bundle.tokenizer(), bundle.config.model.encoder.hidden
    weights = bundle.weights().stored()
    core: Any = backends.native()
    engine = core.Engine(bundle.config.model.to_dict(), weights, tokenizer.cls, tokenizer.sep, 1)
    encoder = OnnxEncoder(bundle.path / ENCODER, 1, hidden)
    questions = [example.question for example in read_examples(ehrsql2024 / "valid.json")][::29]
    for ids in tokenizer.encode_texts(questions):
        text = np.array([ids], np.int32)
        np.testing.assert_allclose(encoder.encode(text), engine.encode_texts(text), rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("native")
def test_a_parser_keeps_its_encoder_when_it_is_sent_elsewhere(toy: Path) -> None:
    parser = load_toy(toy, device="cpu", encoder="onnxruntime")
    sent = pickle.loads(pickle.dumps(parser))
    assert sent.engine.encoder == "onnxruntime"
    assert answers(sent) == answers(parser)


def test_auto_is_the_encoder_of_the_device(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert runs_onnx(toy)
    assert fastsql.load(toy, device="python").engine.encoder == "onnxruntime"
    monkeypatch.setattr("fastsql.engine.encoders.encoder_runtime", lambda: "numpy")
    assert fastsql.load(toy, device="python").engine.encoder == "numpy"
    if backends.native() is not None:
        assert fastsql.load(toy, device="cpu").engine.encoder == "native"


# ---------------------------------------------------------------- somebody's own


@pytest.mark.usefixtures("native")
def test_an_encoder_of_other_insides_gives_the_same_answers_on_every_device(toy: Path) -> None:
    before = answers(load_toy(toy, device="cpu"))
    give_own_encoder(toy)
    reference, cpu = load_toy(toy, encoder="auto"), load_toy(toy, device="cpu")
    assert (reference.engine.encoder, cpu.engine.encoder) == ("onnxruntime", "onnxruntime")
    assert answers(cpu) == answers(reference)
    assert answers(cpu) != before


@pytest.mark.usefixtures("native")
def test_beside_the_native_encoders_weights_another_is_used_where_it_is_asked_for(toy: Path) -> None:
    before = answers(load_toy(toy, device="cpu"))
    give_own_encoder(toy, keep_native=True)
    assert answers(load_toy(toy, device="cpu")) == before
    assert answers(load_toy(toy, device="cpu", encoder="onnxruntime")) != before


def test_an_encoder_may_hold_as_many_weights_as_a_model(toy: Path) -> None:
    """Its weights lie inside it, as nothing but the files of a bundle is checked."""
    give_own_encoder(toy)
    size = (toy / ENCODER).stat().st_size
    graph = (toy / ENCODER).read_bytes() + _unknown_field(17 * 2**20)
    give_encoder(toy, graph)
    assert (toy / ENCODER).stat().st_size > size + 16 * 2**20
    assert load_toy(toy, encoder="onnxruntime").engine.encoder == "onnxruntime"


def _unknown_field(size: int) -> bytes:
    """A field of a message that readers skip: number 99, so many bytes."""
    length, left = bytearray(), size
    while left > 127:
        length.append(left & 127 | 128)
        left >>= 7
    return bytes([0x9A, 0x06, *length, left]) + bytes(size)


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        (
            {"hidden": 25},
            r"encoder\.onnx: it gives no state for each token.*25.*float32\[texts, tokens, 24\]",
        ),
        ({"ids": 6}, r"encoder\.onnx: it takes 'tokens_of_texts' tensor\(int32\).*takes int64"),
        ({"free": [1, 16]}, r"encoder\.onnx: it takes .*\[1, 16\], where .* both axes free"),
        ({"extra": True}, r"encoder\.onnx: it takes .*'attention_mask'"),
        ({"states": 11}, r"encoder\.onnx: it gives no state for each token.*tensor\(double\)"),
    ],
    ids=["width", "whole numbers", "fixed axes", "a mask", "double"],
)
@pytest.mark.parametrize("device", ["python", "cpu"])
def test_a_graph_of_another_interface_is_named_with_what_it_has(
    toy: Path, device: str, changes: dict[str, Any], match: str
) -> None:
    if device == "cpu" and backends.native() is None:
        pytest.skip("the native module is missing; reinstall where a C++20 compiler is, to run this")
    give_own_encoder(toy, **changes)
    with pytest.raises(ModelError, match=match):
        load_toy(toy, device=device, encoder="onnxruntime")


def test_a_graph_whose_states_are_no_numbers_is_refused(toy: Path) -> None:
    encoder = open_bundle(toy).config.model.encoder
    from onnx import load_from_string, numpy_helper

    give_own_encoder(toy)
    model = load_from_string((toy / ENCODER).read_bytes())
    nothing = numpy_helper.from_array(
        np.full((encoder.vocabulary, encoder.hidden), np.nan, np.float32), "words"
    )
    model.graph.initializer[0].CopyFrom(nothing)
    give_encoder(toy, model.SerializeToString())
    with pytest.raises(ModelError, match=r"encoder\.onnx: its states are not finite"):
        load_toy(toy, encoder="onnxruntime")


@pytest.mark.usefixtures("native")
def test_without_onnx_runtime_an_encoder_that_needs_it_says_what_to_install(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_own_encoder(toy)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelError, match=r"ONNX Runtime is not installed.*pip install 'fastsql\[cpu\]'"):
        fastsql.load(toy, device="cpu")


def test_an_encoder_that_is_missing_is_named(toy: Path) -> None:
    (toy / ENCODER).unlink()
    with pytest.raises(ModelError, match=r"encoder\.onnx: the file is missing"):
        load_toy(toy, encoder="onnxruntime")


def test_a_damaged_encoder_is_named(toy: Path) -> None:
    give_encoder(toy, (toy / ENCODER).read_bytes()[:-40], keep_native=True)
    with pytest.raises(ModelError, match=r"encoder\.onnx: ONNX Runtime cannot load it"):
        load_toy(toy, encoder="onnxruntime")


@pytest.mark.parametrize(
    ("device", "encoder", "match"),
    [
        ("python", "native", "the device 'python' has no encoder 'native'.*'numpy' or 'onnxruntime'"),
        ("cpu", "numpy", "the device 'cpu' has no encoder 'numpy'.*'native' or 'onnxruntime'"),
        ("python", "torch", "unknown encoder 'torch'.*'auto', 'native', 'onnxruntime', 'numpy'"),
    ],
)
def test_an_encoder_that_a_device_does_not_have_is_refused_with_those_it_has(
    toy: Path, device: str, encoder: str, match: str
) -> None:
    if device == "cpu" and backends.native() is None:
        pytest.skip("the native module is missing; reinstall where a C++20 compiler is, to run this")
    with pytest.raises(ModelError, match=match):
        fastsql.load(toy, device=device, encoder=encoder)


def test_a_bundle_without_the_encoders_weights_says_what_reads_it(toy: Path) -> None:
    give_own_encoder(toy)
    with pytest.raises(
        ModelError, match=r"weights\.safetensors: it holds no encoder for 'numpy'.*onnxruntime"
    ):
        load_toy(toy, encoder="numpy")


def test_half_of_an_encoders_weights_are_none(toy: Path) -> None:
    from safetensors.numpy import load_file, save_file

    from fastsql.model.bundle import WEIGHTS, write_manifest

    weights = load_file(toy / WEIGHTS)
    del weights["encoder.norm.weight"]
    save_file(weights, toy / WEIGHTS)
    write_manifest(toy)
    with pytest.raises(ModelError, match=r"weight 'encoder\.norm\.weight' is missing"):
        load_toy(toy)


# ---------------------------------------------------------------- on a GPU


def test_without_the_cuda_provider_its_package_is_named(toy: Path) -> None:
    import onnxruntime

    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("uninstall onnxruntime-gpu, install onnxruntime, to run this")
    with pytest.raises(
        ModelError, match=r"no CUDAExecutionProvider.*onnxruntime-gpu in place of onnxruntime"
    ):
        DeviceEncoder(toy / ENCODER, 24)


@pytest.mark.filterwarnings("ignore:Specified provider")
def test_a_cuda_provider_that_onnx_runtime_cannot_load_is_not_replaced_by_the_processor(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import onnxruntime

    if "CUDAExecutionProvider" in onnxruntime.get_available_providers():
        pytest.skip("uninstall onnxruntime-gpu, install onnxruntime, to run this")
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider"])
    with pytest.raises(ModelError, match="could not load its CUDAExecutionProvider and took CPUExecution"):
        DeviceEncoder(toy / ENCODER, 24)


def test_states_of_a_batch_lie_one_after_another_where_the_device_reads_them(toy: Path) -> None:
    import ctypes

    encoder = DeviceEncoder(toy / ENCODER, 24, simulated=True)
    random = np.random.default_rng(0)
    for lengths in ([2, 3, 3, 3, 9], [4], [5] * 100):
        texts = [random.integers(0, 40, length).astype(np.int32) for length in lengths]
        with encoder.states(texts) as address:
            size = sum(lengths) * 24
            found = (
                np.ctypeslib.as_array((ctypes.c_float * size).from_address(address)).reshape(-1, 24).copy()
            )
        expected = np.concatenate([encoder.encode(text[None])[0] for text in texts])
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_a_text_of_more_tokens_than_the_graph_has_positions_is_an_error_without_its_ids(toy: Path) -> None:
    encoder = DeviceEncoder(toy / ENCODER, 24, simulated=True)
    with (
        pytest.raises(ModelError, match="it gives no state for each token") as raised,
        encoder.states([np.full(600, 7, np.int32)]),
    ):
        pytest.fail("states of 600 tokens, of 512 positions")
    assert raised.value.__context__ is None
