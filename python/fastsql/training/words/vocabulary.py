"""Which tokens a Chinese encoder has: pieces of Latin text, characters, and words that texts and the language use most."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LONGEST_WORD = 5
"""Characters of a word; a longer one is read as several."""
_COMMON_CHARACTERS = range(0x4E00, 0xA000)
_LEAST = 4
"""Times that the texts have a word which becomes a token."""
_LATIN_SHARE, _CHARACTER_SHARE, _TEXT_SHARE = 0.18, 0.45, 0.3


def choose_tokens(
    texts: Iterable[str],
    words: Collection[str],
    frequencies: Mapping[str, int],
    latin: Sequence[str],
    size: int,
) -> list[str]:
    """`size` tokens at most, the special ones first.

    Args:
        texts: what is read: questions, labels of schemas. Their characters are all among the tokens where there is room.
        words: words that can be given a place, having glosses.
        frequencies: how often the language uses a word.
        latin: pieces of Latin text of the English encoder, the more frequent ones first.
        size: tokens in all.
    """
    counts = Counter(texts)
    characters = Counter(c for text, count in counts.items() for c in text.lower() for _ in range(count))
    own = [c for c, _ in characters.most_common() if not c.isspace() and not c.isascii()]
    common = sorted((w for w in frequencies if len(w) == 1 and _is_han(w)), key=lambda w: -frequencies[w])
    ascii_tokens = [c for c in string.printable if c.isprintable() and not c.isspace() and c.lower() == c]
    kept = list(dict.fromkeys([*SPECIAL, *ascii_tokens, *own, *latin[: int(size * _LATIN_SHARE)]]))
    kept = list(dict.fromkeys([*kept, *common]))[
        : max(int(size * (_LATIN_SHARE + _CHARACTER_SHARE)), len(kept))
    ]
    # A text is cut around a character that is no token (`Tokenizer`), so a word of such would never be found.
    known = frozenset(kept)
    choosable = {w for w in words if 1 < len(w) <= LONGEST_WORD and known.issuperset(w) and not w.isascii()}
    used = _used(counts, choosable, frequencies)
    of_texts = [w for w, count in used.most_common() if count >= _LEAST][: int(size * _TEXT_SHARE)]
    of_language = sorted((w for w in choosable if frequencies.get(w)), key=lambda w: -frequencies[w])
    return list(dict.fromkeys([*kept, *of_texts, *of_language]))[:size]


def _used(counts: Counter[str], words: Collection[str], frequencies: Mapping[str, int]) -> Counter[str]:
    """How often the texts have each word, each text cut into the longest words from its start, as the tokens will be."""
    known = {w for w in words if w in frequencies} | {w for w in words if len(w) == 2}
    found: Counter[str] = Counter()
    for text, count in counts.items():
        at = 0
        while at < len(text):
            length = next((n for n in range(LONGEST_WORD, 1, -1) if text[at : at + n] in known), 1)
            found[text[at : at + length]] += count
            at += length
    return Counter({w: n for w, n in found.items() if len(w) > 1})


def _is_han(character: str) -> bool:
    return ord(character) in _COMMON_CHARACTERS
