"""What a caller may settle anew for each question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fastsql.limits import Limits
from fastsql.parser.checks import (
    check_beam,
    check_dialect,
    check_id,
    check_inspector,
    check_moment,
    check_penalty,
)

if TYPE_CHECKING:
    from fastsql.reliability.inspection import Inspector


@dataclass(frozen=True)
class Settings:
    """How one question is parsed; `Parser.parse` says what each means."""

    dialect: str
    beam: int
    penalty: float
    now: str | None
    grounded: bool
    suggest: bool
    inspector: Inspector | None
    request_id: str | None
    user_id: str | None

    def checked(self, limits: Limits) -> Settings:
        """The same, the dialect by its plain name. Raises DialectError, LimitError, TypeError, ValueError."""
        dialect = check_dialect(self.dialect)
        check_beam(self.beam, limits)
        penalty = check_penalty(self.penalty)
        check_moment(self.now)
        check_inspector(self.inspector)
        check_id(self.request_id, "request_id")
        check_id(self.user_id, "user_id")
        return replace(self, dialect=dialect, penalty=penalty)
