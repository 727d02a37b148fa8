"""Identifiers: how they compare, how they are quoted, and the words that are in them."""

from __future__ import annotations

import re
import string

_FOLD = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

# Where a new word begins inside a name: "dateOfBirth", "HTTPStatus", but not inside a plural acronym ("subjectIDs").
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s(?![a-z]))")
_BREAKS = re.compile(r"[_.\s]+")


def fold(name: str) -> str:
    """The form under which SQLite takes two names for one: ASCII letters compare without case, all others exactly."""
    return name.translate(_FOLD)


def quote(name: str) -> str:
    """``name`` as a quoted SQL identifier: any characters but NUL are allowed between the quotes."""
    return '"' + name.replace('"', '""') + '"'


def label_from_name(name: str) -> str:
    """The words of a name in lower case: ``admitTime`` and ``ADMIT_TIME`` give "admit time"; Chinese stays as it is."""
    words = _BREAKS.sub(" ", _WORD_START.sub(" ", name)).strip().lower()
    return words or name


def is_reserved(name: str) -> bool:
    """Whether SQLite keeps a table name for itself (``sqlite_sequence`` and its kin): such a table cannot be created."""
    return fold(name).startswith("sqlite_")
