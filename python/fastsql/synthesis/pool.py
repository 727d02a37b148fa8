"""The schemas that pairs are made over: those of published training sets, and many of our own designs.

A seed and a number give the schemas; each opens on rows, published ones where there are any, else made-up ones. CoSQL's and
QDA-SQL's schemas are Spider's training databases, so they count once.
"""

from __future__ import annotations

import contextlib
import hashlib
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fastsql.datasets import DatabaseFiles, read_examples, with_normal_ranges
from fastsql.datasets.examples import read_json
from fastsql.datasets.profiles import profile_files, read_profiles, with_profiles
from fastsql.execution import Executor, open_executor
from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis.contents import Constraints, Filling, MadeDatabase, suggest
from fastsql.synthesis.contents.compared import (
    compared_values,
    unknown_contents,
    with_those_alike,
    with_values,
)
from fastsql.synthesis.designs import designs, draw_variant
from fastsql.synthesis.designs.reported import is_reported
from fastsql.synthesis.schema.words import CHINESE, ENGLISH
from fastsql.synthesis.source import SynthesisError

DESIGNS, CHASE = "designs", "chase"
KINDS: Mapping[str, float] = MappingProxyType(
    {DESIGNS: 0.5, "spider": 0.2, "bird": 0.1, "wikisql_partial": 0.2, CHASE: 0.3}
)
"""Kinds of schemas, and about how much of a pool is of each beside the others; where there are too few, designs fill up."""
KINDS_OF: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {ENGLISH: tuple(kind for kind in KINDS if kind != CHASE), CHINESE: (DESIGNS, CHASE)}
)
"""The kinds whose things are called in a language."""
_COMPARED = ("bird", "wikisql_partial")
"""Kinds without rows, whose columns get values that their training queries name."""
_ALIKE = ("wikisql_partial",)
"""Those of single tables, where tables alike tell more than the few queries over each."""
_PUBLISHED_ROWS = {"spider": "databases/train_databases.tar.xz"}


@dataclass(frozen=True)
class PooledSchema:
    """A schema of a pool, which `SchemaPool.open` gives rows."""

    kind: str
    schema: Schema
    profile: Profile
    """What questions call its things, which the schema may not tell."""
    fillings: tuple[Filling, ...] | None = None
    constraints: Constraints | None = None
    unknown: frozenset[int] = frozenset()
    """Columns whose cells are made up without a word of what they hold."""

    @property
    def db_id(self) -> str:
        """Its name in what is written."""
        return self.schema.name


@dataclass(frozen=True)
class SchemaRows:
    """The rows of a schema: those of a file, or made up by a seed."""

    of: PooledSchema
    file: Path | None
    seed: str

    @contextlib.contextmanager
    def open(self) -> Iterator[Executor]:
        """An executor on them."""
        one = self.of
        if self.file is not None:
            with open_executor(self.file) as executor:
                yield executor
            return
        with MadeDatabase(
            one.schema, self.seed, fillings=one.fillings, profile=one.profile, constraints=one.constraints
        ) as made:
            yield made.executor


class SchemaPool:
    """Schemas to make pairs over. Use it as a context manager: databases that were unpacked are removed at its end."""

    def __init__(
        self,
        number: int,
        seed: int = 1,
        *,
        folder: Path | None = None,
        kinds: Collection[str] = (),
        held_out: Collection[str] = (),
        language: str = ENGLISH,
        profiles: Path | None = None,
    ) -> None:
        """The same arguments give the same schemas.

        Args:
            number: how many.
            seed: which of them, and what is made up.
            folder: where the data sets lie; none but designs without it.
            kinds: of `KINDS`; without any, those of the language.
            held_out: databases, and designs, that are never taken.
            language: of the designs.
            profiles: a folder with NAME.toml of each published schema that people have written about.

        Raises:
            SynthesisError: a kind is not known, or needs `folder`.
            DatasetError: a data set is not there.
            SchemaError: `profiles` has none of these schemas, or one that is of no use.
        """
        kinds = kinds or KINDS_OF[language]
        unknown = sorted(set(kinds) - set(KINDS))
        if unknown:
            raise SynthesisError(
                f"there are no schemas of kind {unknown[:1]}", remedy=f"Kinds are: {', '.join(KINDS)}."
            )
        published = [kind for kind in KINDS if kind in kinds and kind != DESIGNS]
        if published and folder is None:
            raise SynthesisError(
                "published schemas need the folder of their data sets",
                remedy="Give it, or take designs alone.",
            )
        files = {} if profiles is None else _profile_files(profiles, folder, published)
        self._seed = seed
        self._open = contextlib.ExitStack()
        found: list[PooledSchema] = []
        total = sum(KINDS[kind] for kind in kinds)
        for kind in published:
            assert folder is not None
            # Without designs, what is left over of one kind is taken of the next.
            share = KINDS[kind] / total if DESIGNS in kinds else 1.0
            quota = min(number - len(found), round(number * share))
            found += _published(folder / kind, kind, quota, seed, held_out, files)
        if DESIGNS in kinds:
            found += _designed(number - len(found), seed, language, held_out)
        random.Random(f"{seed}/order").shuffle(found)
        self.schemas: Sequence[PooledSchema] = found
        self._files: dict[str, DatabaseFiles] = {}
        for kind, archive in _PUBLISHED_ROWS.items():
            named = [one.db_id for one in found if one.kind == kind]
            if named and folder is not None:
                self._files[kind] = self._open.enter_context(DatabaseFiles(folder / kind / archive, named))

    def rows_of(self, one: PooledSchema) -> SchemaRows:
        """Where the rows of a schema are, which another process may be told."""
        files = self._files.get(one.kind)
        return SchemaRows(one, None if files is None else files.path(one.db_id), f"{self._seed}/{one.db_id}")

    def open(self, one: PooledSchema) -> contextlib.AbstractContextManager[Executor]:
        """An executor on the rows of a schema."""
        return self.rows_of(one).open()

    def close(self) -> None:
        """Removes what was unpacked."""
        self._open.close()

    def __enter__(self) -> SchemaPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def pool_identity(folder: Path | None, kinds: Collection[str]) -> str:
    """A hash of the data sets that pools of such kinds are drawn from."""
    digest = hashlib.sha256()
    for kind in sorted(set(kinds) - {DESIGNS}):
        assert folder is not None
        for name in ("schemas.json", _train(folder / kind).name, _PUBLISHED_ROWS.get(kind, "")):
            if name:
                digest.update((folder / kind / name).read_bytes())
    return digest.hexdigest()


def _designed(number: int, seed: int, language: str, held_out: Collection[str]) -> list[PooledSchema]:
    """Variants, of all designs of a language alike many."""
    known = [design for design in designs(language) if design.name not in held_out]
    found = []
    for place in range(number):
        round_, which = divmod(place, len(known))
        variant = draw_variant(known[which], f"{seed}_{round_}")
        found.append(
            PooledSchema(DESIGNS, variant.schema, variant.profile, variant.fillings, variant.constraints)
        )
    return found


def _profile_files(profiles: Path, folder: Path | None, published: Sequence[str]) -> dict[str, Path]:
    """The profiles of published schemas, whether they are drawn or not."""
    if not published or folder is None:
        raise SynthesisError(
            "only published schemas take profiles: what people say of a design stands in it",
            where=str(profiles),
            remedy="Leave it out, or name a kind of published schemas.",
        )
    names = [entry["db_id"] for kind in published for entry in read_json(folder / kind / "schemas.json")]
    return profile_files(profiles, names)


def _published(
    folder: Path,
    kind: str,
    number: int,
    seed: int,
    held_out: Collection[str],
    files: Mapping[str, Path],
) -> list[PooledSchema]:
    """Schemas of a training set, drawn among those that its training questions ask of and nothing is reported on."""
    examples = read_examples(_train(folder))
    asked = {example.db_id for example in examples} - set(held_out)
    entries: list[Mapping[str, Any]] = read_json(folder / "schemas.json")
    free = {entry["db_id"]: entry for entry in entries if entry["db_id"] in asked and not _is_reported(entry)}
    chosen = random.Random(f"{seed}/{kind}").sample(sorted(free), min(number, len(free)))
    plain = {name: with_normal_ranges(Schema.from_dict(free[name])) for name in chosen}
    schemas = with_profiles(plain, files)
    profiles = {name: schema.profile for name, schema in schemas.items()} | read_profiles(schemas, files)
    if kind not in _COMPARED:
        return [PooledSchema(kind, schema, profiles[name]) for name, schema in schemas.items()]
    values = compared_values((example.db_id, example.sql or "") for example in examples)
    columns = {name: _column_names(entry) for name, entry in free.items()}
    found = []
    for name, schema in schemas.items():
        own, profile = f"{seed}/{name}", profiles[name]
        known = with_those_alike(name, columns, values) if kind in _ALIKE else values.get(name, {})
        fillings = with_values(schema, profile, suggest(schema, profile, own), known, own)
        unknown = unknown_contents(profile, fillings)
        found.append(PooledSchema(kind, schema, profile, fillings, unknown=unknown))
    return found


def _column_names(entry: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(column["name"].lower() for table in entry["tables"] for column in table["columns"])


def _is_reported(entry: Mapping[str, Any]) -> bool:
    return is_reported([column["name"] for table in entry["tables"] for column in table["columns"]])


def _train(folder: Path) -> Path:
    """The training questions, packed or not."""
    plain = folder / "train.json"
    return plain if plain.is_file() else folder / "train.json.gz"
