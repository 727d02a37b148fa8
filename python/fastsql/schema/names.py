"""Identifiers: how they compare, how they are quoted, and the words that are in them."""

from __future__ import annotations

import re
import string

_FOLD = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

# Where a new word begins inside a name: "dateOfBirth", "HTTPStatus", but not inside a plural acronym
# ("subjectIDs").
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s(?![a-z]))")
_BREAKS = re.compile(r"[_.\s]+")

_CHINESE = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_COMMENT_BREAK = re.compile(r"[\s:：,，;；。(（\[【]")
_LABEL_CHARACTERS = 20


def fold(name: str) -> str:
    """The form under which SQLite takes two names for one.

    ASCII letters compare without case, all others exactly.
    """
    return name.translate(_FOLD)


def quote(name: str) -> str:
    """``name`` as a quoted SQL identifier: any characters but NUL are allowed between the quotes."""
    return '"' + name.replace('"', '""') + '"'


def label_from_name(name: str) -> str:
    """The words of a name in lower case: ``admitTime`` and ``ADMIT_TIME`` give "admit time"."""
    words = _BREAKS.sub(" ", _WORD_START.sub(" ", name)).strip().lower()
    return words or name


def label_from_comment(comment: str) -> str:
    """The name in words that a database comment gives, or "" where it is rather a description.

    Chinese databases carry names such as ``JZLSH`` and put what they mean in the comment ("就诊流水号",
    "性别：1男 2女"). A comment in Latin letters is a sentence more often than a name.
    """
    head = comment.strip()
    if len(head) > _LABEL_CHARACTERS:
        head = _COMMENT_BREAK.split(head, maxsplit=1)[0].strip()
    return head if 0 < len(head) <= _LABEL_CHARACTERS and _CHINESE.search(head) else ""


def is_chinese(name: str) -> bool:
    """Whether a name has Chinese characters."""
    return _CHINESE.search(name) is not None


def is_reserved(name: str) -> bool:
    """Whether SQLite keeps a table name for itself (``sqlite_sequence`` and its kin).

    Such a table cannot be created.
    """
    return fold(name).startswith("sqlite_")
