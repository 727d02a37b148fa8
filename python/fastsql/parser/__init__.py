"""A question's way to SQL, a file a stage: each makes a frozen dataclass of the one before.

bundles, loading    a model from its name or folder, and the parser around it
checks              arguments, sizes, and the bundle's fit to this version
sources             what depends on the schema alone, kept ready
link                question and schema -> Linked
(engine)            Linked -> Decoded
write               Decoded -> Written: a hypothesis as a program and as SQL
assess              Written -> Assessed: how likely it is to be right, and what of the question it rests on
inspect             the same for several hypotheses, once their answers are known
decide              Assessed -> Result: an answer, or a refusal with its reason
refuse              the same refusal with what is missing, and what would help
audit               a record of it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.parser.bundles import BUNDLED, DEFAULT_MODEL
from fastsql.parser.loading import default_parser, load
from fastsql.parser.parser import DEFAULT_PENALTY, Parser

if TYPE_CHECKING:
    from fastsql.parser.by_language import ParserByLanguage

__all__ = [
    "BUNDLED",
    "DEFAULT_MODEL",
    "DEFAULT_PENALTY",
    "Parser",
    "ParserByLanguage",
    "default_parser",
    "load",
]


def __getattr__(name: str) -> object:
    if name != "ParserByLanguage":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fastsql.parser.by_language import ParserByLanguage  # which one language does without

    return ParserByLanguage
