"""A context-free grammar of hospital SQL over one schema, in the notations of xgrammar and of llguidance.

It is the subset that gold queries of EHRSQL 2024 need, as sqlglot writes them: one space between words, keywords and
functions in capitals. The schema's names are terminals, and a qualified column is one of its table's. What a context-free
grammar cannot say is left to the model: that a column's table is in scope, that types agree, that an alias exists, that
the sides of a set operation have the same number of columns. Fastsql's automaton enforces all of that.
"""

from __future__ import annotations

if __name__ == "__main__":
    from parts import explain

    explain(__file__)

import json
from collections.abc import Iterable

from fastsql.schema import Schema

RULES = {
    "query": 'simple ((" UNION ALL " | " UNION " | " INTERSECT " | " EXCEPT ") simple)*',
    "simple": '"SELECT " "DISTINCT "? item (", " item)* from? order? limit?',
    "from": '" FROM " source join* (" WHERE " condition)? group?',
    "group": '" GROUP BY " expression (", " expression)* (" HAVING " condition)?',
    "order": '" ORDER BY " key (", " key)*',
    "limit": '" LIMIT " INTEGER (" OFFSET " INTEGER)?',
    "key": 'expression (" ASC" | " DESC")?',
    "item": 'expression (comparison expression)? (" AS " RESULT)?',
    "source": 'TABLE (" AS " SOURCE)? | "(" query ") AS " SOURCE',
    "join": '(" JOIN " | " LEFT JOIN ") source " ON " condition | " CROSS JOIN " source',
    "condition": 'conjunction (" OR " conjunction)*',
    "conjunction": 'test (" AND " test)*',
    "test": '"NOT "? (expression predicate | "(" condition ")")',
    "predicate": 'comparison expression | " BETWEEN " expression " AND " expression | " IS NULL" | " LIKE " STRING'
    ' | " IN (" (query | literal (", " literal)*) ")"',
    "comparison": '" = " | " <> " | " < " | " <= " | " > " | " >= "',
    "expression": 'term ((" + " | " - ") term)*',
    "term": 'factor ((" * " | " / ") factor)*',
    "factor": 'literal | COLUMN | OWN | NAME | call | "(" query ")" | "(" expression ")" | "(" choice ")" | choice',
    "choice": '"CASE WHEN " condition " THEN " expression " ELSE " expression " END"',
    "call": '"COUNT(*)" | ("COUNT(" | "SUM(" | "AVG(" | "MIN(" | "MAX(") "DISTINCT "? expression ")" | time | rank',
    "time": '"STRFTIME(" STRING ", " moment ")" | "DATETIME(" moment (", " STRING)* ")"',
    "moment": 'expression | "CURRENT_TIME"',
    "rank": '("DENSE_RANK()" | "PERCENT_RANK()") " OVER (" order_of ")"',
    "order_of": '"ORDER BY " key (", " key)*',
    "literal": "STRING | NUMBER",
}
"""Nonterminals in EBNF; TERMINALS are in capitals."""

START = "query"
XGRAMMAR_TERMINALS = {
    "STRING": '"\'" ([^\'] | "\'\'")* "\'"',
    "NUMBER": '"-"? [0-9]+ ("." [0-9]+)?',
    "INTEGER": "[0-9]+",
    "SOURCE": '"T" [0-9]+',
    "RESULT": '"C" [0-9]+',
}
LARK_TERMINALS = {
    "STRING": "/'([^']|'')*'/",
    "NUMBER": r"/-?[0-9]+(\.[0-9]+)?/",
    "INTEGER": "/[0-9]+/",
    "SOURCE": "/T[0-9]+/",
    "RESULT": "/C[0-9]+/",
}


def names(schema: Schema, constants: Iterable[str]) -> dict[str, list[str]]:
    """The terminals that are lists of words: tables, columns with their table, bare columns, and named constants."""
    return {
        "TABLE": [table.name for table in schema.tables],
        "COLUMN": [f"{schema.tables[column.table].name}.{column.name}" for column in schema.columns],
        "BARE": sorted({column.name for column in schema.columns}),
        "CONSTANT": sorted(constants),
    }


def xgrammar_ebnf(schema: Schema, constants: Iterable[str] = ()) -> str:
    """The grammar in the EBNF that xgrammar reads."""
    rules = {"root": START, **RULES, **XGRAMMAR_TERMINALS}
    rules |= {name: _alternatives(words) for name, words in names(schema, constants).items()}
    rules |= {"OWN": 'SOURCE "." (BARE | RESULT)', "NAME": "RESULT | CONSTANT"}
    return "\n".join(f"{name} ::= {body}" for name, body in rules.items()) + "\n"


def llguidance_lark(schema: Schema, constants: Iterable[str] = ()) -> str:
    """The grammar in the Lark dialect that llguidance reads; terminals are lexemes of its lexer."""
    lines = [f"start: {START}"]
    lines += [f"{name}: {body}" for name, body in RULES.items()]
    lines += [f"{name}: {body}" for name, body in LARK_TERMINALS.items()]
    lines += [f"{name}: {_alternatives(words)}" for name, words in names(schema, constants).items()]
    lines += ['OWN: SOURCE "." (BARE | RESULT)', "NAME: RESULT | CONSTANT"]
    return "\n".join(lines) + "\n"


def _alternatives(words: Iterable[str]) -> str:
    return " | ".join(json.dumps(word, ensure_ascii=False) for word in words) or '""'
