"""A question's way to SQL, a file a stage: each makes a frozen dataclass of the one before.

bundles, loading    a model from its name or folder, and the parser around it
checks              arguments, sizes, and the bundle's fit to this version
sources             what depends on the schema alone, kept ready
link                question and schema -> Linked
(engine)            Linked -> Decoded
recall              what remembered pairs say puts their query first
weigh               over schemas never seen, and in doubt, hypotheses in the order that a second opinion says
write               Decoded -> Written: a hypothesis as a program and as SQL
assess              Written -> Assessed: how likely it is to be right, and what of the question it rests on
inspect             the same for several hypotheses, once their answers are known
decide              Assessed -> Result: an answer, or a refusal with its reason
refuse              the same refusal with what is missing, and what would help
turns               of a conversation: what its question is given of earlier ones, and the turn that it becomes
audit               a record of it

A question that stands alone imports none of recall, inspect, refuse, turns and audit before one of them is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastsql.lazily import lazily

if TYPE_CHECKING:
    from fastsql.parser.bundles import BUNDLED, DEFAULT_MODEL
    from fastsql.parser.by_language import ParserByLanguage
    from fastsql.parser.loading import default_parser, load
    from fastsql.parser.parser import DEFAULT_PENALTY, Parser

__all__ = [
    "BUNDLED",
    "DEFAULT_MODEL",
    "DEFAULT_PENALTY",
    "Parser",
    "ParserByLanguage",
    "default_parser",
    "load",
]

# Who wants one file of this room, as `session` does, does not want all: each is imported when asked for.
_LAZY = {
    **dict.fromkeys(("BUNDLED", "DEFAULT_MODEL"), "bundles"),
    "ParserByLanguage": "by_language",
    **dict.fromkeys(("default_parser", "load"), "loading"),
    **dict.fromkeys(("DEFAULT_PENALTY", "Parser"), "parser"),
}
__getattr__ = lazily(__name__, _LAZY)
