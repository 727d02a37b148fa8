"""Words that stand for something said before, and those that only look so."""

from __future__ import annotations

import pytest

from fastsql.refusal.references import first_reference


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("How many of those are women?", "those"),
        ("Their last creatinine", "Their"),
        ("when was he discharged?", "he"),
        ("Show them by age", "them"),
        ("其中女性有多少？", "其中"),
        ("他们的年龄", "他们"),
        ("Those patients who were discharged", None),
        ("List those with sepsis", None),
        ("How many patients have pneumonia?", None),
        ("What is the theme of the shelter?", None),
        ("其他药物有哪些？", None),
    ],
)
def test_the_first_word_that_refers(question: str, word: str | None) -> None:
    found = first_reference(question)
    assert (None if found is None else question[found:].startswith(word or "")) == (
        None if word is None else True
    )
