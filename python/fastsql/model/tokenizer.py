"""WordPiece tokens with their place in the question, by the `tokenizers` library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import LimitError, ModelError

_REMEDY = "Install the model bundle again."
_LONGEST_PREFIX = 8
"""Characters that mark a piece which continues a word; BERT's are "##"."""
_RUN = 64
"""Characters of a run without blanks, in a language that writes none between words."""
TEXT_TOKENS = 32
"""Labels and schema values are cut after this many tokens: what tells them apart comes first."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """A tokenized question: `ids` int32[Q] and `offsets` int32[Q, 2] in characters, without [CLS] and [SEP]."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int32]


class Tokenizer:
    """Turns text to token ids. Thread-safe; pickles as the JSON text it was made from.

    It is BERT's: WordPiece over words that `BertPreTokenizer` splits. Of all that the library can be told to do, only this
    is known to give every text tokens with a place in it, at a cost that grows with the text alone. Where pieces within a
    word have no prefix, the language is one that writes no blanks, such as Chinese: a run of characters is cut into the
    longest tokens from its start on.
    """

    def __init__(self, json_text: str, max_tokens: int = 510, id_limit: int | None = None) -> None:
        """`json_text` is the content of a `tokenizer.json`; ids are below `id_limit`, or what the tokenizer likes.

        Raises ModelError if it cannot be read, is not like BERT's, or lacks a token that every text needs.
        """
        from tokenizers import Tokenizer as Backend

        self.json_text = json_text
        self.max_tokens = max_tokens
        self.id_limit = id_limit
        try:
            backend = Backend.from_str(json_text)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # the library raises bare Exception, and its panics are not even that
            raise _damaged("it describes no tokenizer") from error
        _check_kind(backend)
        backend.no_truncation()
        backend.no_padding()
        cls, sep = backend.token_to_id("[CLS]"), backend.token_to_id("[SEP]")
        if cls is None or sep is None:
            raise _damaged("the tokens [CLS] and [SEP] are missing")
        self.cls: int = cls
        self.sep: int = sep
        self.vocabulary: int = backend.get_vocab_size()
        self._backend = backend
        self._unspaced = not backend.model.continuing_subword_prefix
        self._check_ids([cls, sep])

    @classmethod
    def from_file(cls, path: str | Path, max_tokens: int = 510, id_limit: int | None = None) -> Tokenizer:
        """Read a `tokenizer.json`; raises `ModelError` if it cannot be read."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError("it cannot be read", where=str(path), remedy=_REMEDY) from error
        return cls(text, max_tokens, id_limit)

    def __getstate__(self) -> dict[str, Any]:
        return {"json_text": self.json_text, "max_tokens": self.max_tokens, "id_limit": self.id_limit}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def _check_ids(self, ids: list[int]) -> None:
        """Raise ModelError for an id that the encoder has no row for.

        Asked of the tokens that a text has: to ask it of the whole vocabulary would take a tenth of the time of loading.
        """
        if self.id_limit is not None and ids and max(ids) >= self.id_limit:
            raise _damaged(f"it has ids beyond the {self.id_limit:,} of the encoder")

    def ids_of(self, tokens: Sequence[str]) -> list[int | None]:
        """The id of each token; None for one that the vocabulary lacks."""
        return [self._backend.token_to_id(token) for token in tokens]

    def tokenize(self, question: str) -> Tokens:
        """Tokens of a question.

        Raises LimitError if the encoder has fewer positions than it has tokens, ModelError if it has no row for one of them.
        """
        spaced, origin = self._spaced(question) if self._unspaced else (question, None)
        encoding = self._encoded(self._backend.encode, spaced)
        ids: list[int] = encoding.ids
        if len(ids) > self.max_tokens:
            raise LimitError(
                f"{len(ids):,} tokens are more than the {self.max_tokens:,} that the model reads",
                where="question",
                remedy="Ask a shorter question.",
            )
        self._check_ids(ids)
        offsets = np.asarray(encoding.offsets, dtype=np.int32).reshape(-1, 2)
        if origin is not None:
            offsets = np.stack([origin[offsets[:, 0]], origin[offsets[:, 1] - 1] + 1], axis=1)
        return Tokens(np.asarray(ids, dtype=np.int32), offsets)

    def encode_texts(self, texts: list[str]) -> list[list[int]]:
        """Ids of short texts with [CLS] and [SEP], each cut after `TEXT_TOKENS` tokens; ModelError as for `tokenize`."""
        if self._unspaced:
            texts = [self._spaced(text)[0] for text in texts]
        cut = [encoding.ids[:TEXT_TOKENS] for encoding in self._encoded(self._backend.encode_batch, texts)]
        for ids in cut:
            self._check_ids(ids)
        return [[self.cls, *ids, self.sep] for ids in cut]

    def _spaced(self, text: str) -> tuple[str, NDArray[np.int32]]:
        """A text with blanks around what is no token, and after every `_RUN` characters without one.

        WordPiece reads a whole run of characters as unknown where it does not know one of them, and takes a time that grows
        with the cube of its length. Also the place that each character had before, int32[characters].
        """
        known = self._backend.token_to_id
        pieces: list[str] = []
        origin: list[int] = []
        run = 0
        for place, character in enumerate(text):
            alone = not character.isascii() and known(character) is None
            if alone or run == _RUN:
                pieces.append(" ")
                origin.append(place)
                run = 0
            pieces.append(character)
            origin.append(place)
            run = 0 if character == " " else run + 1
            if alone:
                run = _RUN
        return "".join(pieces), np.asarray(origin, dtype=np.int32)

    def _encoded(self, encode: Any, text: str | list[str]) -> Any:
        """What the library makes of a text; ModelError where its own state keeps it from that."""
        try:
            return encode(text, add_special_tokens=False)
        except (KeyboardInterrupt, SystemExit, TypeError, UnicodeError):
            raise
        except BaseException:  # noqa: BLE001, S110 - as when it is read; left behind, since a message may repeat the text
            pass
        raise _damaged("it cannot split a text")


def _check_kind(backend: Any) -> None:
    """Raise ModelError unless a tokenizer of the library is BERT's."""
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    model = backend.model
    if not isinstance(model, WordPiece):
        raise _damaged(f"it is {type(model).__name__}, not WordPiece")
    if not isinstance(backend.pre_tokenizer, BertPreTokenizer):
        raise _damaged("its pre-tokenizer is not BertPreTokenizer")
    if not isinstance(backend.normalizer, (BertNormalizer, type(None))):
        raise _damaged("its normalizer is not BertNormalizer")
    if len(model.continuing_subword_prefix) > _LONGEST_PREFIX:
        raise _damaged("its prefix of continuing pieces is too long")
    if model.token_to_id(model.unk_token) is None:
        raise _damaged("its token for unknown words is missing")


def _damaged(what: str) -> ModelError:
    return ModelError(what, where="tokenizer.json", remedy=_REMEDY)
