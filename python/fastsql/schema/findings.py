"""What is odd about a schema: names, labels and texts that cannot be kept as they are."""

from __future__ import annotations

from dataclasses import dataclass

from fastsql.errors import LimitError, SchemaError
from fastsql.limits import Limits
from fastsql.schema.names import label_from_name


@dataclass
class Findings:
    """What is odd about a schema: recorded, or raised at once where ``strict``."""

    strict: bool
    limits: Limits
    warnings: list[str]

    def note(self, item: str, what: str) -> None:
        """Record ``what`` of ``item``; SchemaError where loading is strict."""
        if self.strict:
            raise SchemaError(what, where=item, remedy="Correct the schema, or load it with strict=False.")
        self.warnings.append(f"{item}: {what}")


def unusable(name: str) -> str:
    """Why a name cannot stand in SQL even quoted; empty where it can."""
    if not name:
        return "the name is empty"
    if "\0" in name:
        return "the name holds a NUL character"
    return "" if is_text(name) else "the name is not valid Unicode"


def is_text(text: str) -> bool:
    """Whether a text is valid Unicode, as SQL must be."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def short(name: str) -> str:
    """A name as a message shows it."""
    return repr(name if len(name) <= 40 else name[:40] + "...")


def usable_label(label: str, name: str, item: str, findings: Findings) -> str:
    """A label of one line within the limits; one made of the name where there is none."""
    words = " ".join(label.split())
    if words and not is_text(words):
        findings.note(item, "the label is not valid Unicode; it is derived from the name")
        words = ""
    return _cut(words or label_from_name(name), findings.limits.label_characters, "label", item, findings)


def usable_description(text: str, item: str, findings: Findings) -> str:
    """A description within the limits."""
    if not is_text(text):
        findings.note(item, "the description is not valid Unicode; it is left out")
        return ""
    return _cut(text.strip(), findings.limits.description_characters, "description", item, findings)


def _cut(text: str, limit: int, kind: str, item: str, findings: Findings) -> str:
    if len(text) <= limit:
        return text
    findings.note(item, f"its {kind} of {len(text):,} characters is cut to {limit:,}")
    return text[:limit].rstrip()


def usable_synonyms(synonyms: list[str], item: str, findings: Findings) -> tuple[str, ...]:
    """The synonyms that can be kept, each once. Raises LimitError where there are too many."""
    kept = dict.fromkeys(" ".join(word.split()) for word in synonyms)
    kept.pop("", None)
    if len(kept) > findings.limits.synonyms:
        raise LimitError.exceeded("synonyms", len(kept), findings.limits.synonyms, where=item)
    for word in list(kept):
        if not is_text(word) or len(word) > findings.limits.label_characters:
            findings.note(item, "a synonym is too long or not valid Unicode; it is left out")
            del kept[word]
    return tuple(kept)
