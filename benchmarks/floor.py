"""What a parse asks of the machine: sizes, operations and bytes of weights, and the time that these take at least."""

from __future__ import annotations

if __name__ == "__main__":
    from parts import explain

    explain(__file__)

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import fastsql
from fastsql.grammar import ActionSpace, State
from fastsql.grammar.actions import PRODUCTION
from fastsql.linking.lexicon import Lexicon
from fastsql.linking.question import clean_question
from fastsql.model.cost import FLOAT32_BYTES, Cost, Legal, Workload, parse_cost
from fastsql.schema import Schema
from figures import Figures, percentiles
from rates import Rates

INT8_BYTES = 1


def sizes(parser: fastsql.Parser, questions: Sequence[str], schema: Schema, beam: int) -> dict[str, Figures]:
    """What questions ask of the model: tokens, candidates, decisions of the best hypothesis, steps of the search.

    And what the automaton leaves to score at a decision of the best hypothesis: productions, pointers, kinds of pointers.
    """
    engine = parser.engine
    known = Lexicon.from_settings(parser.bundle.config.settings).apply(schema)
    encoded = engine.encode_schema(known)
    counts: dict[str, list[float]] = {}
    for question in questions:
        prepared = engine.link(clean_question(question), encoded, None)
        space = ActionSpace.for_question(known, prepared.text, prepared.offsets, prepared.candidates)
        search = engine.decode(prepared, encoded, space, beam).search
        actions = search.finished[0].actions
        figures = {
            "tokens": len(prepared.token_ids),
            "candidates": len(prepared.candidates),
            "decisions": len(actions),
            "steps": search.steps,
            **_legal(space, actions),
        }
        for name, figure in figures.items():
            counts.setdefault(name, []).append(figure)
    return {name: percentiles(found) for name, found in counts.items()}


def _legal(space: ActionSpace, decisions: Sequence[int]) -> dict[str, float]:
    """Means over the decisions of a query."""
    state, left = State.start(space), iter(decisions)
    scored = np.zeros(3)
    while not state.finished:
        legal = state.legal()
        decides = legal.size > 1
        if decides:
            kinds = np.searchsorted(space.offsets, legal, side="right") - 1
            pointing = kinds[kinds != PRODUCTION]
            scored += legal.size - pointing.size, pointing.size, np.unique(pointing).size
        state = state.advance(next(left) if decides else int(legal[0]), decision=decides)
    names = ("productions scored", "pointers scored", "kinds of pointers")
    return dict(zip(names, (scored / max(len(decisions), 1)).tolist(), strict=True))


def costs(parser: fastsql.Parser, schema: Schema, found: Mapping[str, Figures], beam: int) -> dict[str, Cost]:
    """Operations and bytes of weights of a middling question's parse, by stage of the model.

    The native core keeps weights in int8 and scores what is legal; the NumPy model multiplies them back and scores all.
    """
    known = Lexicon.from_settings(parser.bundle.config.settings).apply(schema)
    native = parser.engine.device == "cpu"
    middling = Workload(
        tokens=round(found["tokens"]["p50"]),
        candidates=round(found["candidates"]["p50"]),
        tables=len(known.tables),
        columns=len(known.columns),
        values=sum(len(column.values) for column in known.columns) + len(known.constants),
        decisions=round(found["steps"]["p50"]),
        beam=beam,
        legal=Legal(
            productions=found["productions scored"]["mean"],
            pointers=found["pointers scored"]["mean"],
            kinds=found["kinds of pointers"]["mean"],
        )
        if native
        else None,
    )
    return parse_cost(parser.bundle.config.model, middling, INT8_BYTES if native else FLOAT32_BYTES)


def floors(
    cost: Mapping[str, Cost], stages: Mapping[str, Figures], rates: Rates | None
) -> dict[str, dict[str, Any]]:
    """By timed stage: operations and bytes of weights, the floor that follows, the median, and how many floors that is.

    Stages that are not the model's have no floor. `rates` are those of the threads that the parse has; without them,
    there are no floors.
    """
    apart = "graph" in stages
    parts = {
        "encode": ("encoder",) if apart else ("encoder", "graph", "memory"),
        "graph": ("graph", "memory"),
        "decode": ("decoder",),
        "total": tuple(cost),
    }
    rows: dict[str, dict[str, Any]] = {}
    for stage, figures in stages.items():
        row: dict[str, Any] = {"p50, ms": figures["p50"]}
        if stage in parts:
            needed = [cost[part] for part in parts[stage]]
            operations, weights = sum(c.operations for c in needed), sum(c.bytes for c in needed)
            row |= {"million operations": operations / 1e6, "million bytes": weights / 1e6}
            if rates is not None:
                # A stage cannot begin before the one that it reads has ended: their floors add up.
                floor = sum(rates.floor_ms(c.operations, c.bytes) for c in needed)
                row |= {"floor, ms": floor, "floors": figures["p50"] / floor}
        rows[stage] = row
    return rows
