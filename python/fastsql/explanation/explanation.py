"""A result with the reasons for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastsql.explanation.trail import Decision, Line, Reason, WordRoles

if TYPE_CHECKING:
    from fastsql.result import Result


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    """A result with the reasons for it; made by `Result.explain`. `str` gives it as text, a notebook shows it as HTML."""

    result: Result
    reasons: tuple[Reason, ...]
    decisions: tuple[Decision, ...]
    roles: tuple[WordRoles, ...] = ()

    def __repr__(self) -> str:
        return f"<Explanation: {len(self.reasons)} reasons, {len(self.decisions)} decisions>"

    def __str__(self) -> str:
        return self.text()

    def text(
        self, width: int = 100, *, decisions: bool = False, roles: bool = False, timings: bool = True
    ) -> str:
        """The explanation as plain text; the arguments are those of `lines`."""
        lines = self.lines(width, decisions=decisions, roles=roles, timings=timings)
        return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)

    def lines(
        self, width: int, *, decisions: bool = False, roles: bool = False, timings: bool = True
    ) -> list[Line]:
        """The explanation as lines of styled text.

        Args:
            width: of a line, in cells of a terminal; lines are no narrower than 48.
            decisions: list every decision of the decoder, too.
            roles: tell in which parts of the query the question's words stand, too (CSS, Appendix B).
            timings: tell how long each stage took.
        """
        from fastsql.view.text import as_lines

        return as_lines(self, width, decisions=decisions, roles=roles, timings=timings)

    def _repr_html_(self) -> str:
        from fastsql.view.html import as_html

        return as_html(self)

    @property
    def in_question(self) -> tuple[Reason, ...]:
        """Reasons that words of the question give, in order of the question."""
        placed = [(reason.span, reason) for reason in self.reasons if reason.span is not None]
        return tuple(reason for _, reason in sorted(placed, key=lambda one: one[0]))

    @property
    def beyond_question(self) -> tuple[Reason, ...]:
        """Reasons of what no word of the question accounts for."""
        return tuple(reason for reason in self.reasons if reason.span is None)
