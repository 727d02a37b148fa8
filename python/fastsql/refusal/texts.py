"""What a refusal says, by language: a table of sentences each, chosen by the script of the question.

Another language is another entry of `TEXTS`, with the same keys and the same places for what is filled in, and a rule in
`language_of` that tells its questions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

ENGLISH, CHINESE = "en", "zh"
_IDEOGRAPH = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LATIN = re.compile(r"[^\W\d_\u3400-\u9fff\uf900-\ufaff]+")
_LONGEST_QUOTE = 80

TEXTS: dict[str, dict[str, str]] = {
    ENGLISH: {
        "no question": "There is no question in this text.",
        "only values": "This names a value, but does not say what is asked about it.",
        "antecedent unclear": "This refers to something said before, and it is not clear to what.",
        "no antecedent": "This refers to an earlier question, but none has an answer that it could refer to.",
        "uncalibrated": "This model was never calibrated: its confidence says little. "
        "Run fastsql calibrate, or ask with penalty=0.",
        "no answer": "This question probably has no answer in this schema (probability {u:.2f}).",
        "doubt": "The confidence of {p} is below the {needed} that penalty {penalty:g} asks for.",
        "fault": "The SQL that was written did not pass verification ({what}).",
        "failed": "The query could not be run.",
        "void": "The query's answer is empty, NULL or 0.",
        "all failed": "None of the queries could be run, so that no answer was looked at.",
        "near value": "No value like {words} in {column}; the nearest are {nearest}.",
        "near value, one": "No value like {words} in {column}; the nearest is {nearest}.",
        "near elsewhere": "No known value is {words}; the nearest are {nearest}.",
        "near elsewhere, one": "No known value is {words}; the nearest is {nearest}.",
        "held elsewhere": "{column} has no value {words}, but {where} has it.",
        "no row": "No row of {table} has {column} = {words}.",
        "no such row": "No row of {table} has {conditions}.",
        "condition": "{column} = {words}",
        "uncomputed": "No query that could be written computes {words}.",
        "no such period": "No query that was found says {words}.",
        "no such name": "Nothing in this schema is called {words}.",
        "guess": "Did you mean: {description}?",
        "readings": "This can be read in several ways: {descriptions}.",
        "quoted": "'{}'",
        "value in column": "{value} ({column})",
        "between": ", ",
        "before last": " and ",
        "before last or": " or ",
        "between readings": "; ",
    },
    CHINESE: {
        "no question": "这段文字里没有问题。",
        "only values": "这里只有一个值，没有说明要问什么。",
        "antecedent unclear": "这个问题指的是之前说过的内容，但不清楚是哪一个。",
        "no antecedent": "这个问题指的是之前的问题，但之前没有可以参照的答案。",
        "uncalibrated": "这个模型没有校准过，它的置信度说明不了什么。请运行 fastsql calibrate，或用 penalty=0 提问。",
        "no answer": "这个问题在此数据库结构中很可能没有答案（概率 {u:.2f}）。",
        "doubt": "置信度 {p} 低于 penalty {penalty:g} 所要求的 {needed}。",
        "fault": "写出的 SQL 没有通过验证（{what}）。",
        "failed": "查询无法运行。",
        "void": "查询的结果为空、NULL 或 0。",
        "all failed": "所有查询都无法运行，因此没有查看任何结果。",
        "near value": "{column} 中没有与{words}相同的值，最接近的是{nearest}。",
        "near value, one": "{column} 中没有与{words}相同的值，最接近的是{nearest}。",
        "near elsewhere": "没有已知的值是{words}，最接近的是{nearest}。",
        "near elsewhere, one": "没有已知的值是{words}，最接近的是{nearest}。",
        "held elsewhere": "{column} 中没有{words}，但 {where} 中有。",
        "no row": "{table} 中没有 {column} = {words} 的行。",
        "no such row": "{table} 中没有 {conditions} 的行。",
        "condition": "{column} = {words}",
        "uncomputed": "能写出的查询都无法计算{words}。",
        "no such period": "找到的查询都没有表示{words}。",
        "no such name": "此数据库结构中没有叫{words}的内容。",
        "guess": "您的意思是：{description}？",
        "readings": "这个问题可以有几种理解：{descriptions}。",
        "quoted": "“{}”",
        "value in column": "{value}（{column}）",
        "between": "、",
        "before last": "和",
        "before last or": "或",
        "between readings": "；",
    },
}
"""Each sentence by its key; what stands in braces is filled in."""


def language_of(question: str) -> str:
    """The language in which a refusal answers: Chinese where its characters outnumber the words of other scripts."""
    return CHINESE if len(_IDEOGRAPH.findall(question)) > len(_LATIN.findall(question)) else ENGLISH


def sentence(language: str, key: str, **parts: object) -> str:
    """A sentence with its parts filled in."""
    return TEXTS[language][key].format(**parts)


def quoted(language: str, words: str) -> str:
    """Words of the question, or a value, between quotation marks; long ones are cut."""
    shown = words if len(words) <= _LONGEST_QUOTE else f"{words[: _LONGEST_QUOTE - 3]}..."
    return TEXTS[language]["quoted"].format(shown)


def listed(language: str, items: Sequence[str], last: str = "before last") -> str:
    """Items as a list in a sentence; `last` is the key of what stands before the last one."""
    texts = TEXTS[language]
    head = texts["between"].join(items[:-1])
    return f"{head}{texts[last]}{items[-1]}" if head else items[-1]
