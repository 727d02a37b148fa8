"""WordPiece tokens with their place in the question, by the `tokenizers` library."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import LimitError, ModelError

TEXT_TOKENS = 32
"""Labels and schema values are cut after this many tokens: what tells them apart comes first."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """A tokenized question: `ids` int32[Q] and `offsets` int32[Q, 2] in characters, without [CLS] and [SEP]."""

    ids: NDArray[np.int32]
    offsets: NDArray[np.int32]


class Tokenizer:
    """Turns text to token ids. Thread-safe; pickles as the JSON text it was made from."""

    def __init__(self, json_text: str, max_tokens: int = 510) -> None:
        """`json_text` is the content of a `tokenizer.json`; raises `ModelError` if it is none."""
        from tokenizers import Tokenizer as Backend

        self.json_text = json_text
        self.max_tokens = max_tokens
        try:
            backend = Backend.from_str(json_text)
        except Exception as error:  # the library raises bare Exception for every kind of bad file
            raise ModelError(
                "it describes no tokenizer", where="tokenizer.json", remedy="Get the model bundle anew."
            ) from error
        backend.no_truncation()
        backend.no_padding()
        cls, sep = backend.token_to_id("[CLS]"), backend.token_to_id("[SEP]")
        if cls is None or sep is None:
            raise ModelError("the tokens [CLS] and [SEP] are missing", where="tokenizer.json")
        self.cls: int = cls
        self.sep: int = sep
        self.vocabulary: int = backend.get_vocab_size()
        self._backend = backend

    @classmethod
    def from_file(cls, path: str | Path, max_tokens: int = 510) -> Tokenizer:
        """Read a `tokenizer.json`; raises `ModelError` if it cannot be read or is none."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ModelError("it cannot be read", where=str(path)) from error
        return cls(text, max_tokens)

    def __getstate__(self) -> dict[str, Any]:
        return {"json_text": self.json_text, "max_tokens": self.max_tokens}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["json_text"], state["max_tokens"])  # type: ignore[misc]

    def tokenize(self, question: str) -> Tokens:
        """Tokens of a question; `LimitError` if the encoder has fewer positions than it has tokens."""
        encoding = self._backend.encode(question, add_special_tokens=False)
        if len(encoding.ids) > self.max_tokens:
            raise LimitError(
                f"{len(encoding.ids):,} tokens are more than the {self.max_tokens:,} that the model reads",
                where="question",
                remedy="Ask a shorter question.",
            )
        return Tokens(
            np.asarray(encoding.ids, dtype=np.int32),
            np.asarray(encoding.offsets, dtype=np.int32).reshape(-1, 2),
        )

    def encode_texts(self, texts: list[str]) -> list[list[int]]:
        """Ids of short texts with [CLS] and [SEP], each cut after `TEXT_TOKENS` tokens."""
        encodings = self._backend.encode_batch(texts, add_special_tokens=False)
        return [[self.cls, *encoding.ids[:TEXT_TOKENS], self.sep] for encoding in encodings]
