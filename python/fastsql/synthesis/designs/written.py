"""Questions written by hand over a design, with their SQL, out of text.

How many admissions did we have in 2022?      a question; its SQL follows on a line of its own, indented
    SELECT COUNT(*) FROM admission WHERE strftime('%Y', admission_date) = '2022'
+ only the emergencies                        goes on from the question before; its SQL stands alone
    SELECT ...
- Which porter took bed 4 to radiology?       one that the design's tables do not answer

Names are those of `as_designed`; what is yes or no is 1 or 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from fastsql.synthesis.designs.model import DesignError

_GOES_ON, _UNANSWERABLE = "+ ", "- "


@dataclass(frozen=True)
class Asked:
    """A question, and the SQL that answers it."""

    question: str
    sql: str


@dataclass(frozen=True)
class Written:
    """What was written over a design; `talks` are conversations of two turns or more."""

    single: tuple[Asked, ...] = ()
    talks: tuple[tuple[Asked, ...], ...] = ()
    unanswerable: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def written_over(design: str, language: str) -> Written:
    """The questions over a design that come with the package; none where nobody wrote any."""
    file = files(__package__) / "questions" / language / f"{design}.questions"
    return read_written(design, file.read_text(encoding="utf-8")) if file.is_file() else Written()


def read_written(name: str, text: str) -> Written:
    """The questions of a text. Raises DesignError, whose `where` names the line."""
    talks: list[list[Asked]] = []
    unanswerable: list[str] = []
    for where, question, sql in _entries(name, text):
        if question.startswith(_UNANSWERABLE):
            if sql:
                raise DesignError("a question without an answer has SQL", where=where)
            unanswerable.append(question.removeprefix(_UNANSWERABLE))
        elif not sql:
            raise DesignError(
                "a question has no SQL", where=where, remedy="Write it below, indented, or begin with '- '."
            )
        elif not question.startswith(_GOES_ON):
            talks.append([Asked(question, sql)])
        elif talks:
            talks[-1].append(Asked(question.removeprefix(_GOES_ON), sql))
        else:
            raise DesignError("a conversation begins with '+'", where=where)
    return Written(
        tuple(talk[0] for talk in talks if len(talk) == 1),
        tuple(tuple(talk) for talk in talks if len(talk) > 1),
        tuple(unanswerable),
    )


def _entries(name: str, text: str) -> Iterator[tuple[str, str, str]]:
    """Where a question stands, the question, and its SQL, empty where it has none."""
    where = question = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        here = f"{name}.questions, line {number}"
        if not line[0].isspace():
            if question:
                yield where, question, ""
            where, question = here, line.strip()
        elif question:
            yield where, question, line.strip()
            question = ""
        else:
            raise DesignError("SQL stands before any question", where=here)
    if question:
        yield where, question, ""
