"""PyTorch's ways to compute relation-aware attention for a batch of questions, and their definition in double precision.

Tensors are those of `Inputs`: bfloat16, heads first. Sums that a form keeps by relation are float32, as bfloat16 would lose
small addends. The formula is that of RAT-SQL (Wang et al., 2020, section 4.2), scores times head_size ** -0.5.
"""

from __future__ import annotations

if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from parts import explain

    explain(__file__)

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Form = Callable[..., Any]
UNRELATED = 0.6
"""Share of the pairs that have relation 0: most pairs of a real graph have nothing in common."""
KEY_SIDE_ONLY = "key side only"
"""In the name of a form without relation values: a lesser operation, the floor of what a fused form costs."""


@dataclass
class Inputs:
    """One batch of random questions, on a device."""

    torch: Any
    query: Any  # bfloat16[batch, heads, N, head size]
    key: Any
    value: Any
    relation_key: Any  # bfloat16[relations, head size]
    relation_value: Any
    relations: Any  # uint8[batch, N, N]

    @classmethod
    def random(
        cls,
        torch: Any,
        device: str,
        batch: int,
        heads: int,
        rows: int,
        head_size: int,
        relations: int,
        seed: int,
    ) -> Inputs:
        """Normal numbers, and relations of which all occur."""
        random = torch.Generator(device=device).manual_seed(seed)
        given = {"generator": random, "device": device}
        shape = (batch, heads, rows, head_size)
        rounded = [torch.randn(shape, **given).bfloat16() for _ in range(3)]
        tables = [torch.randn((relations, head_size), **given).bfloat16() for _ in range(2)]
        edges = torch.randint(0, relations, (batch, rows, rows), dtype=torch.uint8, **given)
        edges[torch.rand(edges.shape, **given) < UNRELATED] = 0
        return cls(torch, *rounded, *tables, edges)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """In the order in which forms take them, relations as bytes."""
        return (self.query, self.key, self.value, self.relation_key, self.relation_value, self.relations)

    @cached_property
    def wide_relations(self) -> Any:
        """int64[batch, N, N], as published code keeps them."""
        return self.relations.long()

    @cached_property
    def one_hot(self) -> Any:
        """bfloat16[batch, N, N, relations]: 1 at each pair's relation."""
        torch, relations = self.torch, len(self.relation_key)
        shape = (*self.relations.shape, relations)
        empty = torch.zeros(shape, dtype=torch.bfloat16, device=self.relations.device)
        return empty.scatter_(3, self.wide_relations[..., None], 1.0)

    @property
    def operations(self) -> int:
        """Multiplications and additions of the factored form's four products."""
        batch, heads, rows, head_size = self.query.shape
        return int(4 * batch * heads * rows * head_size * (rows + len(self.relation_key)))

    @property
    def moved(self) -> int:
        """Bytes of all inputs, each read once, and of the result."""
        return sum(tensor.numel() * tensor.element_size() for tensor in (*self.arguments, self.query))

    def expected(self, item: int, values: bool) -> Any:
        """The definition for one question, float64[heads, N, head size]; without relation values if not `values`."""
        torch = self.torch
        query, key, value = (tensor[item].double() for tensor in (self.query, self.key, self.value))
        edges = self.relations[item].long()
        scores = query @ key.transpose(1, 2)
        scores += torch.einsum("hid,ijd->hij", query, self.relation_key.double()[edges])
        weights = torch.softmax(scores * query.shape[-1] ** -0.5, dim=-1)
        mixed = weights @ value
        if values:
            mixed += torch.einsum("hij,ijd->hid", weights, self.relation_value.double()[edges])
        return mixed


def eager_forms(torch: Any) -> dict[str, Form]:
    """Functions of `Inputs.arguments`, and of what `prepared` puts in place of relations."""

    def by_pair(query: Any, tables: Any) -> Any:
        """[batch, heads, N, D] by a vector of each pair, [batch, N, D, N]: one product a row."""
        return torch.matmul(query.transpose(1, 2), tables).transpose(1, 2)

    def naive(query: Any, key: Any, value: Any, rk: Any, rv: Any, relations: Any) -> Any:
        edges = relations.long()
        scores = torch.matmul(query, key.transpose(2, 3)) + by_pair(query, rk[edges].transpose(2, 3))
        weights = torch.softmax(scores * query.shape[-1] ** -0.5, dim=-1)
        return torch.matmul(weights, value) + by_pair(weights, rv[edges])

    def bias(query: Any, rk: Any, relations: Any) -> Any:
        edges = relations.long()[:, None].expand(-1, query.shape[1], -1, -1)
        return torch.gather(torch.matmul(query, rk.T), 3, edges)

    def value_side(weights: Any, rv: Any, relations: Any) -> Any:
        edges = relations.long()[:, None].expand(-1, weights.shape[1], -1, -1)
        mass = torch.zeros((*weights.shape[:3], len(rv)), dtype=torch.float32, device=weights.device)
        return torch.matmul(mass.scatter_add_(3, edges, weights.float()).to(rv.dtype), rv)

    def factored(query: Any, key: Any, value: Any, rk: Any, rv: Any, relations: Any) -> Any:
        query = query * query.shape[-1] ** -0.5
        scores = torch.matmul(query, key.transpose(2, 3)) + bias(query, rk, relations)
        weights = torch.softmax(scores, dim=-1)
        return torch.matmul(weights, value) + value_side(weights, rv, relations)

    def one_hot(query: Any, key: Any, value: Any, rk: Any, rv: Any, marks: Any) -> Any:
        query = query * query.shape[-1] ** -0.5
        added = by_pair(torch.matmul(query, rk.T), marks.transpose(2, 3))
        weights = torch.softmax(torch.matmul(query, key.transpose(2, 3)) + added, dim=-1)
        return torch.matmul(weights, value) + torch.matmul(by_pair(weights, marks), rv)

    def sdpa(query: Any, key: Any, value: Any, rk: Any, rv: Any, relations: Any) -> Any:
        query = query * query.shape[-1] ** -0.5
        added = bias(query, rk, relations)
        attend = torch.nn.functional.scaled_dot_product_attention
        mixed = attend(query, key, value, attn_mask=added, scale=1.0)
        weights = torch.softmax(torch.matmul(query, key.transpose(2, 3)) + added, dim=-1)
        return mixed + value_side(weights, rv, relations)

    return {"naive": naive, "factored": factored, "one-hot": one_hot, "sdpa": sdpa}


def flex_forms(torch: Any) -> dict[str, Form]:
    """FlexAttention with relation keys as its score_mod. It gives no weights, so the value side computes them a second time.

    Meant for torch.compile: called as they are, they build every score.
    """
    from torch.nn.attention.flex_attention import AuxRequest, flex_attention

    def keys(query: Any, key: Any, value: Any, rk: Any, relations: Any) -> tuple[Any, Any, Any]:
        scale = query.shape[-1] ** -0.5
        by_relation = torch.matmul(query * scale, rk.T)

        def add_relation(score: Any, item: Any, head: Any, row: Any, column: Any) -> Any:
            return score + by_relation[item, head, row, relations[item, row, column].long()]

        asked = {"score_mod": add_relation, "scale": scale, "return_aux": AuxRequest(lse=True)}
        mixed, more = flex_attention(query, key, value, **asked)
        return mixed, more.lse, by_relation

    def keys_only(query: Any, key: Any, value: Any, rk: Any, _rv: Any, relations: Any) -> Any:
        return keys(query, key, value, rk, relations)[0]

    def whole(query: Any, key: Any, value: Any, rk: Any, rv: Any, relations: Any) -> Any:
        mixed, log_sum, by_relation = keys(query, key, value, rk, relations)
        edges = relations.long()[:, None].expand(-1, query.shape[1], -1, -1)
        scores = torch.matmul(query * query.shape[-1] ** -0.5, key.transpose(2, 3))
        weights = torch.exp(scores.float() + torch.gather(by_relation, 3, edges) - log_sum[..., None])
        mass = torch.zeros((*weights.shape[:3], len(rv)), dtype=torch.float32, device=weights.device)
        return mixed + torch.matmul(mass.scatter_add_(3, edges, weights).to(rv.dtype), rv)

    return {"flex": whole, f"flex, {KEY_SIDE_ONLY}": keys_only}


def prepared(name: str, inputs: Inputs, compiled: bool) -> tuple[Any, ...]:
    """Arguments of a form. What stands for relations is made beforehand, as a model would; compiled code reads bytes."""
    if name.startswith("one-hot"):
        return (*inputs.arguments[:-1], inputs.one_hot)
    return inputs.arguments if compiled else (*inputs.arguments[:-1], inputs.wide_relations)
