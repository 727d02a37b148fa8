"""A corpus in one file: prepared where the data and the time for it are, learnt from on another machine."""

from __future__ import annotations

import gc
import io
import lzma
import pickle
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from fastsql.linking.candidates import find_candidates
from fastsql.linking.dictionary import ValueDictionary
from fastsql.schema import Schema
from fastsql.synthesis.generate import Report
from fastsql.training.config import ConfigError, TrainConfig
from fastsql.training.corpus.corpus import Corpus
from fastsql.training.corpus.lexicon import PoolKey
from fastsql.whole_file import write_whole

SUFFIX = ".corpus"
"""How the names of such files end."""
_MAGIC = b"fastsql corpus 1\n"
_PLAIN = {("builtins", "frozenset"), ("builtins", "set"), ("pathlib", "PosixPath")}
_OURS = {
    "fastsql.grammar.program",
    "fastsql.linking.dictionary",
    "fastsql.linking.value_index",
    "fastsql.linking.value_table",
    "fastsql.schema.model",
    "fastsql.schema.schema",
    "fastsql.training.config",
    "fastsql.training.corpus.corpus",
    "fastsql.training.corpus.packed",
    "fastsql.training.corpus.sample",
    "fastsql.training.corpus.sources",
    "fastsql.training.corpus.split",
}
"""Modules whose classes a corpus consists of."""
_ALL = 1_000_000
"""Of the candidates of a question none is left out."""
_Part = tuple[str, Schema, ValueDictionary, list[str], Mapping[PoolKey, list[str]]]


@dataclass(frozen=True)
class Packed:
    """What a run needs of its data: the configuration that they were read by, the corpus, and `lengths` of its train part
    (`fastsql.training.batches.maker.lengths_of`), where they are known.
    """

    config: TrainConfig
    corpus: Corpus
    lengths: list[int] | None = None

    def with_said_values(self, processes: int, report: Report) -> Packed:
        """The same with dictionaries of the values alone that its questions can say, a small part of them.

        Those are the ones that are found in its questions, and those that `Corpus.pools` puts in their places. What else is
        in a database's dictionary no version of any example says, but for one that resembles a value by chance.
        """
        corpus = self.corpus
        asked: defaultdict[str, set[str]] = defaultdict(set)
        for sample in (*corpus.train, *corpus.dev_conversations, *chain.from_iterable(corpus.dev.values())):
            asked[sample.pair.db_id] |= {sample.pair.question, *(text for text, _ in sample.earlier)}
        parts = [
            (name, corpus.domains[name].schema, dictionary, sorted(asked[name]), corpus.pools.get(name, {}))
            for name in sorted(asked, key=lambda name: -len(asked[name]))
            if (dictionary := corpus.domains[name].dictionary) is not None
        ]
        said: dict[str, ValueDictionary] = {}
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            for name, found in pool.map(_said, parts, chunksize=4):
                said[name] = found
                if len(said) % 1000 == 0:
                    report(f"values of {len(said)} of {len(parts)} databases looked up")
        domains = {
            name: replace(domain, dictionary=said.get(name)) for name, domain in corpus.domains.items()
        }
        return replace(self, corpus=replace(corpus, domains=domains))


def write_packed(packed: Packed, file: Path) -> None:
    """Writes the file, its owner's alone to read, in place of one that lies there once it is whole. Raises OSError."""
    # What many examples and variants of a schema have in common lies far apart.
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 3, "dict_size": 1 << 27}]
    content = lzma.compress(pickle.dumps(packed, protocol=5), filters=filters)
    write_whole(file, _MAGIC + content, private=True)


def read_packed(file: Path) -> Packed:
    """Reads such a file. Raises ConfigError where it is damaged, or another version of fastsql wrote it."""
    try:
        with file.open("rb") as source:
            if source.read(len(_MAGIC)) != _MAGIC:
                raise ConfigError("is no packed corpus", where=str(file), remedy="Make one with --pack.")
            with lzma.open(source) as stream, _without_collecting():
                packed = _Reader(io.BytesIO(stream.read())).load()
    except OSError as error:
        raise ConfigError(f"cannot be read ({error.strerror})", where=str(file)) from error
    except (
        lzma.LZMAError,
        EOFError,
        pickle.UnpicklingError,
        AttributeError,
        ImportError,
        TypeError,
        ValueError,
        KeyError,
    ) as error:
        raise ConfigError(
            f"is damaged or of another version ({type(error).__name__})",
            where=str(file),
            remedy="Make it again with --pack.",
        ) from error
    if not isinstance(packed, Packed):
        raise ConfigError("is no packed corpus", where=str(file), remedy="Make one with --pack.")
    return packed


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Within, nothing looks for garbage: among millions of new objects, all of which stay, that takes twice the time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


class _Reader(pickle.Unpickler):
    """Makes objects of the classes of a corpus and plain containers only: a file is data, not a program."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        # A name with a dot, or one that a module has imported, leads to what is not its own.
        found = super().find_class(module, name) if module in _OURS and "." not in name else None
        if not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name} is not a part of a corpus")
        return found


def _said(part: _Part) -> tuple[str, ValueDictionary]:
    """The name of a database, and the part of its dictionary that these questions and pools can say."""
    name, schema, dictionary, questions, pools = part
    said: defaultdict[str, set[int]] = defaultdict(set)
    for question in questions:
        for candidate in find_candidates(question, schema, dictionary, limit=_ALL):
            if candidate.source == "dictionary" and isinstance(candidate.value, str):
                said[candidate.value].update(candidate.columns)
    for (table, column, *_), texts in pools.items():
        number = schema.column_index(table, column)
        for text in texts:
            value = dictionary.canonical(number, text)
            if value is not None:
                said[value].add(number)
    values = {value: tuple(sorted(columns)) for value, columns in sorted(said.items())}
    return name, ValueDictionary(values, schema, forms=dictionary.forms)
