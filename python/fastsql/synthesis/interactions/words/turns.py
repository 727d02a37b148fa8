"""A turn's question."""

from __future__ import annotations

from dataclasses import replace

from fastsql.grammar.clauses import chain, child, own, some
from fastsql.grammar.compile import load_grammar
from fastsql.grammar.inlining import SET_OPERATIONS
from fastsql.grammar.program import DerivedRef, Literal, Node, Program, TurnRef
from fastsql.grammar.tree import read_tree
from fastsql.grammar.turn_kinds import EXTENSIONS
from fastsql.synthesis.interactions.selects import item_nodes
from fastsql.synthesis.interactions.words.names import Said, Scope, Source
from fastsql.synthesis.interactions.words.rows import Rows
from fastsql.synthesis.schema.words import UnsayableError

_BOTH = {
    "except": "Which of {a} are not in {b}?|Show what is in {a} and not in {b}.|What is in {a} but not in {b}?",
    "intersect": "Which of {a} are also in {b}?|What do {a} and {b} have in common?",
    "union": "Put {a} and {b} together, each once.|List what is in {a} or in {b}, without repeats.",
    "union_all": "Put {a} and {b} together, repeats and all.",
}
SHORT = 0.5
"""How often what could be said in a word or two is."""
_HERE = "\0"
"""Stands for the rows of an earlier turn."""
_COMPARED = {
    "gt": "greater than|higher than|more than",
    "ge": "at least",
    "lt": "less than|lower than|smaller than",
    "le": "at most",
    "eq": "the same as|equal to",
    "ne": "different from",
}


class Conversation(Rows):
    """Asks the turns of one interaction, in their order."""

    def ask(self, program: Program) -> str:
        """The question of the next turn. Raises UnsayableError where there are no words for it; then no turn is added."""
        tree = read_tree(program, load_grammar())
        if tree.name in SET_OPERATIONS:
            question, said = self._set_operation(tree)
        elif tree.name == "bare":
            question, said = self._put_together(tree)
        elif tree.name in EXTENSIONS:
            question, said = self._extension(tree)
        else:
            question, said = self._independent(tree)
        self._said.append(said)
        return question[:1].upper() + question[1:]

    # ------------------------------------------------------------ a query of its own

    def _independent(self, tree: Node) -> tuple[str, Said]:
        phrase, things, scope, _ = self._request(tree)
        first = item_nodes(tree)[0][0]
        tests = first.name == "test" and len(things.names) == 1
        said = Said(
            things.names,
            things.plain,
            things.single,
            things.times,
            scope,
            self._subject(tree, scope),
            _is_ordered(tree),
        )
        if tests:
            about = phrase.partition(" of the ")[2]
            return self._test(child(first, 0), scope, about), said
        if phrase.startswith("number of ") and first.name == "count_all" and things.single:
            about = phrase.removeprefix("number of ")
            return self._counted(about), said
        return self._requested(phrase, single=things.single), said

    def _subject(self, query: Node, scope: Scope) -> str:
        return "groups" if _groups(query) else self._rows_of(scope)

    def _requested(self, things: str, *, single: bool) -> str:
        be = "is" if single else "are"
        verb = "give me" if single else "list"
        pattern = (
            f"what {be} the @?|show the @|{verb} the @|give me the @|tell me the @|find the @|I need the @"
        )
        return self._ended(pattern.replace("@", "{things}"), things=things)

    def _counted(self, about: str) -> str:
        return self._ended(
            "how many {rows} are there?|count the {rows}|what is the number of {rows}?|number of {rows}",
            rows=about,
        )

    def _ended(self, pattern: str, **parts: str) -> str:
        """A question, or a request with or without its full stop."""
        text = self._say(pattern, **parts)
        return text if text.endswith("?") else f"{text}{self._rng.choice(('.', '.', ''))}"

    def _test(self, condition: Node, scope: Scope, about: str) -> str:
        """Whether something holds of all rows together: mostly whether there are any."""
        if self._asks_for_any(condition):
            return self._say(
                "are there any {rows}?|is there any of the {rows}?|do any {rows} exist?", rows=about
            )
        return f"is it true that, among the {about}, the {self._clause(condition, scope)}?"

    def _asks_for_any(self, condition: Node) -> bool:
        """Whether a condition on all rows together asks whether there are any."""
        left, right = child(condition, 0), some(condition.children[-1])
        return condition.name == "gt" and left.name == "count_all" and right.terminal == Literal(0)

    # ------------------------------------------------------------ earlier turns

    def _extension(self, tree: Node) -> tuple[str, Said]:
        reference, joins, where, change = tree.children
        assert reference is not None
        assert isinstance(reference.terminal, TurnRef)
        if joins is not None:
            raise UnsayableError("an extension that joins")
        turn = reference.terminal.turn
        said = self._said[turn]
        conditions = [own(one, 1) for one in chain(where)]
        whose = self._whose(conditions, said.scope)
        if tree.name == "extend_from":
            return self._instead(turn, whose, self._brief(conditions, said.scope), some(change)), replace(
                said
            )
        match some(change).name:
            case "keep":
                return self._only(turn, whose, self._brief(conditions, said.scope)), said
            case "sort_rows" | "sort_groups":
                return self._sorted(turn, whose, child(some(change), 0))
            case "and_having":
                return self._passing_groups(turn, whose, some(change)), said
        return self._anew(turn, whose, tree)

    def _those(self, turn: int, *, rows: bool = True) -> str:
        """The rows of a turn."""
        said, number = self._said[turn], self._plain_mention(turn)
        if self._is_last(turn) and self._rng.random() < 0.7:
            return self._any(f"those|these|those {said.rows}" if rows else "those|these|them")
        return self._any(f"{number}|the {said.rows} of {number}") if rows else number

    def _brief(self, conditions: list[Node], scope: Scope) -> str:
        """A condition as people shorten it: "Medicare", "in 2022", "this year", "age 60"; empty for most."""
        if len(conditions) != 1:
            return ""
        (condition,) = conditions
        value = condition.children[1] if len(condition.children) > 1 else None
        if value is None or not isinstance(value.terminal, Literal):
            return ""
        if condition.name == "eq":
            said = self._literal(value.terminal)
            text = isinstance(value.terminal.value, str)
            return said if text else f"{self._noun(child(condition, 0), scope)} {said}"
        if condition.name == "date_eq":
            return self._dated(condition.name, value.terminal).removeprefix("is ")
        unit = (condition.name or "").removeprefix("in_")
        return self._period(value, unit) if unit in ("year", "month", "day") else ""

    def _only(self, turn: int, whose: str, brief: str) -> str:
        if brief and self._is_last(turn) and self._rng.random() < SHORT:
            return self._ended("only {brief}|just {brief}|{brief} only", brief=brief)
        if self._is_last(turn) and self._rng.random() < 0.5:
            return self._ended(
                "only those {whose}|just the ones {whose}|keep only the ones {whose}|only the ones {whose}, please",
                whose=whose,
            )
        return self._ended(
            "of {those}, only those {whose}|from {those}, keep only the ones {whose}|narrow {those} down to the ones {whose}"
            "|in {those}, show just the ones {whose}",
            those=self._those(turn),
            whose=whose,
        )

    def _instead(self, turn: int, whose: str, brief: str, change: Node) -> str:
        if change.name != "keep":
            raise UnsayableError("other conditions and more")
        if brief and self._is_last(turn):
            return self._ended(
                "and {brief}?|what about {brief}?|how about {brief}?|and for {brief}?|the same for {brief}|{brief}?"
                "|no, I meant {brief}|no, {brief}|I meant {brief}|sorry, {brief}",
                brief=brief.removeprefix("in ") if self._rng.random() < SHORT else brief,
            )
        kept = f"the same as in {self._plain_mention(turn)}"
        return self._ended(
            "{kept}, but for those {whose}|what about those {whose}, otherwise {kept}?",
            kept=kept,
            whose=whose,
        )

    def _sorted(self, turn: int, whose: str, tail: Node) -> tuple[str, Said]:
        """What comes first of a turn's rows, which keep what they show."""
        said = self._said[turn]
        known = self._tail(tail)
        order = self._ordered(known, said.scope)
        those = f"{self._those(turn)} {whose}".strip()
        if not order:
            raise UnsayableError("no order any more")
        single = known.limit == "1"
        if not known.limit:
            text = self._ended(
                "put {those} in order, {order}|show {those}, {order}", those=those, order=order
            )
            return text, replace(said, ordered=True)
        if not order.startswith("with"):
            order = f"that {'comes' if single else 'come'} first when {order}"
        if said.ordered:
            which = "one" if single else known.limit
            text = self._ended(
                "the same as in {kept}, but the {which} {order} instead|what about the {which} {order}, else as in {kept}?",
                kept=self._plain_mention(turn),
                which=which,
                order=order,
            )
            return text, replace(said, single=single, ordered=True)
        pattern = (
            "of {those}, only the one {order}|of {those}, which is the one {order}?|just the one {order} among {those}"
            if single
            else "of {those}, only the {limit} {order}|just the {limit} {order} among {those}"
        )
        text = self._ended(pattern, those=those, order=order, limit=known.limit)
        return text, replace(said, single=single, ordered=True)

    def _passing_groups(self, turn: int, whose: str, change: Node) -> str:
        if whose or child(change, 1).name != "keep":
            raise UnsayableError("HAVING and more")
        clause = self._clause(child(change, 0), self._said[turn].scope)
        return self._ended(
            "of {those}, only the groups whose {clause}|from {those}, keep the groups whose {clause}",
            those=self._those(turn, rows=False),
            clause=clause,
        )

    def _anew(self, turn: int, whose: str, tree: Node) -> tuple[str, Said]:
        """Something else of the same rows."""
        earlier = self._said[turn]
        scope = earlier.scope
        things = self._things(tree, scope)
        those = f"{self._those(turn)} {whose}".strip()
        rows = "groups" if _groups(tree) else earlier.rows
        said = Said(things.names, things.plain, things.single, things.times, scope, rows, _is_ordered(tree))
        items, _ = item_nodes(tree)
        body = child(tree, -1)
        if items[0].name == "test" and len(items) == 1:
            condition = child(items[0], 0)
            if self._asks_for_any(condition):
                return self._say("are there any of {those}?|do any of {those} exist?", those=those), said
            return f"is it true that, of {those}, the {self._clause(condition, scope)}?", said
        if items[0].name == "count_all" and len(items) == 1 and body.name not in ("group", "gather"):
            if not whose and self._is_last(turn) and self._rng.random() < SHORT:
                return self._ended(
                    "how many?|how many is that?|how many are there?|how many are they?|count|how many in total?"
                    f"|and how many {earlier.rows} is that?"
                ), said
            return self._ended("how many of {those} are there?|count {those}", those=those), said
        phrase = self._asked(tree, body, things, scope, _HERE).replace(f"the {_HERE}", those)
        return self._requested(phrase, single=things.single), said

    # ------------------------------------------------------------ results put together

    def _set_operation(self, tree: Node) -> tuple[str, Said]:
        (a, said), (b, _) = (self._side_of(child(tree, n)) for n in (0, 1))
        return self._say(_BOTH[tree.name], a=a, b=b), replace(said, scope=(), single=False)

    def _side_of(self, side: Node) -> tuple[str, Said]:
        """A side of a set operation: a turn's result where it is all of that, otherwise a query."""
        reference = side.children[0] if side.name == "previous" else None
        if reference is not None and side.children[1] is None and side.children[2] is None:
            assert isinstance(reference.terminal, TurnRef)
            said = self._said[reference.terminal.turn]
            items, distinct = item_nodes(side)
            if not distinct and [item.terminal for item in items] == [
                DerivedRef(0, n) for n in range(len(said.names))
            ]:
                return self._plain_mention(reference.terminal.turn), said
        things = self._things_of(side)
        return f"the {self._described(side)}", Said(things.names, things.plain, False, things.times)

    def _put_together(self, tree: Node) -> tuple[str, Said]:
        first, others, _ = tree.children
        if others is not None:
            raise UnsayableError("several values put together")
        item = some(first)
        scope: Scope = (Source(),)
        if item.name == "test":
            condition = child(item, 0)
            left, right = (self._the(child(condition, n), scope) for n in (0, 1))
            sign = self._any(_COMPARED[condition.name])
            return f"is {left} {sign} {right}?", Said(("comparison",), (False,), True)
        if item.name == "minus" and all(child(item, n).name == "previous_value" for n in (0, 1)):
            a, b = (self._noun(child(item, n), scope) for n in (0, 1))
            text = self._ended(
                "what is {a} minus {b}?|subtract {b} from {a}|how much more is {a} than {b}?", a=a, b=b
            )
            return text, Said(("difference",), (False,), True)
        return f"what is {self._the(item, scope)}?", Said(("value",), (False,), True)


def _is_ordered(query: Node) -> bool:
    """Whether a query has ORDER BY or LIMIT."""
    return child(child(query, -1), -1).name != "end"


def _groups(query: Node) -> bool:
    """Whether a query groups."""
    return child(query, -1).name in ("group", "gather")
