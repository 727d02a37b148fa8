"""What conversion says when it cannot."""

from __future__ import annotations


class ConversionError(ValueError):
    """SQL that the grammar cannot say. `construct` names what stands in the way, without any literal."""

    def __init__(self, construct: str) -> None:
        super().__init__(construct)
        self.construct = construct
