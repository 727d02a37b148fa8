"""Answers of a language model on disk, so that nothing is asked twice. They hold placeholders, and no value."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_MODEL = "model"


class KeptAnswers:
    """A file of one record a line, to which each answer is added when it has come."""

    def __init__(self, path: Path) -> None:
        """Reads what is there. A last line that was cut off when a process was killed is none, and is written over."""
        self._path = path
        self._answers: dict[str, str] = {}
        self._model = ""
        self._whole = 0
        for record, end in _records(path):
            self._whole = end
            if _MODEL in record:
                self._model = record[_MODEL]
            else:
                self._answers[record["of"]] = record["answer"]

    @property
    def model(self) -> str:
        """The model that was asked before; "" for none."""
        return self._model

    @model.setter
    def model(self, name: str) -> None:
        self._add({_MODEL: name})
        self._model = name

    def get(self, key: str) -> str | None:
        """The answer of a key."""
        return self._answers.get(key)

    def put(self, key: str, answer: str) -> None:
        """Keeps an answer."""
        self._add({"of": key, "answer": answer})
        self._answers[key] = answer

    def _add(self, record: Mapping[str, str]) -> None:
        line = json.dumps(record).encode() + b"\n"
        with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.truncate(self._whole)
            file.seek(self._whole)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._whole += len(line)


def key_of(model: str, messages: Sequence[Mapping[str, str]], settings: Mapping[str, float]) -> str:
    """What an answer depends on, as one short text."""
    asked = json.dumps([model, list(messages), dict(settings)], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()


def _records(path: Path) -> Iterator[tuple[dict[str, str], int]]:
    """The records of a file, each with where its line ends; up to the first line that is none."""
    if not path.exists():
        return
    end = 0
    for line in path.read_bytes().splitlines(keepends=True):
        end += len(line)
        try:
            record = json.loads(line)
        except ValueError:
            return
        good = line.endswith(b"\n") and isinstance(record, dict) and {*record} in ({_MODEL}, {"of", "answer"})
        if not good or not all(isinstance(value, str) for value in record.values()):
            return
        yield record, end
