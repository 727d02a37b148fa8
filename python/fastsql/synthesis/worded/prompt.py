"""What a language model is asked about a form, in the language of the schema's names."""

from __future__ import annotations

from fastsql.synthesis.schema.words import CHINESE
from fastsql.synthesis.worded.form import Form

_ENGLISH = (
    "You reword questions that people ask of a database. Your answer holds the reworded questions alone, one a line.",
    """\
Here is a question in stiff words, with the SQL query that answers it.

Question: {question}
SQL: {sql}
What the names mean:
{names}

Write {count} other questions that the same query answers, as nurses, doctors and administrators would ask.
Some are short, some are in full sentences.
- Each asks for exactly what the query returns: nothing is added, nothing left out.
- {placeholders}
- No SQL, no names of tables or columns as they stand in the query, no numbering, no explanations.""",
    (
        "Marks in brackets stand for values that you are not shown: {marks}. Copy every mark of the question as it is, "
        "as often as it stands there, and invent none."
    ),
    "The question has no value in brackets; add none, and no other value.",
)
_CHINESE = (
    "你的任务是改写人们向数据库提出的问题。回答中只写改写后的问题，每行一个。",
    """\
下面是一个措辞生硬的问题，以及回答它的SQL查询。

问题：{question}
SQL：{sql}
名称的含义：
{names}

请用中文写出{count}个由同一查询回答的其他问题，像护士、医生和管理人员那样提问，有的简短，有的完整。
- 每个问题问的正是查询所返回的内容，不增加，不遗漏。
- {placeholders}
- 不写SQL，不照抄查询中的表名和列名，不编号，不解释。""",
    "方括号中的标记代表没有给出的值：{marks}。问题中的每个标记都要原样照抄，出现次数相同，不得自造标记。",
    "问题中没有方括号标记；不要添加标记，也不要添加其他值。",
)


def messages_for(form: Form, count: int, language: str) -> list[dict[str, str]]:
    """The messages that ask for `count` wordings of a form."""
    system, text, marked, unmarked = _CHINESE if language == CHINESE else _ENGLISH
    marks = "、" if language == CHINESE else ", "
    asked = text.format(
        question=form.question,
        sql=form.sql,
        names="\n".join(f"{name}: {called}" for name, called in form.names.items()),
        count=count,
        placeholders=marked.format(marks=marks.join(form.literals)) if form.literals else unmarked,
    )
    return [{"role": "system", "content": system}, {"role": "user", "content": asked}]
