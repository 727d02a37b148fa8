"""The native search finds what the reference finds: the same queries, decision by decision, with the same scores."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from safetensors.numpy import load_file

from fastsql.datasets import read_examples, read_schemas
from fastsql.decode import beam_search
from fastsql.errors import LimitError, ModelError
from fastsql.grammar import ActionSpace, load_grammar
from fastsql.grammar.grounding import Grounds
from fastsql.limits import Limits
from fastsql.linking import find_candidates
from fastsql.linking.prepare import prepare
from fastsql.model import Model, SchemaState, load_bundle
from fastsql.model.config import ModelConfig
from fastsql.parser import BUNDLED

from ..fuzz.native import draw_weights, make_config
from ..grammar.grounding import space_for
from ..worlds.grammar_hospitals import HOSPITAL
from ..worlds.toy_bundle import QUESTIONS
from ..worlds.toy_model import SCHEMA
from .automata import follow_both, native_space
from .searches import BothDecoders, Rows, expect_same, store

BEAMS = (1, 2, 4, 8)
LIMITS = Limits(actions=24)
"""Random queries are as long as they may be."""


def toy_space(question: str, limits: Limits = LIMITS) -> ActionSpace:
    return space_for(SCHEMA, question, find_candidates(question, SCHEMA), limits)


def toy_decoders(core: ModuleType, config: ModelConfig, seed: int = 0, least: int = 2**10) -> BothDecoders:
    return BothDecoders(core, config, store(draw_weights(config, np.random.default_rng(seed)), least))


@pytest.fixture(scope="module")
def toy(core: ModuleType) -> BothDecoders:
    return toy_decoders(core, make_config(), seed=3)


# ---------------------------------------------------------------- the same as the reference


@pytest.mark.parametrize("width", BEAMS)
@pytest.mark.parametrize("strict", [False, True], ids=["any grouping", "strict grouping"])
def test_random_weights_give_the_same_queries(core: ModuleType, width: int, strict: bool) -> None:
    compared = 0
    for seed in range(4):
        both = toy_decoders(core, make_config(), seed)
        for question in QUESTIONS:
            space = replace(toy_space(question), strict_grouping=strict)
            rows = Rows.draw(space, both.config.d, np.random.default_rng(seed))
            found, close = both.compare(space, rows, width)
            compared += not close
            assert len(found.finished) <= width
            follow_both(core, space, found.finished[0].actions)
    assert compared >= 8, "too many ranks are close to each other for the comparison to mean anything"


def test_a_patient_search_goes_on_as_far(toy: BothDecoders) -> None:
    compared = further = 0
    for seed, question in enumerate(QUESTIONS):
        space = toy_space(question)
        rows = Rows.draw(space, toy.config.d, np.random.default_rng(seed))
        found, close = toy.compare(space, rows, 6, patience=4.0)
        compared += not close
        further += found.steps > toy.search_natively(space, rows, 6).steps
    assert compared
    assert further


@pytest.mark.parametrize("heads", [1, 2, 3, 4, 8, 16, 24])
@pytest.mark.parametrize("head_size", [1, 5, 16])
def test_any_number_and_size_of_heads_gives_the_same_queries(
    core: ModuleType, heads: int, head_size: int
) -> None:
    """Heads are laid out by what a register holds: fewer, as many, more than that, and numbers that are no power of two."""
    config = replace(make_config(), d=heads * head_size, heads=heads, ffn=21, decoder_layers=1 + heads % 3)
    both = toy_decoders(core, config, least=2**30 if heads % 2 else 1)
    space = toy_space(QUESTIONS[0], Limits(actions=12))
    both.compare(space, Rows.draw(space, config.d, np.random.default_rng(heads)), 3)


@pytest.fixture(scope="module")
def ehr_en(core: ModuleType) -> tuple[Model, BothDecoders]:
    bundle = BUNDLED / "ehr-en"
    if not bundle.is_dir():
        pytest.skip("this checkout has no bundled English model")
    model = load_bundle(bundle, threads=1)
    return model, BothDecoders(core, model.config, load_file(bundle / "weights.safetensors"))


@pytest.mark.parametrize(("width", "first"), [(1, 0), (2, 100), (4, 200), (8, 300)])
def test_real_questions_give_the_same_queries(
    ehr_en: tuple[Model, BothDecoders], ehrsql2024: Path, width: int, first: int
) -> None:
    model, both = ehr_en
    schemas = read_schemas(ehrsql2024 / "schemas.json")
    states: dict[str, SchemaState] = {}
    compared = 0
    for example in list(read_examples(ehrsql2024 / "train.json"))[first::800]:
        schema = schemas[example.db_id]
        if example.db_id not in states:
            states[example.db_id] = model.encode_schema(schema)
        state = states[example.db_id]
        prepared = prepare(example.question, state.links, model.tokenizer)
        space = ActionSpace.for_question(schema, example.question, prepared.offsets, prepared.candidates)
        memory = model.encode_question(prepared, state).memory
        expect_same(
            both.search_natively(space, Rows.of(memory), width), beam_search(both, memory, space, beam=width)
        )
        compared += 1
    assert compared >= 5


def test_literals_that_exist_give_the_same_queries(core: ModuleType) -> None:
    """What may not be said is passed over alike, and keeps its probability alike."""
    bound = 0
    for seed in range(12):
        config = make_config()
        random = np.random.default_rng(seed)
        weights = draw_weights(config, random)
        grammar = load_grammar()
        for name in ("eq", "ne", "in_list", "also"):
            weights["decoder.production_scores.bias"][grammar.productions.index(name)] += 6
        # Functions and windows would take the place of literals.
        weights["decoder.production_scores.bias"][grammar.productions.index("not_exists") :] -= 30
        both = BothDecoders(core, config, store(weights, 2**10))
        for question in QUESTIONS:
            free = toy_space(question)
            columns = range(len(SCHEMA.columns))
            spans = {
                (column, place, place)
                for column in columns
                for place in range(column % 3, len(free.tokens), 4)
            }
            space = replace(free, grounds=Grounds(frozenset(columns), spans=frozenset(spans)))
            rows = Rows.draw(space, config.d, random)
            found, _ = both.compare(space, rows, 3)
            bound += found.finished[0].path != both.search_natively(free, rows, 3).finished[0].path
    assert bound >= 2, "too few searches wanted to say what does not exist"


# ---------------------------------------------------------------- ties and edges


def test_of_equal_hypotheses_the_first_is_taken(core: ModuleType) -> None:
    config = make_config()
    nothing = {name: np.zeros_like(w) for name, w in draw_weights(config, np.random.default_rng(0)).items()}
    both = BothDecoders(core, config, store(nothing, 2**10))
    for question in QUESTIONS:
        space = toy_space(question)
        rows = Rows.draw(space, config.d, np.random.default_rng(0))
        reference = beam_search(both, both.memory(space, rows), space, beam=1)
        expect_same(both.search_natively(space, rows, 1), reference)


def test_a_beam_with_room_for_everything_finds_everything(toy: BothDecoders) -> None:
    space = toy_space(QUESTIONS[0], Limits(actions=4))
    rows = Rows.draw(space, toy.config.d, np.random.default_rng(1))
    found, _ = toy.compare(space, rows, 10**6)
    assert found.unfinished == -math.inf or found.unfinished <= found.finished[0].score
    assert len({h.actions for h in found.finished}) == len(found.finished) > 8


def test_weights_that_are_no_numbers_end_the_search_all_the_same(core: ModuleType) -> None:
    config = make_config()
    weights = draw_weights(config, np.random.default_rng(0))
    weights["decoder.production_scores.bias"][:] = np.nan
    both = BothDecoders(core, config, weights)
    space = toy_space(QUESTIONS[0])
    found = both.search_natively(space, Rows.draw(space, config.d, np.random.default_rng(0)), 3)
    assert found.finished
    for hypothesis in found.finished:
        follow_both(core, space, hypothesis.actions)


def test_more_decisions_than_the_model_was_made_for_are_refused(core: ModuleType) -> None:
    both = toy_decoders(core, replace(make_config(), max_steps=3))
    space = toy_space(QUESTIONS[0])
    rows = Rows.draw(space, both.config.d, np.random.default_rng(0))
    with pytest.raises(LimitError, match=r"asked for decision 4, the model has 3"):
        both.search_natively(space, rows)
    with pytest.raises(LimitError, match=r"asked for decision 4, the model has 3"):
        beam_search(both, both.memory(space, rows), space)


@pytest.mark.parametrize("actions", [4, 5, 10])
def test_a_query_fits_whatever_budget_there_is(toy: BothDecoders, actions: int) -> None:
    for question in QUESTIONS:
        space = toy_space(question, Limits(actions=actions))
        found, _ = toy.compare(space, Rows.draw(space, toy.config.d, np.random.default_rng(0)))
        assert max(len(h.path) for h in found.finished) <= actions


def test_another_question_s_rows_are_refused(toy: BothDecoders) -> None:
    space = toy_space(QUESTIONS[0])
    rows = Rows.draw(space, toy.config.d, np.random.default_rng(0))
    with pytest.raises(ModelError, match="not those of the action space"):
        toy.search_natively(toy_space(QUESTIONS[3]), rows)
    with pytest.raises(ModelError, match=r"items is no float32\[n, 16\]"):
        toy.search_natively(space, replace(rows, items=rows.items[:, :8].copy()))
    with pytest.raises(ModelError, match="a beam of 0"):
        toy.search_natively(space, rows, 0)


def test_weights_that_do_not_fit_are_refused(core: ModuleType) -> None:
    config = make_config()
    weights = draw_weights(config, np.random.default_rng(0))
    with pytest.raises(ModelError, match=r"'decoder.norm.weight' is missing"):
        core.Decoder(config.to_dict(), {k: w for k, w in weights.items() if k != "decoder.norm.weight"})
    with pytest.raises(ModelError, match=r"'decoder.row.bias' has shape \[15\], not \[16\]"):
        core.Decoder(config.to_dict(), weights | {"decoder.row.bias": np.zeros(15, np.float32)})
    with pytest.raises(ModelError, match="neither float32 nor int8"):
        core.Decoder(config.to_dict(), weights | {"decoder.row.bias": np.zeros(16)})


def test_a_grammar_that_the_model_did_not_learn_is_refused(core: ModuleType) -> None:
    space = toy_space(QUESTIONS[0])
    both = toy_decoders(core, replace(make_config(), n_symbols=1))
    with pytest.raises(ModelError, match="the model learned 1"):
        both.search_natively(space, Rows.draw(space, both.config.d, np.random.default_rng(0)))


# ---------------------------------------------------------------- threads


def test_threads_change_nothing(toy: BothDecoders) -> None:
    """Neither those that share the work of one search, nor searches beside each other, which share workspaces."""
    cases = []
    for seed in range(6):
        for schema in (SCHEMA, HOSPITAL):
            question = QUESTIONS[seed % len(QUESTIONS)]
            space = space_for(schema, question, find_candidates(question, schema), LIMITS)
            cases.append((space, Rows.draw(space, toy.config.d, np.random.default_rng(seed)), 1 + seed))
    alone = [toy.search_natively(*case) for case in cases]
    for threads in (2, 8):
        assert [toy.search_natively(*case, threads) for case in cases] == alone
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda case: toy.search_natively(*case), cases * 4)) == alone * 4


def test_a_space_is_as_good_as_new_after_a_search(toy: BothDecoders) -> None:
    space = toy_space(QUESTIONS[1])
    rows = Rows.draw(space, toy.config.d, np.random.default_rng(0))
    native = native_space(toy.core, space)
    arguments = (native, rows.question, rows.items, rows.values, rows.entries)
    one, other = (toy.native.search(*arguments, beam=4) for _ in range(2))
    assert one[1:] == other[1:]
    for ours, theirs in zip(one[0], other[0], strict=True):
        for array, same in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(array, same)
