"""The little phrase grammar in which sources word their questions."""

from __future__ import annotations

import random
import re

_INNERMOST = re.compile(r"\[([^\[\]]*)\]")
_FRAGMENT = re.compile(r"<(\w+)>")
_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COMMON = {
    "what": "What [was|is]|What's|Tell me|Can you tell me|Could you give me|Show me|Give me",
    "calculate": "Calculate|Tell me|Give me|What [was|is]|Get me|Can you tell me",
    "count": "Count|Count up|Calculate|Tell me|Give me|What [was|is]|Get|Find",
}


def expand(text: str, rng: random.Random) -> str:
    """One phrase of the grammar: ``a|b`` is one of two phrases, ``[a|b] c`` groups, ``[a|]`` may be left out."""
    while True:
        found = _INNERMOST.search(text)
        if found is None:
            return rng.choice(text.split("|"))
        chosen = rng.choice(found[1].split("|"))
        text = text[: found.start()] + chosen + text[found.end() :]


def choose(patterns: str, rng: random.Random, **fragments: str) -> str:
    """One line of `patterns`, expanded. ``<name>`` stands for a fragment, which is a phrase of the grammar, too."""
    known = {**_COMMON, **fragments}
    line = rng.choice(patterns.strip().splitlines()).strip()
    while _FRAGMENT.search(line):
        line = _FRAGMENT.sub(lambda match: f"[{known[match[1]]}]", line)
    return expand(line, rng)


def put(text: str, **values: str) -> str:
    """The text with the values of its ``{slots}``, taken literally. ``{when}`` is left to `finish`."""
    for name, value in values.items():
        if value[:1] in tuple("aeio"):
            text = text.replace(f" a {{{name}}}", f" an {{{name}}}")
        text = text.replace(f"{{{name}}}", value)
    return text


def number_word(number: int, rng: random.Random) -> str:
    """A small number, mostly spelled out."""
    return _NUMBER_WORDS[number] if number < len(_NUMBER_WORDS) and rng.random() < 0.85 else str(number)


def finish(text: str, when: str, rng: random.Random) -> str:
    """The question with its filter on time or visit: at ``{when}``, or now and then in front."""
    if when and rng.random() < 0.12:
        body = text.replace("{when}", "")
        first, _, rest = body.partition(" ")
        text = f"{when[:1].upper()}{when[1:]}, {first[:1].lower()}{first[1:]} {rest}"
    else:
        text = text.replace("{when}", f" {when}" if when else "")
    text = re.sub(r" ([,.?])(?= |$)", r"\1", re.sub(r" +", " ", text)).strip()
    return text[:1].upper() + text[1:]
