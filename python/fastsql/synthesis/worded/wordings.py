"""Questions for queries in the words of a language model: asked once for each form, checked, given their literals back."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from sqlglot import exp

from fastsql.endpoint import Client
from fastsql.limits import DEFAULT, Limits
from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis.schema.words import UnsayableError, Words
from fastsql.synthesis.worded.answers import wordings_in
from fastsql.synthesis.worded.form import form_of
from fastsql.synthesis.worded.kept import KeptAnswers, key_of
from fastsql.synthesis.worded.prompt import messages_for

WORDINGS = 8
"""Wordings that are asked for at once, as many as ScienceBenchmark asks GPT-3 for."""
_SETTINGS: Mapping[str, float] = MappingProxyType({"temperature": 0.8, "max_tokens": 2_048})
_NOTES = 40
"""Lines on the progress."""


class Wordings:
    """Wordings by the model of a server.

    Attributes:
        asked: forms that were asked about, those whose answers were kept before among them.
        taken: wordings that passed.
        dropped: lines that did not, by reason (`answers.REASONS`).
        unsaid: queries about which nothing was asked, as they have no form or one that is too long.
    """

    def __init__(
        self,
        client: Client,
        kept: Path,
        schema: Schema,
        profile: Profile | None = None,
        *,
        model: str = "",
        seed: int = 1,
        most: int = 1_000,
        until: float | None = None,
        limits: Limits = DEFAULT,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Asks the server for its first model, if none is named and none was used before.

        Args:
            client: of the server.
            kept: the file in which answers are kept.
            schema: of the queries.
            profile: one that people have edited.
            model: its name; "" for the one that was used before, or the server's first.
            seed: that the server is given.
            most: forms that are asked about.
            until: when to stop asking, as `time.monotonic` tells it; None for never.
            limits: bounds of questions to the model and of its wordings.
            report: called with lines on progress.

        Raises EndpointError.
        """
        self._client = client
        self._kept = KeptAnswers(kept)
        self._words = Words(schema, profile)
        self._most, self._until = most, until
        self._limits, self._report = limits, report
        self.model = model or self._kept.model or client.first_model()
        if self.model != self._kept.model:
            self._kept.model = self.model
        self._settings = {**_SETTINGS, "seed": seed}
        self._forms: dict[str, list[str]] = {}
        self._begun, self._answered = time.monotonic(), 0
        self.asked = self.taken = self.unsaid = 0
        self.dropped: Counter[str] = Counter()

    @property
    def done(self) -> bool:
        """Whether nothing more is asked: of as many forms as were wanted, or for as long."""
        late = self._until is not None and time.monotonic() >= self._until
        return self.asked >= self._most or late

    def of(self, tree: exp.Expr) -> list[str]:
        """Wordings of a query that the grammar renders; none where it is too odd to ask about, or `done`.

        Raises EndpointError.
        """
        if not isinstance(tree, exp.Query):
            self.unsaid += 1
            return []
        try:
            form = form_of(tree, self._words)
        except UnsayableError:
            self.unsaid += 1
            return []
        messages = messages_for(form, WORDINGS, self._words.language)
        if sum(len(message["content"]) for message in messages) > self._limits.prompt_characters:
            self.unsaid += 1
            return []
        key = key_of(self.model, messages, self._settings)
        if key not in self._forms:
            if self.done:
                return []
            answer = self._kept.get(key)
            if answer is None:
                answer = self._client.chat(self.model, messages, **self._settings)
                self._kept.put(key, answer)
                self._answered += 1
            self._forms[key], dropped = wordings_in(answer, form, self._limits)
            self.asked += 1
            self.taken += len(self._forms[key])
            self.dropped += dropped
            self._tell()
        return list(dict.fromkeys(map(form.fill, self._forms[key])))

    def counts(self) -> dict[str, object]:
        """What was asked and found, without a word of it."""
        return {
            "queries": self.asked,
            "wordings": self.taken,
            "dropped": dict(sorted(self.dropped.items())),
            "not_asked": self.unsaid,
        }

    def _tell(self) -> None:
        if self.asked % max(1, self._most // _NOTES):
            return
        line = f"{self.asked:,} of {self._most:,} queries worded, {self.taken:,} wordings"
        if self._answered and self.asked < self._most:
            each = (time.monotonic() - self._begun) / self._answered
            line += f", {each:.1f} s each, {(self._most - self.asked) * each / 60:.0f} minutes left at most"
        self._report(line)
