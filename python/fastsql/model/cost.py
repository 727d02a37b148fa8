"""What a parse costs in operations and in bytes of weights read, stage by stage, for a given architecture.

Counted from the sizes of the matrices: an operation is a multiplication or an addition, a weight that a stage uses is
read once each time the stage runs (a decoder step streams what it uses of the decoder). Norms and activations are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from fastsql.grammar.actions import POINTER_KINDS
from fastsql.model.config import ModelConfig

FLOAT32_BYTES = 4


@dataclass(frozen=True)
class Legal:
    """What the automaton leaves a decoder step to score, means over the steps."""

    productions: float
    pointers: float
    kinds: float
    """Kinds of pointers, each of which needs a query of its own."""


@dataclass(frozen=True)
class Workload:
    """The size of one question on one schema, and of the search."""

    tokens: int = 30
    candidates: int = 4
    tables: int = 17
    columns: int = 111
    values: int = 245
    decisions: int = 34
    beam: int = 4
    legal: Legal | None = None
    """Where only legal actions are scored, as the native core does; otherwise all are."""


@dataclass(frozen=True)
class Cost:
    """`operations` and `bytes` (of weights streamed) of one stage."""

    operations: int
    bytes: int

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.operations + other.operations, self.bytes + other.bytes)


def parse_cost(config: ModelConfig, work: Workload, weight_bytes: int = FLOAT32_BYTES) -> dict[str, Cost]:
    """Costs of "encoder", "graph", "memory" (of the decoder) and "decoder" for a question on a cached schema.

    `weight_bytes` is 4 where weights are multiplied back to float32 when they are loaded (the NumPy model), 1 where they
    stay int8 (the native core). What the edges of a line graph take (`fastsql.model.lge`) is not counted.
    """
    question, items = work.tokens + work.candidates, work.tables + work.columns
    stages = {
        "encoder": _encoder(config, work.tokens + 2),
        "graph": _graph(config, question, items),
        "memory": _memory(config, work, question + items),
        "decoder": _decoder(config, work, question + items),
    }
    return {
        name: Cost(cost.operations, cost.bytes * weight_bytes // FLOAT32_BYTES)
        for name, cost in stages.items()
    }


def _product(rows: int, width: int, out: float) -> Cost:
    """A matrix [out, width] applied to `rows` rows; of a mean over steps, `out` may be broken."""
    return Cost(round(2 * rows * width * out), round(FLOAT32_BYTES * width * out))


def _attention(rows: int, columns: int, d: int) -> Cost:
    return Cost(4 * rows * columns * d, 0)


def _times(cost: Cost, count: int) -> Cost:
    return Cost(cost.operations * count, cost.bytes * count)


def _encoder(config: ModelConfig, tokens: int) -> Cost:
    hidden, ffn = config.encoder.hidden, config.encoder.ffn
    layer = _product(tokens, hidden, 4 * hidden + 2 * ffn) + _attention(tokens, tokens, hidden)
    return _times(layer, config.encoder.layers) + _product(tokens, hidden, config.d)


def _graph(config: ModelConfig, question: int, items: int) -> Cost:
    d, ffn, layers = config.d, config.ffn, config.cached_layers + config.joint_layers
    relations = Cost(4 * question * config.relations * d, 8 * config.relations * d // config.heads)
    layer = _product(question, d, 4 * d + 2 * ffn) + _attention(question, question + items, d) + relations
    cost = _times(layer, layers)
    for index in range(config.joint_layers):
        # The first joint layer finds its queries, keys and schema-to-schema attention in the cache.
        inner = Cost(2 * items * d * (d + 2 * ffn), 0) + _attention(items, question, d)
        if index:
            inner += Cost(2 * items * d * 3 * d, 0) + _attention(items, items, d)
        cost += inner + Cost(4 * items * config.relations * d, 0)
    return cost


def _memory(config: ModelConfig, work: Workload, rows: int) -> Cost:
    """Keys and values of the rows that depend on the question; those of the schema do only behind a joint layer."""
    d = config.d
    online = rows if config.joint_layers else work.tokens + work.candidates
    pointers = Cost(2 * (online + work.tokens) * d * d, 4 * 5 * d * d)
    return _times(_product(online, d, 2 * d), config.decoder_layers) + pointers


def _decoder(config: ModelConfig, work: Workload, rows: int) -> Cost:
    d, ffn, beam = config.d, config.ffn, work.beam
    layer = _product(beam, d, 6 * d + 2 * ffn) + _attention(beam, rows + work.decisions // 2, d)
    legal = work.legal or Legal(config.n_productions, rows + work.tokens + work.values, len(POINTER_KINDS))
    # Beside the queries: the step's own pointer key, and the row that the previous action pointed at.
    scores = _product(beam, d, legal.kinds * d + 2 * d + legal.productions)
    scores += Cost(round(2 * beam * legal.pointers * d), 0)
    return _times(_times(layer, config.decoder_layers) + scores, work.decisions)
