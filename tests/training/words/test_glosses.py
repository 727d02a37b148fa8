"""What a dictionary says of a word, cut down to what translates it."""

from __future__ import annotations

from fastsql.training.words.glosses import MEANINGS, glosses_of


def entry(word: str, pinyin: str, *definitions: str, traditional: str = "") -> dict[str, object]:
    return {
        "simplified": word,
        "traditional": traditional or word,
        "pinyin": pinyin,
        "definitions": list(definitions),
    }


def test_asides_and_articles_go() -> None:
    found = glosses_of([entry("患者", "huan4 zhe3", "a patient", "(old) sufferer", "CL:個|个[ge4]")])
    assert found == {"患者": ("patient", "sufferer")}


def test_simplified_and_traditional_writing_are_known() -> None:
    found = glosses_of([entry("医院", "yi1 yuan4", "hospital", "CL:所[suo3]", traditional="醫院")])
    assert found == {"医院": ("hospital",), "醫院": ("hospital",)}


def test_a_name_comes_behind_what_the_word_means() -> None:
    entries = [
        entry("马", "Ma3", "surname Ma", "abbr. for Malaysia 馬來西亞"),
        entry("马", "ma3", "horse"),
        entry("王", "Wang2", "Wang dynasty"),
        entry("王", "wang2", "king"),
    ]
    assert glosses_of(entries) == {"马": ("horse",), "王": ("king", "Wang dynasty")}


def test_what_does_not_translate_is_left_out() -> None:
    explained = "to kill a pig as a lesson to the children"
    assert glosses_of([entry("x", "x", "variant of 患", explained, "(...)"), entry("y", "y", "é")]) == {}


def test_few_meanings_are_kept() -> None:
    (kept,) = glosses_of([entry("好", "hao3", "good", "good", "well", "proper", "easy to")]).values()
    assert kept == ("good", "well", "proper")
    assert len(kept) == MEANINGS
