"""The first stage: a question linked to a schema, and the actions that this leaves to the decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from fastsql.engine import Encoded, Engine
from fastsql.grammar import ActionSpace
from fastsql.grammar.grounding import NO_GROUNDS, Grounds
from fastsql.limits import Limits
from fastsql.linking.prepare import Prepared

if TYPE_CHECKING:
    from fastsql.grammar.program import Program
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.linking.said_periods import SaidPeriod
    from fastsql.linking.turns import EarlierTurn
    from fastsql.session.turn import Turn


@dataclass(frozen=True, eq=False)
class Linked:
    """A question and a schema, linked.

    Attributes:
        question: as it was asked; all offsets are of its characters.
        prepared: its tokens, value candidates and relations.
        schema: as the engine keeps it.
        dictionary: of the schema's values; None where there is none.
        space: the actions that may write its query.
        turns: the earlier turns of its conversation, which `space` has in the same order, or has none; None outside one.
        number: its own among the turns of the conversation.
        as_written: whether the query stays as the model writes it, whatever plain words of the question say.
        programs: what paths through `space` have been read as (`write.own_program`); a copy begins with none.
    """

    question: str
    prepared: Prepared
    schema: Encoded
    dictionary: ValueDictionary | None
    space: ActionSpace
    turns: tuple[Turn, ...] | None = None
    number: int = 1
    as_written: bool = False
    programs: dict[tuple[int, ...], Program] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def periods(self) -> tuple[SaidPeriod, ...]:
        """The periods that the question tells from now; read once for all hypotheses."""
        from fastsql.linking.said_periods import said_periods  # where there may be some

        return said_periods(self.question)


def link(
    question: str,
    text: str,
    schema: Encoded,
    dictionary: ValueDictionary | None,
    engine: Engine,
    limits: Limits,
    *,
    grounded: bool = True,
    as_written: bool = False,
    turns: Sequence[Turn] | None = None,
    number: int = 1,
) -> Linked:
    """Link a question, `text` being what of it is read; `grounded` as in `Parser.parse`, `as_written` as in `load`.

    `turns` are the earlier ones of its conversation that have a query, `number` is its own among them. It is linked as if it
    stood alone: see `with_turns`.

    Raises LimitError where it is too long.
    """
    prepared = engine.link(text, schema, dictionary)
    space = ActionSpace.for_question(
        schema.links.schema,
        prepared.text,
        prepared.offsets,
        prepared.candidates,
        limits=limits,
        grounds=_grounds(prepared, schema, dictionary, grounded),
    )
    told = None if turns is None else tuple(turns)
    return Linked(question, prepared, schema, dictionary, space, told, number, as_written)


def with_turns(linked: Linked, engine: Engine) -> Linked:
    """The question linked to the earlier turns of its conversation as well, so that its query may refer to them.

    Where the model reads them, values of these turns stand behind the question, and a query may take them from there.

    Where it calls some by their numbers, it may refer to these and to the latest: whoever counts answers means no other.

    Raises ModelError where the model knows no conversations.
    """
    turns = linked.turns or ()
    meant = {turn.number for turn in called_turns(linked) if turn.usable}
    if meant:
        meant.add(max(turn.number for turn in turns if turn.usable))
    earlier = [_earlier(turn, not meant or turn.number in meant) for turn in turns]
    prepared = engine.link(linked.prepared.text, linked.schema, linked.dictionary, earlier)
    space = replace(
        linked.space,
        text=prepared.text,
        tokens=prepared.offsets,
        candidates=prepared.candidates,
        grounds=_grounds(prepared, linked.schema, linked.dictionary, linked.space.grounds is not NO_GROUNDS),
        turns=tuple(one.turn for one in prepared.turns),
        length=prepared.length,
    )
    return replace(linked, prepared=prepared, space=space)


def called_turns(linked: Linked) -> list[Turn]:
    """The earlier turns that a question calls by numbers which can hardly mean anything else."""
    if not linked.turns:
        return []
    from fastsql.linking.turn_numbers import turn_numbers  # for conversations
    from fastsql.linking.turns import held_spans

    held = held_spans(linked.prepared.candidates)
    numbers = turn_numbers(linked.prepared.text, held, ordinals=False)
    return [turn for turn in linked.turns if turn.number in numbers]


def _earlier(turn: Turn, meant: bool) -> EarlierTurn:
    assert turn.state is not None
    earlier = replace(turn.state.earlier, number=turn.number)
    return earlier if turn.usable and meant else replace(earlier, turn=earlier.turn.unusable)


def _grounds(
    prepared: Prepared, schema: Encoded, dictionary: ValueDictionary | None, grounded: bool
) -> Grounds:
    if not grounded or dictionary is None:
        return NO_GROUNDS
    from fastsql.linking.grounds import find_grounds  # for those who give values

    return find_grounds(prepared, dictionary, schema.links.core)
