"""From word pieces back to text: values as the database writes them, labels of any script, punctuation in its place."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator

from fastsql.model.tokenizer import Tokenizer
from fastsql.reverse.generation import Written
from fastsql.reverse.source import Source

_CLOSING = frozenset(".,;:?!)]}%，。；：？！）】")
_OPENING = frozenset("([{$#（【")
_TIGHT = frozenset("-/_@")
"""Signs without a space on either side."""
_QUOTES = frozenset("\"'`")
_CONTRACTED = frozenset(("s", "t", "re", "ve", "ll", "d", "m"))
_BETWEEN_DIGITS = frozenset(":.,")
_SPECIAL = re.compile(r"\[\w+\]")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


class Wording:
    """Turns written pieces to questions."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        described = json.loads(tokenizer.json_text)["model"]
        self._pieces: dict[int, str] = {number: piece for piece, number in described["vocab"].items()}
        self._more: str = described["continuing_subword_prefix"]
        self.unknown: int = described["vocab"][described["unk_token"]]

    @property
    def special(self) -> tuple[int, ...]:
        """Pieces that stand for no text."""
        return tuple(number for number, piece in self._pieces.items() if _SPECIAL.fullmatch(piece))

    def text(self, written: Written, source: Source) -> str:
        """The question as people write it, its first letter large."""
        text = _joined(list(self._words(written, source)))
        return text[:1].upper() + text[1:]

    def _words(self, written: Written, source: Source) -> Iterator[str]:
        """Words and signs. What is copied whole from a span is the span's own text."""
        word, position = "", 0
        pieces = written.pieces
        while position < len(pieces):
            span = self._span(written, position, source)
            if span is not None:
                end, text = span
                if word:
                    yield word
                word, position = "", end
                yield text
                continue
            piece = self._pieces[pieces[position]]
            if piece.startswith(self._more) and word:
                word += piece[len(self._more) :]
            else:
                if word:
                    yield word
                word = piece.removeprefix(self._more)
            position += 1
        if word:
            yield word

    def _span(self, written: Written, position: int, source: Source) -> tuple[int, str] | None:
        """The end and the text of what is copied whole from here on, the longest where there are several.

        A name is written as its table or column is called only where the tokenizer does not know its letters.
        """
        place = written.copied[position]
        found: tuple[int, str] | None = None
        for span in source.spans:
            inside = source.ids[span.start : span.end].tolist()
            end = position + len(inside)
            if not inside or list(written.pieces[position:end]) != inside:
                continue
            if not span.value and self.unknown not in inside:
                continue
            if not span.start <= place < span.end or self._goes_on(written, end):
                continue
            if found is None or end > found[0]:
                found = end, span.text
        return found

    def _goes_on(self, written: Written, end: int) -> bool:
        """Whether a word goes on at `end`."""
        return end < len(written.pieces) and self._pieces[written.pieces[end]].startswith(self._more)


def _joined(words: list[str]) -> str:
    """Words and signs with the spaces between them."""
    text, open_quotes = "", set[str]()
    tight = True  # whether the next word follows without a space
    for position, word in enumerate(words):
        before = words[position - 1] if position else ""
        after = words[position + 1] if position + 1 < len(words) else ""
        if word in _QUOTES and not (
            word == "'" and after in _CONTRACTED and before.isalpha() and word not in open_quotes
        ):
            closes = word in open_quotes
            text += word if tight or closes else f" {word}"
            open_quotes ^= {word}
            tight = not closes
            continue
        numeric = word in _BETWEEN_DIGITS and before[-1:].isdigit() and after[:1].isdigit()
        if word == "'" or word in _TIGHT or numeric:
            text, tight = text + word, True
        elif word in _CLOSING:
            text, tight = text + word, False
        elif word in _OPENING:
            text, tight = text + (word if tight else f" {word}"), True
        else:
            close = tight or (_is_wide(before[-1:]) and _is_wide(word[:1]))
            text, tight = text + (word if close else f" {word}"), False
    return unicodedata.normalize("NFC", text.strip())


def _is_wide(letter: str) -> bool:
    return bool(letter) and _WIDE.match(letter) is not None
