"""The published cost of a parse follows from the architecture."""

from __future__ import annotations

from dataclasses import replace

from fastsql.model.config import ModelConfig
from fastsql.model.cost import Cost, Legal, Workload, parse_cost

CONFIG = ModelConfig(n_productions=120, n_symbols=40)
WORK = Workload()


def total(config: ModelConfig, work: Workload = WORK) -> Cost:
    return sum(parse_cost(config, work).values(), Cost(0, 0))


def test_the_encoder_streams_its_matrices_once() -> None:
    encoder = parse_cost(CONFIG, WORK)["encoder"]
    assert encoder.bytes == 4 * (6 * (4 * 384 * 384 + 2 * 384 * 1536) + 384 * 256)


def test_a_joint_layer_costs_more_than_a_cached_one() -> None:
    cached = total(replace(CONFIG, cached_layers=3, joint_layers=0))
    one = total(replace(CONFIG, cached_layers=2, joint_layers=1))
    two = total(replace(CONFIG, cached_layers=1, joint_layers=2))
    assert cached.operations < one.operations < two.operations
    assert cached.bytes == one.bytes == two.bytes


def test_the_decoder_is_streamed_once_a_decision_however_wide_the_beam() -> None:
    longer = total(CONFIG, replace(WORK, decisions=68))
    assert longer.bytes > total(CONFIG).bytes
    assert total(CONFIG, replace(WORK, beam=1)).bytes == total(CONFIG).bytes


def test_int8_weights_are_a_quarter_of_the_bytes_and_all_of_the_operations() -> None:
    stored, loaded = parse_cost(CONFIG, WORK, weight_bytes=1), parse_cost(CONFIG, WORK)
    for stage, cost in loaded.items():
        assert stored[stage] == Cost(cost.operations, cost.bytes // 4)


def test_scoring_what_is_legal_alone_spares_pointer_queries() -> None:
    d, work = CONFIG.d, replace(WORK, decisions=1, beam=1)
    one = parse_cost(CONFIG, replace(work, legal=Legal(productions=0, pointers=0, kinds=1)))["decoder"]
    two = parse_cost(CONFIG, replace(work, legal=Legal(productions=3, pointers=5, kinds=2)))["decoder"]
    assert two.bytes - one.bytes == 4 * (d * d + 3 * d)
    assert two.operations - one.operations == 2 * (d * d + 3 * d + 5 * d)
    assert two.bytes < parse_cost(CONFIG, work)["decoder"].bytes
