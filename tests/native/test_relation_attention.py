"""The native relation-aware attention computes the formula of RAT-SQL, section 4.2."""

from __future__ import annotations

import threading
from dataclasses import astuple, dataclass, replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fastsql.errors import ModelError
from fastsql.model.attention import relation_scores, relation_values, softmax

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Problem:
    query: Floats
    key: Floats
    value: Floats
    relation_key: Floats
    relation_value: Floats
    relations: NDArray[np.uint8]

    def solve(self, core: ModuleType, **settings: Any) -> Floats:
        mixed: Floats = core.RelationAttention(**settings)(*astuple(self))[0]
        return mixed


def problem(heads: int, rows: int, columns: int, head_size: int, relations: int, seed: int = 0) -> Problem:
    random = np.random.default_rng(seed)

    def normal(*shape: int) -> Floats:
        return random.standard_normal(shape, dtype=np.float32)

    return Problem(
        normal(heads, rows, head_size),
        normal(heads, columns, head_size),
        normal(heads, columns, head_size),
        normal(relations, head_size),
        normal(relations, head_size),
        random.integers(0, relations, (rows, columns)).astype(np.uint8),
    )


def formula(p: Problem) -> Floats:
    """The definition, with the [rows, columns, head size] arrays that the kernels avoid."""
    keys = p.key[:, None] + p.relation_key[p.relations]  # [heads, rows, columns, head size]
    values = p.value[:, None] + p.relation_value[p.relations]
    scores = np.einsum("hid,hijd->hij", p.query, keys) / np.sqrt(p.query.shape[-1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    result: Floats = np.einsum("hij,hijd->hid", weights, values)
    return result


def reference(p: Problem) -> Floats:
    """What the NumPy model computes, put together as its graph layer does."""
    query = p.query * np.float32(p.query.shape[-1] ** -0.5)
    scores = query @ p.key.transpose(0, 2, 1) + relation_scores(query, p.relation_key, p.relations)
    weights = softmax(scores)
    result: Floats = weights @ p.value + relation_values(weights, p.relation_value, p.relations)
    return result


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    heads=st.integers(1, 8),
    rows=st.integers(0, 40),
    columns=st.integers(1, 70),
    head_size=st.integers(1, 65),
    relations=st.integers(1, 256),
    seed=st.integers(0, 2**32 - 1),
)
def test_native_attention_agrees_with_the_formula_at_every_size(
    core: ModuleType, heads: int, rows: int, columns: int, head_size: int, relations: int, seed: int
) -> None:
    p = problem(heads, rows, columns, head_size, relations, seed)
    for name in core.instruction_sets():
        np.testing.assert_allclose(
            p.solve(core, instruction_set=name), formula(p), rtol=1e-4, atol=1e-5, err_msg=name
        )


@pytest.mark.parametrize(("rows", "columns"), [(1, 160), (25, 160), (135, 25), (160, 160)])
def test_native_attention_agrees_with_the_numpy_model(core: ModuleType, rows: int, columns: int) -> None:
    p = problem(heads=8, rows=rows, columns=columns, head_size=32, relations=40)
    np.testing.assert_allclose(p.solve(core), reference(p), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("split", [0, 25, 160])
def test_columns_in_two_blocks_give_what_one_block_gives(core: ModuleType, split: int) -> None:
    """Columns in two blocks are the same as in one, and the logarithmic sums are those of the scores."""
    p = problem(heads=8, rows=30, columns=160, head_size=32, relations=40)
    attention = core.RelationAttention(threads=2)
    mixed, log_sum = attention(*astuple(p))
    mixed_of_two, log_sum_of_two = attention(
        p.query,
        p.key[:, :split],
        p.value[:, :split],
        p.relation_key,
        p.relation_value,
        p.relations,
        second_key=p.key[:, split:],
        second_value=p.value[:, split:],
    )
    np.testing.assert_array_equal(mixed_of_two, mixed)
    np.testing.assert_array_equal(log_sum_of_two, log_sum)
    query = p.query * np.float32(p.query.shape[-1] ** -0.5)
    scores = query @ p.key.transpose(0, 2, 1) + relation_scores(query, p.relation_key, p.relations)
    np.testing.assert_allclose(log_sum, np.log(np.exp(scores).sum(axis=-1)), rtol=1e-5, atol=1e-5)


def test_the_scale_is_that_of_the_head_unless_another_is_given(core: ModuleType) -> None:
    p = problem(heads=8, rows=5, columns=9, head_size=16, relations=4)
    attention = core.RelationAttention()
    scaled = replace(p, query=p.query * np.float32(0.25))
    np.testing.assert_allclose(
        attention(*astuple(scaled), scale=1.0)[0], attention(*astuple(p))[0], rtol=1e-6
    )


@pytest.mark.parametrize("threads", [2, 8])
def test_the_number_of_threads_changes_nothing(core: ModuleType, threads: int) -> None:
    p = problem(heads=8, rows=130, columns=150, head_size=32, relations=58)
    np.testing.assert_array_equal(p.solve(core, threads=threads), p.solve(core))


def test_an_unknown_instruction_set_is_refused(core: ModuleType) -> None:
    with pytest.raises(ModelError, match="no sse9 kernels"):
        core.RelationAttention(instruction_set="sse9")


def test_rows_do_not_depend_on_each_other(core: ModuleType) -> None:
    p = problem(heads=2, rows=20, columns=30, head_size=32, relations=9)
    few = replace(p, query=p.query[:, 5:8], relations=p.relations[5:8])
    np.testing.assert_array_equal(few.solve(core), p.solve(core)[:, 5:8])


def test_equal_scores_share_the_weight(core: ModuleType) -> None:
    p = problem(heads=1, rows=1, columns=4, head_size=8, relations=3)
    flat = replace(p, query=np.zeros_like(p.query), relations=np.array([[0, 1, 1, 2]], dtype=np.uint8))
    expected = flat.value[0].mean(axis=0) + flat.relation_value[[0, 1, 1, 2]].mean(axis=0)
    np.testing.assert_allclose(flat.solve(core)[0, 0], expected, rtol=1e-5, atol=1e-6)


def test_huge_scores_pick_the_best_column(core: ModuleType) -> None:
    p = problem(heads=1, rows=3, columns=5, head_size=4, relations=1)
    key = np.full_like(p.key, -1e4)
    key[0, 3] = 1e4
    sharp = replace(p, query=np.ones_like(p.query), key=key)
    np.testing.assert_allclose(
        sharp.solve(core)[0], np.tile(sharp.value[0, 3] + sharp.relation_value[0], (3, 1)), rtol=1e-6
    )


def test_strided_views_give_what_contiguous_arrays_give(core: ModuleType) -> None:
    p = problem(heads=4, rows=10, columns=12, head_size=16, relations=5)

    def as_a_model_holds_it(
        array: Floats,
    ) -> Floats:  # [rows, heads * head size], seen as [heads, rows, head size]
        heads, rows, size = array.shape
        flat = np.ascontiguousarray(array.transpose(1, 0, 2)).reshape(rows, heads * size)
        return flat.reshape(rows, heads, size).transpose(1, 0, 2)

    strided = replace(
        p,
        query=as_a_model_holds_it(p.query),
        key=as_a_model_holds_it(p.key),
        value=as_a_model_holds_it(p.value),
        relations=np.asfortranarray(p.relations),
    )
    assert not strided.query.flags.c_contiguous
    np.testing.assert_array_equal(strided.solve(core), p.solve(core))


def test_threads_share_the_kernel(core: ModuleType) -> None:
    problems = [
        problem(heads=4, rows=30, columns=30 + n, head_size=32, relations=8, seed=n) for n in range(4)
    ]
    expected = [p.solve(core) for p in problems]
    attention = core.RelationAttention(threads=2)
    wrong: list[int] = []

    def work(number: int) -> None:
        arguments = astuple(problems[number])
        wrong.extend(
            number for _ in range(20) if not np.array_equal(attention(*arguments)[0], expected[number])
        )

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


BASE = problem(heads=2, rows=4, columns=6, head_size=8, relations=3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query": BASE.query[0]}, "query has 2 axes; it needs 3"),
        ({"key": BASE.key[:1]}, r"key has shape \[1, 6, 8\]; the other arguments ask for \[2, 6, 8\]"),
        ({"value": BASE.value[:, :5]}, r"value has shape \[2, 5, 8\]"),
        ({"relation_key": BASE.relation_key[:, :7]}, "relation_key has shape"),
        ({"relation_value": BASE.relation_value[:2]}, "relation_value has shape"),
        ({"relations": BASE.relations.T}, r"relations has shape \[6, 4\]"),
        ({"relations": BASE.relations + np.uint8(1)}, "the model has 3 relations"),
        (
            {"relation_key": BASE.relation_key[:0], "relation_value": BASE.relation_value[:0]},
            "number of relations is 0",
        ),
        (
            {"key": BASE.key[:, :0], "value": BASE.value[:, :0], "relations": BASE.relations[:, :0]},
            "key rows is 0",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    core: ModuleType, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ModelError, match=message):
        replace(BASE, **changes).solve(core)


@pytest.mark.parametrize(
    "changes", [{"query": BASE.query.astype(np.float64)}, {"relations": BASE.relations.astype(np.int64)}]
)
def test_other_element_types_are_not_converted_in_silence(core: ModuleType, changes: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="incompatible function arguments"):
        replace(BASE, **changes).solve(core)
