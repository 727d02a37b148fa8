"""The first stage: a question linked to a schema, and the actions that this leaves to the decoder."""

from __future__ import annotations

from dataclasses import dataclass

from fastsql.engine import Encoded, Engine
from fastsql.grammar import ActionSpace
from fastsql.grammar.grounding import NO_GROUNDS
from fastsql.limits import Limits
from fastsql.linking.dictionary import ValueDictionary
from fastsql.linking.grounds import find_grounds
from fastsql.linking.prepare import Prepared


@dataclass(frozen=True, eq=False)
class Linked:
    """A question and a schema, linked.

    Attributes:
        question: as it was asked; all offsets are of its characters.
        prepared: its tokens, value candidates and relations.
        schema: as the engine keeps it.
        dictionary: of the schema's values; None where there is none.
        space: the actions that may write its query.
    """

    question: str
    prepared: Prepared
    schema: Encoded
    dictionary: ValueDictionary | None
    space: ActionSpace


def link(
    question: str,
    text: str,
    schema: Encoded,
    dictionary: ValueDictionary | None,
    engine: Engine,
    limits: Limits,
    *,
    grounded: bool = True,
) -> Linked:
    """Link a question, `text` being what of it is read; `grounded` as in `Parser.parse`.

    Raises LimitError where it is too long.
    """
    prepared = engine.link(text, schema, dictionary)
    space = ActionSpace.for_question(
        schema.links.schema,
        prepared.text,
        prepared.offsets,
        prepared.candidates,
        limits=limits,
        grounds=find_grounds(prepared, dictionary, schema.links.core) if grounded else NO_GROUNDS,
    )
    return Linked(question, prepared, schema, dictionary, space)
