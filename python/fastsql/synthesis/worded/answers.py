"""What is taken of a language model's answer: lines that keep every placeholder of their form, and that people can read."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from fastsql.limits import Limits
from fastsql.synthesis.worded.form import PLACEHOLDER, Form

_THOUGHT = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
"""What some models write before they answer."""
_MARK = re.compile(r"\s*(?:[-*•]|\(?\d{1,2}[.):、．]|（\d{1,2}）)\s*")
_QUOTES = {'"': '"', "“": "”", "'": "'", "「": "」"}
_BRACKETS = re.compile(r"[\[\]{}<>`]|_\d")
"""Signs of a placeholder that was changed, or of code."""

LOST = "a placeholder is missing, or there too often"
INVENTED = "a placeholder that there is not"
LONG = "too long"
UNREADABLE = "not a question: code, control characters, or no words"
REPEATED = "said before"
REASONS = (LOST, INVENTED, LONG, UNREADABLE, REPEATED)
"""Why a line is dropped."""


def wordings_in(answer: str, form: Form, limits: Limits) -> tuple[list[str], Counter[str]]:
    """The wordings of a form in an answer, with placeholders, in order; and how many lines were dropped, by reason."""
    dropped: Counter[str] = Counter()
    seen = {_plain(form.question)}
    found: list[str] = []
    # Not `splitlines`, to which some control characters are ends of lines.
    for line in _THOUGHT.sub("", answer).replace("\r\n", "\n").split("\n"):
        wording = _unwrapped(line)
        if not wording:
            continue
        why = _fault(wording, form, limits)
        if why is None and _plain(wording) in seen:
            why = REPEATED
        if why is not None:
            dropped[why] += 1
            continue
        seen.add(_plain(wording))
        found.append(wording)
    return found, dropped


def _fault(wording: str, form: Form, limits: Limits) -> str | None:
    if len(wording) > limits.wording_characters:
        return LONG
    placeholders = Counter(PLACEHOLDER.findall(wording))
    if not placeholders.keys() <= form.literals.keys():
        return INVENTED
    rest = PLACEHOLDER.sub(" ", wording)
    if _BRACKETS.search(rest):
        return INVENTED if form.literals else UNREADABLE
    if placeholders != form.wanted:
        return LOST
    controls = any(unicodedata.category(sign) in ("Cc", "Cf", "Co", "Cs", "Cn") for sign in wording)
    # What ends in a colon announces questions.
    if controls or wording.endswith((":", "：")) or not any(map(str.isalpha, rest)):
        return UNREADABLE
    return None


def _unwrapped(line: str) -> str:
    """A line without its number and the quotation marks around it."""
    text = line.strip(" \t")
    mark = _MARK.match(text)
    text = (text[mark.end() :] if mark else text).strip(" \t")
    if len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        text = text[1:-1].strip(" \t")
    return text


def _plain(wording: str) -> str:
    """Equal for wordings that differ in letter case, blanks and signs at the end."""
    return " ".join(wording.casefold().split()).rstrip(".?!。？！ ")
