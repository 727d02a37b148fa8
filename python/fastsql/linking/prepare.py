"""A question made ready for the model: tokens, candidates and the relations between everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.linking.candidate import Candidate
from fastsql.linking.candidates import find_candidates
from fastsql.linking.relations import SchemaLinks

if TYPE_CHECKING:
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.linking.turns import EarlierTurn
    from fastsql.model.tokenizer import Tokenizer


@dataclass(frozen=True, eq=False)
class Prepared:
    """A linked question.

    `token_ids` int32[Q] (without [CLS] and [SEP]); `offsets` int32[Q, 2], characters of `text`;
    `relations` uint8[N, N] over the nodes of `NodeLayout`.
    """

    text: str
    token_ids: NDArray[np.int32]
    offsets: NDArray[np.int32]
    candidates: tuple[Candidate, ...]
    relations: NDArray[np.uint8]
    turns: tuple[EarlierTurn, ...] = ()


def prepare(
    text: str,
    links: SchemaLinks,
    tokenizer: Tokenizer,
    *,
    dictionary: ValueDictionary | None = None,
    candidates: Sequence[Candidate] | None = None,
    turns: Sequence[EarlierTurn] = (),
) -> Prepared:
    """Tokenize and link a question, natively where `links` does; `candidates` replaces the search for value candidates.

    `turns` are the earlier ones of its conversation, over the same schema.

    Raises `LimitError` if the question has more tokens than the encoder has positions.
    """
    tokens = tokenizer.tokenize(text)
    if candidates is None:
        candidates = find_candidates(text, links.schema, dictionary, core=links.core)
    nodes = links.nodes.with_question(len(tokens.ids), len(candidates))
    relations = links.relations(text, tokens.offsets, candidates)
    prepared = Prepared(text, tokens.ids, tokens.offsets, tuple(candidates), relations)
    if not turns:
        return prepared
    from fastsql.linking.turns import add_turns, with_named  # for conversations

    return replace(
        prepared,
        relations=add_turns(relations, nodes, turns, candidates, links.schema),
        turns=with_named(turns, text, candidates),
    )
