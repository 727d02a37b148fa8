"""Question/SQL pairs in the uniform form: a JSON list of ``{id, db_id, question, sql, ...}``, plain or gzipped.

``sql`` is null where the question is to be refused. Sets whose SQL is in a form of its own (css) give one that SQLite
runs as ``sql_sqlite``, null where there is none.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from fastsql.errors import FastSQLError

SplitEntry: TypeAlias = "str | tuple[str, str]"
"""What a split lists: an example's id, its or its conversation's (database, id), or a database: all its examples."""

_FIELDS = frozenset({"id", "db_id", "question", "sql", "sql_sqlite", "answer", "template"})


class DatasetError(FastSQLError):
    """A file of a data set cannot be read, or does not have the uniform form."""


@dataclass(frozen=True)
class Example:
    """One question with its gold SQL.

    `sql` is None where the question is to be refused. `runs` is False where the gold SQL is known to run in no SQLite
    form. `answer` is the published result as a string, where the set has one; `extra` holds the fields that only some
    sets have.
    """

    id: str
    db_id: str
    question: str
    sql: str | None
    answer: str | None = None
    template: str | None = None
    runs: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def answerable(self) -> bool:
        """Whether SQL, and not a refusal, is the right response."""
        return self.sql is not None


def read_json(path: Path) -> Any:
    """The content of a JSON file, unpacked on the way if its name ends in ``.gz``.

    Raises:
        DatasetError: the file is missing, unreadable, or not JSON.
    """
    try:
        raw = path.read_bytes()
        return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    except FileNotFoundError as error:
        raise DatasetError("no such file", where=str(path), remedy="Check the path.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"cannot be read ({error})", where=str(path), remedy="Check the file.") from error
    except ValueError as error:
        kind = type(error).__name__
        raise DatasetError(
            f"is not JSON ({kind})", where=str(path), remedy="Give a JSON or .json.gz file."
        ) from error


def read_examples(path: str | Path, *, ids: Collection[SplitEntry] | None = None) -> tuple[Example, ...]:
    """The examples of a file in their order; only those of `ids`, where given.

    A (database, id) that is not in the file is passed over, as training lists what it held out of all its sets in one
    file. The id of a conversation stands for its turns.

    Raises:
        DatasetError: the file does not have the uniform form, or an entry of `ids` is not in it.
    """
    path = Path(path)
    items = read_json(path)
    if not isinstance(items, list):
        raise DatasetError(
            "does not hold a list of examples",
            where=str(path),
            remedy="Give a list of {id, db_id, question, sql}.",
        )
    examples = [_example(item, f"{path}, item {number}") for number, item in enumerate(items)]
    if ids is not None:
        examples = _chosen(examples, frozenset(ids), path)
    return tuple(examples)


def _chosen(examples: list[Example], wanted: frozenset[SplitEntry], path: Path) -> list[Example]:
    def entries(example: Example) -> set[SplitEntry]:
        talk = example.extra.get("interaction", example.id)
        return {example.id, example.db_id, (example.db_id, example.id), (example.db_id, talk)}

    known = set[SplitEntry]().union(*map(entries, examples))
    missing = [entry for entry in wanted if isinstance(entry, str) and entry not in known]
    if missing or wanted.isdisjoint(known):
        named = f", such as {min(missing)!r}" if missing else ""
        raise DatasetError(
            f"{len(missing) or len(wanted)} of {len(wanted)} ids asked for are not in it{named}",
            where=str(path),
            remedy="Give the ids of this file.",
        )
    return [example for example in examples if not wanted.isdisjoint(entries(example))]


def _example(item: Any, where: str) -> Example:
    if not isinstance(item, dict):
        raise DatasetError("is not an object", where=where, remedy="Give {id, db_id, question, sql}.")
    for name in ("id", "db_id", "question"):
        if not isinstance(item.get(name), str):
            raise DatasetError(
                f"has no text under {name!r}", where=where, remedy="Give {id, db_id, question, sql}."
            )
    sql, form = item.get("sql"), item.get("sql_sqlite")
    if "sql" not in item or not all(isinstance(text, str | None) for text in (sql, form)):
        raise DatasetError(
            "has neither text nor null under 'sql'", where=where, remedy="Give null to ask for a refusal."
        )
    answer, template = item.get("answer"), item.get("template")
    return Example(
        id=item["id"],
        db_id=item["db_id"],
        question=item["question"],
        sql=sql if form is None else form,
        answer=answer if isinstance(answer, str) else None,
        template=template if isinstance(template, str) else None,
        runs=form is not None or "sql_sqlite" not in item,
        extra={name: value for name, value in item.items() if name not in _FIELDS},
    )


def read_split_ids(source: str | Path) -> tuple[SplitEntry, ...]:
    """A split from a JSON list, a text file with one id a line, or one list inside a JSON object.

    The list inside an object is named after a colon: ``splits.json:template.dev`` takes ``["template"]["dev"]``, and
    ``held_out.json:databases`` what training wrote of the databases that it held out.

    Raises:
        DatasetError: no such file or list.
    """
    path, inner = Path(source), ""
    if not path.exists() and ":" in str(source):
        head, _, inner = str(source).rpartition(":")
        path = Path(head)
    if path.suffix not in (".json", ".gz"):
        try:
            return tuple(
                line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
            )
        except (OSError, UnicodeDecodeError) as error:
            raise DatasetError(f"cannot be read ({type(error).__name__})", where=str(path)) from error
    content = read_json(path)
    for key in filter(None, inner.split(".")):
        content = content.get(key) if isinstance(content, dict) else None
    if _is_split(content):
        return tuple(item if isinstance(item, str) else (item[0], item[1]) for item in content)
    choices = _lists_inside(read_json(path))
    remedy = (
        f"Name one after a colon: {', '.join(f'{path.name}:{name}' for name in choices[:8])}."
        if choices
        else ""
    )
    raise DatasetError(
        f"does not hold a list of ids{f' under {inner!r}' if inner else ''}", where=str(path), remedy=remedy
    )


def _is_split(content: Any) -> bool:
    return isinstance(content, list) and all(
        isinstance(item, str)
        or (isinstance(item, list) and len(item) == 2 and all(isinstance(part, str) for part in item))
        for item in content
    )


def _lists_inside(content: Any, prefix: str = "") -> list[str]:
    """Dotted names of the splits inside nested objects."""
    if isinstance(content, dict):
        return [name for key, value in content.items() for name in _lists_inside(value, f"{prefix}{key}.")]
    return [prefix[:-1]] if _is_split(content) and prefix else []
