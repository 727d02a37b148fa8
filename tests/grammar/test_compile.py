"""The grammar compiler: what a grammar file may say, what it must not, and what it is compiled to."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from fastsql.grammar import load_grammar
from fastsql.grammar.compile import EFFECTS, GrammarError, compile_grammar


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  go\n", "line 1: an alternative before the first symbol"),
        ("start\n  go\nstart\n  go\n", "line 3: symbol 'start' is defined twice"),
        ("start\n  go missing\n", "line 2: there is no symbol 'missing'"),
        ("", "there is no symbol"),
        ("start\n", "symbol 'start' has no alternative"),
        ("start\n  go\nempty\nlast\n  no\n", "symbol 'empty' has no alternative"),
        ("start\n  [time]\n", "line 2: an alternative that says nothing"),
        ("start\n  go [time\n", "line 2: the bracket is not closed"),
        ("start\n  =\n", "line 2: '=' with 0 children"),
        ("start\n  go\n  - start\n", "line 3: '-' with 1 children"),
        ("start\n  @nowhere\n", "line 2: unknown pointer '@nowhere'"),
        ("start\n  go !magic\n", "line 2: unknown semantic action '!magic'"),
        ("start\n  go [moon]\n", "line 2: unknown requirement ['moon']"),
        ("start\n  go start\n", "symbol 'start' can never be completed"),
        ("start\n  = other\nother\n  = start\n", "can never be completed"),
        ("start\n  = start\n  go\n", "symbol 'start' stands for itself: start -> start"),
        ("start\n  = other\n  go\nother\n  = start\n  no\n", "stands for itself: start -> other -> start"),
        ("start\n  go\n  go start\n", "two alternatives of 'start' begin with the same action"),
        ("start\n  @table\n  @table start\n", "two alternatives of 'start' begin with the same action"),
        (
            "start\n  = other\n  go\nother\n  go\n  no\n",
            "two alternatives of 'start' begin with the same action",
        ),
        (
            "start\n  go list more\nlist\n  more list\n  -\nmore\n  more\n",
            "after 'list' one cannot tell whether it was left out: ['more']",
        ),
        (
            "start\n  go list\nlist\n  @table list more\n  -\nmore\n  @table\n",
            "after 'list' one cannot tell whether it was left out: ['@table']",
        ),
        (
            "start\n  go list !item end\nlist\n  more list\n  -\nend\n  end\n",
            "in 'start' a semantic action follows 'list', which may be empty",
        ),
        (
            "start\n  go tail !item\ntail\n  more list\nlist\n  also list\n  -\n",
            "in 'start' a semantic action follows 'tail', which may be empty",
        ),
        (
            "start\n  short [9]\n  long more\nmore\n  more\n",
            "the cheapest way to complete 'start' nests deeper",
        ),
    ],
)
def test_a_malformed_grammar_is_refused_by_line_or_symbol(text: str, message: str) -> None:
    with pytest.raises(GrammarError) as refusal:
        compile_grammar(text)
    assert message in str(refusal.value)


def test_comments_blank_lines_and_indentation_do_not_matter() -> None:
    plain = compile_grammar("start\n  go more\nmore\n  more\n")
    assert (
        compile_grammar("# head\n\nstart # the start\n\n      go more  # on\n  # no\nmore\n\tmore\n") == plain
    )


def test_unit_alternatives_are_inlined_with_what_follows_and_what_they_require() -> None:
    grammar = compile_grammar(
        "start\n  = inner !item end [time 2]\ninner\n  go end [date 3]\n  @table\nend\n  end\n"
    )
    go, table = grammar.alternatives[0]
    end, item = grammar.symbol("end"), -1 - EFFECTS.index("item")
    assert (go.action, go.children) == (grammar.production("go"), (end, item, end))
    assert (go.requires, go.weight) == ({"time", "date"}, 5)
    assert (table.pointer, table.children, table.requires, table.weight) == (
        "table",
        (item, end),
        {"time"},
        2,
    )


def test_costs_count_the_fewest_actions() -> None:
    grammar = compile_grammar(
        "start\n  go list end\n  @column end\nlist\n  more list\n  -\nend\n  end\n  stop end\n"
    )
    assert dict(zip(grammar.symbols, grammar.cost, strict=True)) == {"start": 2, "list": 0, "end": 1}
    # A column may need one more action, which of its sources is meant; what can be left out costs nothing.
    assert [alternative.cost for alternative in grammar.alternatives[0]] == [2, 3]


def test_of_two_equally_short_ways_the_shallower_counts() -> None:
    grammar = compile_grammar("start\n  go [9]\n  wrap start [1]\n  no [2]\n")
    assert [alternative.nesting for alternative in grammar.alternatives[0]] == [9, 3, 2]


def test_nesting_is_the_weight_of_the_deepest_child() -> None:
    grammar = compile_grammar("start\n  go one two [2]\none\n  one [3]\ntwo\n  two start [4]\n  end [1]\n")
    assert grammar.alternatives[0][0].nesting == 2 + 3
    assert [alternative.nesting for alternative in grammar.alternatives[2]] == [4 + 5, 1]


def test_symbols_and_productions_are_numbered_in_the_order_of_the_file() -> None:
    grammar = compile_grammar("start\n  b more\n  a\nmore\n  c\n  b\n")
    assert grammar.symbols == ("start", "more")
    assert grammar.productions == ("b", "a", "c")
    assert [grammar.symbol(name) for name in grammar.symbols] == [0, 1]
    assert [grammar.production(name) for name in grammar.productions] == [0, 1, 2]
    with pytest.raises(KeyError):
        grammar.symbol("a")


def test_a_grammar_can_be_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "toy.grammar"
    file.write_text("起点\n  走\n", encoding="utf-8")
    assert load_grammar(file).productions == ("走",)


def test_the_grammar_that_comes_with_fastsql_is_the_one_that_models_know() -> None:
    """A bundle refers to productions and symbols by number: to add, rename or move one calls for a new model."""
    grammar = load_grammar()
    names = "\n".join((*grammar.productions, "", *grammar.symbols))
    assert sha256(names.encode()).hexdigest()[:16] == "0b2585b524f995cd"
    assert grammar.cost[0] == 4  # a table, a column of one of its sources, end
