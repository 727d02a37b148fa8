"""What kind a column is of, told by its name, type, keys, values and description; and the unit of a measure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fastsql.profile.kind_words import (
    AMOUNTS,
    CATEGORIES,
    CHINESE,
    CODES,
    COUNTS,
    DATES,
    DURATIONS,
    IDENTIFIERS,
    MEASURES,
    MONEY,
    NAMES,
    NO_SUMS,
    NO_SUMS_CHINESE,
    NUMBERED,
    TEXT_AMOUNTS,
    TEXT_MEASURES,
    TEXTS,
    UNIT_IN_TEXT,
    UNITS,
    USUAL_UNITS,
)
from fastsql.profile.model import NUMBERS, Kind
from fastsql.schema.model import Column, Structure
from fastsql.schema.names import label_from_name

_YES_OR_NO = ("is", "has", "was", "can", "allows")
_CHINESE_YES_OR_NO = "是否"
_CHINESE_KINDS = sorted(CHINESE.items(), key=lambda item: -len(item[0]))
_BRACKETS = re.compile(r"[(（\[【].*$")
_FEW = 50
"""Values up to which a text column is a category rather than a name: as many as may stand with a schema."""


@dataclass(frozen=True)
class KindReader:
    """Tells the kinds of a schema's columns."""

    schema: Structure
    keys: frozenset[int]
    """Columns of keys, primary and foreign, declared or likely."""

    def kind(self, index: int, called: str, words: Sequence[str]) -> Kind:
        """The kind of a column that is `called` so; `words` are those of its name, which say more than a Chinese label."""
        column = self.schema.columns[index]
        said = _chinese(called)
        words = label_from_name(called).split() if called.isascii() else words
        if column.type == "time" or said == "date":
            return "date"
        if column.type == "other":
            return "identifier" if index in self.keys or _last(words) in IDENTIFIERS else "other"
        if self._is_identifier(index, words) or said == "identifier":
            return "code" if _last(words) in CODES else "identifier"
        if column.type == "boolean" or (words[:1] and words[0] in _YES_OR_NO):
            return "category"
        return (
            self._number(column, words, said)
            if column.type == "number"
            else self._text(column, called, words, said)
        )

    def _is_identifier(self, index: int, words: Sequence[str]) -> bool:
        last = _last(words)
        if last in IDENTIFIERS or (index in self.keys and last not in DATES):
            return True
        if self.schema.columns[index].type == "text" and last == "number":
            return True
        return last in ("number", "numbers") and len(words) > 1 and words[-2] in NUMBERED

    def _number(self, column: Column, words: Sequence[str], said: str) -> Kind:
        last = _last(words)
        if said in ("code", "category", "amount", "measure"):
            return said  # type: ignore[return-value] # one of four kinds
        if words[:1] == ["year"]:
            return "date"
        if (last == "time" and set(words) & DURATIONS) or last in ("runtime", "duration"):
            return "measure"
        if last in CODES:
            return "code"
        if last in DATES:
            return "date"
        if words[:1] in (["number"], ["count"], ["total"]):
            return "amount"
        if last in CATEGORIES - MEASURES or column.values:
            return "category"
        if last in NAMES:  # a number that stands for what has a name
            return "code"
        if last in AMOUNTS:
            return "amount"
        if last in MEASURES or last in UNITS:
            return "measure"
        things = last.endswith("s") and not last.endswith(("ss", "us", "is"))
        return "amount" if things or set(words) & AMOUNTS else "measure"

    def _text(self, column: Column, called: str, words: Sequence[str], said: str) -> Kind:
        last, head = _last(words), _head(words)
        bare = _last(_BRACKETS.sub("", called).lower().split())
        if said in ("code", "name", "text", "category"):
            return said  # type: ignore[return-value] # one of four kinds
        for kind, known in (("code", CODES), ("date", DATES), ("text", TEXTS), ("category", CATEGORIES)):
            if last in known:
                return kind  # type: ignore[return-value] # as above
        if head in ("date", "year") or words[:1] == ["year"] or words[-2:-1] == ["date"]:
            return "date"
        if last in NAMES:
            return "name"
        is_free = "text" in column.sql_type.lower()
        if 0 < len(column.values) <= _FEW and not is_free:  # few free texts may be the names of the staff
            return "category"
        done = set(words[-2:-1]) if last.endswith("ed") or last in ("won", "lost", "against") else set()
        if TEXT_AMOUNTS & {last, head, bare, *done} or words[:2] in (
            ["number", "of"],
            ["no", "of"],
        ):
            return "amount"
        is_year = bool(words) and not last
        is_number = called.rstrip().endswith(("#", "%"))
        if TEXT_MEASURES & {last, head, bare} or last in UNITS or is_year or is_number:
            return "measure"
        return "text" if is_free else "name"


def unit_of(column: Column, kind: Kind, label: str) -> str:
    """The unit that a name or a description says; "money" and "count" where no more is known of an amount."""
    if kind not in NUMBERS:
        return ""
    told = UNIT_IN_TEXT.search(column.description)
    if told:
        return UNITS.get(told[1].lower(), told[1])
    raw, words = label_from_name(column.name).split(), label.split()
    for word in (_last(raw), _last(words)):
        if word in UNITS and len(raw) > 1:
            return UNITS[word]
    if _last(words) in USUAL_UNITS:
        return USUAL_UNITS[_last(words)]
    if kind == "amount" and set(words) & MONEY:
        return "money"
    return "count" if kind == "amount" and (set(words) & COUNTS or words[:1] == ["number"]) else ""


def is_aggregatable(column: Column, kind: Kind, label: str) -> bool:
    """Whether sums and means of a column say something."""
    words = label.lower().split()
    if words[-1:] == ["number"] and words[-2:-1] == [
        "value"
    ]:  # a value that is a number, beside one that is text
        words = words[:-1]
    says_order = _last(words) in NO_SUMS or _BRACKETS.sub("", label).strip().endswith(NO_SUMS_CHINESE)
    return kind in NUMBERS and column.type == "number" and not says_order


def _last(words: Sequence[str]) -> str:
    """The last word that is no number and no mere sign."""
    words = [word.strip("#%()") for word in words]
    return next((word for word in reversed(words) if word and not word.isdigit()), "")


def _head(words: Sequence[str]) -> str:
    """The last word of what a name is about: "date" of "date of attack", "years" of "years in program"."""
    places = [place for place, word in enumerate(words) if word in ("of", "in", "per", "for", "at") and place]
    return words[places[0] - 1] if places else ""


def _chinese(label: str) -> str:
    """The kind that the end of a Chinese label says; empty for other labels."""
    if label.isascii():
        return ""
    if label.startswith(_CHINESE_YES_OR_NO):
        return "category"
    bare = _BRACKETS.sub("", label).strip()
    return next((kind for end, kind in _CHINESE_KINDS if bare.endswith(end)), "")
