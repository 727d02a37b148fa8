"""What a parse leaves behind, said beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastsql.explanation import Trail
from fastsql.result import Alternative


@dataclass(eq=False)
class Told:
    """Gives what it was told, and counts how often it was asked."""

    further: tuple[Alternative, ...] = ()
    led_to: Trail = field(default_factory=Trail)
    asked: list[str] = field(default_factory=list)

    def alternatives(self) -> tuple[Alternative, ...]:
        """The further hypotheses."""
        self.asked.append("alternatives")
        return self.further

    def trail(self) -> Trail:
        """Reasons and decisions."""
        self.asked.append("trail")
        return self.led_to
