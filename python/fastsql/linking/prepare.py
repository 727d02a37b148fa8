"""A question made ready for the model: tokens, candidates and the relations between everything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import LimitError
from fastsql.linking.candidate import Candidate
from fastsql.linking.candidates import find_candidates
from fastsql.linking.relations import SchemaLinks

if TYPE_CHECKING:
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.linking.turns import EarlierTurn
    from fastsql.model.tokenizer import Tokenizer, Tokens


@dataclass(frozen=True, eq=False)
class Prepared:
    """A linked question.

    `text` is what is read: the question, `length` characters, and what is read behind it (`turns.with_values`).
    `token_ids` int32[Q] (without [CLS] and [SEP]); `offsets` int32[Q, 2], characters of `text`;
    `relations` uint8[N, N] over the nodes of `NodeLayout`.
    """

    text: str
    length: int
    token_ids: NDArray[np.int32]
    offsets: NDArray[np.int32]
    candidates: tuple[Candidate, ...]
    relations: NDArray[np.uint8]
    turns: tuple[EarlierTurn, ...] = ()

    @property
    def question(self) -> str:
        """The question alone."""
        return self.text[: self.length]

    @property
    def question_tokens(self) -> int:
        """How many of the tokens are the question's; values of earlier turns stand behind them."""
        return int(np.count_nonzero(self.offsets[:, 0] < self.length))


def prepare(
    question: str,
    links: SchemaLinks,
    tokenizer: Tokenizer,
    *,
    dictionary: ValueDictionary | None = None,
    candidates: Sequence[Candidate] | Callable[[str], Sequence[Candidate]] | None = None,
    turns: Sequence[EarlierTurn] = (),
    turn_values: bool = False,
) -> Prepared:
    """Tokenize and link a question, natively where `links` does.

    `candidates` are the value candidates, or find them in what is read; without either, the dictionary is searched.
    `turns` are the earlier ones of its conversation, over the same schema; with `turn_values`, values of theirs are read
    behind it, as far as there is room.

    Raises `LimitError` if the question has more tokens than the encoder has positions.
    """
    text, tokens = question, tokenizer.tokenize(question)
    if turns and turn_values:
        text, tokens = _with_values(question, tokens, turns, tokenizer)
    if candidates is None:
        candidates = find_candidates(text, links.schema, dictionary, core=links.core)
    elif callable(candidates):
        candidates = candidates(text)
    nodes = links.nodes.with_question(len(tokens.ids), len(candidates))
    relations = links.relations(text, tokens.offsets, candidates)
    prepared = Prepared(text, len(question), tokens.ids, tokens.offsets, tuple(candidates), relations)
    if not turns:
        return prepared
    from fastsql.linking.turns import add_turns, with_named  # for conversations

    return replace(
        prepared,
        relations=add_turns(relations, nodes, turns, candidates, links.schema),
        turns=with_named(turns, question, candidates),
    )


def _with_values(
    question: str, tokens: Tokens, turns: Sequence[EarlierTurn], tokenizer: Tokenizer
) -> tuple[str, Tokens]:
    from fastsql.linking.turns import with_values  # for conversations

    text = with_values(question, turns)
    try:
        return text, tokenizer.tokenize(text)
    except LimitError:  # the question leaves no room
        return question, tokens
