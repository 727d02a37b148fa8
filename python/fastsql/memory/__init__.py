"""Remembered pairs: questions with SQL that somebody confirmed, which count at once and train nothing.

    Wording (a question with gaps for its literals) -> Example (with its program and vector) -> Memory

`fastsql.parser.recall` asks it for each question. After DAIL-SQL's retrieval by masked questions
(Gao et al., VLDB 2024, section 3.2), with the pair's query itself in place of a prompt.
"""
