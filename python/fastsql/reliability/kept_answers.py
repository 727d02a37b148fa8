"""What is remembered of queries from one question to the next, as long as the database stays as it is."""

from __future__ import annotations

_MOST = 1_024
_CLOCK = "'now'"


class KeptAnswers:
    """Whether queries gave no row, by their texts. Threads may share it: each takes what the others have found, or nothing.

    Texts hold literals, so it stays in this process: a copy of it is empty.
    """

    def __init__(self) -> None:
        self._latest: tuple[object, dict[str, bool]] = (None, {})

    def of(self, state: object) -> dict[str, bool]:
        """What is known of a database in a state, to be looked up and added to; None is a state that nobody knows."""
        if state is None:
            return {}
        known, found = self._latest
        if known != state or len(found) >= _MOST:
            found = {}
            self._latest = state, found
        return found

    def __reduce__(self) -> tuple[type[KeptAnswers], tuple[()]]:
        return KeptAnswers, ()


def may_keep(sql: str) -> bool:
    """Whether the answer to a query hangs on the database alone, and not on the clock."""
    return _CLOCK not in sql.lower()
