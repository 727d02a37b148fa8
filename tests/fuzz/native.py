"""``python -m tests.fuzz.native --seconds 3600``: the native search beside the reference, over anything.

Schemas, questions, sizes, weights and graph rows are drawn from a seed. Both searches must find the same queries with the
same scores, and both automata must offer the same actions all along the best one.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from fastsql import Schema, backends
from fastsql.errors import SchemaError
from fastsql.grammar import ActionSpace, load_grammar
from fastsql.limits import Limits
from fastsql.linking import find_candidates
from fastsql.linking.question import clean_question
from fastsql.model.attention import Array
from fastsql.model.config import EncoderConfig, ModelConfig
from fastsql.model.weights import weight_shapes

from ..grammar.grounding import space_for
from ..grammar.walking import HABITS
from ..native.automata import follow_both
from ..native.searches import BothDecoders, Rows, store
from .questions import draw_question
from .schemas import draw_schema

_PLAIN = {"t": {"x": "TEXT"}}


class DifferenceError(AssertionError):
    """A case in which the native search differs from the reference; the message names the case."""


@dataclass(frozen=True)
class Case:
    """What both searches are given. The same seed and number give the same case, for ever."""

    space: ActionSpace
    config: ModelConfig
    weights: dict[str, NDArray[np.generic]]
    rows: Rows
    width: int

    @classmethod
    def draw(cls, seed: int, number: int) -> Case:
        """Case `number` of a seed."""
        rng = random.Random(f"{seed} native {number}")
        numbers = np.random.default_rng(rng.getrandbits(64))
        config = _draw_config(rng)
        weights = draw_weights(config, numbers, spread=rng.choice((0.1, 0.2, 0.4)))
        habit = HABITS[rng.choice(tuple(HABITS))]
        weights["decoder.production_scores.bias"] += np.array(
            [habit.get(name, 0.0) for name in load_grammar().productions], np.float32
        )
        space = _draw_space(rng)
        return cls(
            space,
            config,
            store(weights, rng.choice((1, 2**10, 2**30))),
            Rows.draw(space, config.d, numbers),
            rng.choice((1, 2, 3, 4, 5, 8, 17)),
        )


def make_config() -> ModelConfig:
    """A small decoder for the grammar as it is."""
    grammar = load_grammar()
    encoder = EncoderConfig(hidden=4, layers=1, heads=1, ffn=4, vocabulary=4, positions=4)
    return ModelConfig(
        n_productions=len(grammar.productions),
        n_symbols=len(grammar.symbols),
        d=16,
        heads=4,
        ffn=24,
        encoder=encoder,
    )


def _draw_config(rng: random.Random) -> ModelConfig:
    heads = rng.choice((1, 2, 3, 4, 8, 12, 16, 20))
    # Layer norm over two or three numbers that are almost equal makes of rounding what no tolerance should allow.
    sizes = [size for size in (1, 2, 4, 7, 8) if heads * size >= 8]
    return replace(
        make_config(),
        d=heads * rng.choice(sizes),
        heads=heads,
        ffn=rng.randint(1, 70),
        decoder_layers=rng.randint(1, 3),
    )


def draw_weights(config: ModelConfig, random: np.random.Generator, spread: float = 0.3) -> dict[str, Array]:
    """Weights of the decoder: large enough that every part shows in the scores, not so large that rounding does."""
    spread *= min(1.0, 4 * config.d**-0.5)
    return {
        name: random.normal(1.0 if "norm.weight" in name else 0.0, spread, shape).astype(np.float32)
        for name, shape in weight_shapes(config).items()
        if name.startswith("decoder.")
    }


def _draw_space(rng: random.Random) -> ActionSpace:
    source = draw_schema(rng)
    try:
        schema = Schema.from_dict(source)
    except SchemaError:
        schema = Schema.from_dict(_PLAIN)
    if not schema.tables:
        schema = Schema.from_dict(_PLAIN)
    names = [table.name for table in schema.tables] + [column.name for column in schema.columns]
    question = clean_question(draw_question(rng, names)[:300])
    least = load_grammar().cost[0]
    actions = rng.choice((rng.randint(least, 12), rng.randint(least, 40), 80))
    space = space_for(schema, question, find_candidates(question, schema), Limits(actions=actions))
    return replace(space, strict_grouping=rng.random() < 0.3)


def check(core: ModuleType, seed: int, number: int) -> str:
    """Search with both; returns how the comparison ended.

    Raises:
        DifferenceError: they differ. The cause says how.
    """
    try:
        case = Case.draw(seed, number)
        both = BothDecoders(core, case.config, case.weights)
        found, close = both.compare(case.space, case.rows, case.width)
        follow_both(core, case.space, found.finished[0].actions)
    except Exception as error:
        what = f"{type(error).__name__} in case {number} of seed {seed}"
        raise DifferenceError(f"{what}: replay it with --seed {seed} --case {number}") from error
    return "with ranks too close to tell apart" if close else "the same"


def fuzz(core: ModuleType, seed: int, seconds: float) -> Counter[str]:
    """Check case after case of a seed until time is up; returns how many ended how.

    Raises:
        DifferenceError: at the first case in which the two differ.
    """
    ended: Counter[str] = Counter()
    end = time.monotonic() + seconds
    for number in itertools.count():
        if time.monotonic() >= end:
            break
        ended[check(core, seed, number)] += 1
    return ended


def main() -> int:
    """The exit status: 1 if the two differed."""
    arguments = argparse.ArgumentParser(prog="python -m tests.fuzz.native", description=__doc__)
    arguments.add_argument("--seconds", type=float, default=60.0, help="how long (default: 60)")
    arguments.add_argument("--seed", type=int, default=0, help="which cases (default: 0)")
    arguments.add_argument("--case", type=int, help="replay this case alone, and show the error")
    chosen = arguments.parse_args()
    core = backends.native()
    if core is None:
        sys.stderr.write(f"the native module {backends.native_status().reason}\n")
        return 2
    if chosen.case is not None:
        sys.stdout.write(check(core, chosen.seed, chosen.case) + "\n")
        return 0
    try:
        ended = fuzz(core, chosen.seed, chosen.seconds)
    except DifferenceError as error:
        sys.stdout.write(f"{error}\n")
        return 1
    counts = ", ".join(f"{count:,} {how}" for how, count in ended.most_common())
    sys.stdout.write(f"{ended.total():,} cases of seed {chosen.seed}: {counts}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
