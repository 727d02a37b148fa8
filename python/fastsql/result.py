"""What a parse gives back: SQL or an honest refusal, with the evidence for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TextIO, cast

if TYPE_CHECKING:
    from fastsql.explanation.explanation import Explanation
    from fastsql.explanation.trail import Trail
    from fastsql.refusal.suggestions import Suggestion

_SHOWN = 88
"""Characters of SQL in a repr; a notebook shows all of it through ``_repr_html_``."""


@dataclass(frozen=True)
class Link:
    """A span of the question and the schema item or value that it was linked to.

    `span` counts characters of the question, ``[start, end)``; `text` is what stands there. `kind` is one of "table",
    "column", "value", "constant"; `target` names the item (``admissions.age``) or shows the value as it stands in SQL.
    `how` says what linked them: "name", or the provenance of the value (see `Literal`).
    """

    span: tuple[int, int]
    text: str
    kind: str
    target: str
    how: str = ""


@dataclass(frozen=True)
class Literal:
    """A literal of the SQL and where it came from.

    `source` is its provenance: "span", "number", "ordinal", "date", "quoted", "dictionary", "schema", "constant",
    "closed" (the few literals that are always to be had) or "turn" (of an earlier question of a conversation). `span` counts
    characters of the question and is None for values that the question does not write; `column` is the qualified name of
    the column it is compared with, or "". `format` is the strftime form of a date, `name` that of a named constant.
    """

    value: str | int | float
    source: str
    span: tuple[int, int] | None = None
    column: str = ""
    format: str = ""
    name: str = ""


@dataclass(frozen=True)
class Alternative:
    """A further hypothesis of the beam, with its own confidence."""

    sql: str
    confidence: float


@dataclass(frozen=True)
class Remembered:
    """The remembered pair that speaks for a query; it holds nothing of the pair's question.

    Attributes:
        number: of the pair, as `Parser.examples` has it.
        same: whether the question is the pair's but for literals, and the query, too; else the question is like it, and
            the query of the same form.
        likeness: cosine of the two questions' vectors, literals masked.
        confidence: how often such queries were right.
        supplied: whether the model had not found the query.
    """

    number: int
    same: bool
    likeness: float
    confidence: float
    supplied: bool = False

    @property
    def sentence(self) -> str:
        """What is told of it."""
        if not self.same:
            return f"Like the question of remembered pair {self.number}, whose query has this form."
        told = f"As in the question of remembered pair {self.number}, but for literals."
        return f"{told} The model had not found this query." if self.supplied else told


class Background(Protocol):
    """What a parse leaves behind for those who ask for more than its answer."""

    def alternatives(self) -> tuple[Alternative, ...]:
        """The further hypotheses, best first."""

    def trail(self) -> Trail:
        """The reasons and decisions that led to the query."""


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """The outcome of one parse.

    It can be pickled, to be sent between processes. The pickle holds all that the result shows: the question, what of it was
    linked to what, the SQL with its values, the alternatives and the reasons. It is as confidential as the question: keep it
    where you would keep that, or keep an `AuditRecord`, which holds neither.

    Attributes:
        question: the question as it was asked.
        best: the SQL of the first hypothesis, even if it was refused; None if there is none at all.
        confidence: estimated probability that `best` is right, 0 to 1.
        unanswerable: estimated probability that the question has no answer in this schema; 0 where the model knows none.
        abstained: whether the parser refuses to answer.
        reason: why it refuses, a sentence that may quote the question; None where it does not.
        suggestions: what would help where it refuses, such as values that are written like an unknown one; may be empty.
        note: what did not work on the way, a sentence, such as that no query could be run to look at its answer; None where
            all did.
        remembered: the remembered pair that speaks for `best`; None where none does.
        links: what of the question was linked to what of the schema, in order of the question.
        values: the literals of `best` with their provenance.
        timings: milliseconds a stage, in order, such as ``{"link": 0.4, "encode": 3.1, "decode": 4.0}``.
        dialect: the SQL dialect of `best`.
        threshold: the confidence above which the parser answers; None where that was not decided.
        background: what :attr:`alternatives` and :attr:`trail` are made from when they are first asked for; None where
            there is nothing.
    """

    question: str
    best: str | None
    confidence: float
    abstained: bool = False
    reason: str | None = None
    links: tuple[Link, ...] = ()
    values: tuple[Literal, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    dialect: str = "sqlite"
    threshold: float | None = None
    unanswerable: float = 0.0
    background: Background | None = None
    suggestions: tuple[Suggestion, ...] = ()
    note: str | None = None
    remembered: Remembered | None = None

    @property
    def sql(self) -> str | None:
        """The SQL to run, or None where the parser refuses."""
        return None if self.abstained else self.best

    @cached_property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The further hypotheses, best first; rendered when first asked for."""
        return () if self.background is None else self.background.alternatives()

    @cached_property
    def trail(self) -> Trail:
        """What led to `best`: empty where the parse left nothing to retrace; made when first asked for."""
        if self.background is not None:
            return self.background.trail()
        from fastsql.explanation.trail import Trail  # for those who ask

        return Trail()

    def explain(self) -> Explanation:
        """Why `best` is what it is: what each word stands for, where each literal comes from, every decision.

        `str` gives it as text; a notebook shows it, as it does the result itself.
        """
        from fastsql.explanation.explanation import Explanation  # for those who ask
        from fastsql.explanation.reasons import link_reason, literal_reason

        reasons = self.trail.reasons
        if not reasons:
            values = tuple(literal_reason(literal, self.question) for literal in self.values)
            told = {reason.span for reason in values}
            reasons = (*(link_reason(link) for link in self.links if link.span not in told), *values)
        return Explanation(self, reasons, self.trail.decisions, self.trail.roles)

    def show(
        self,
        file: TextIO | None = None,
        *,
        width: int | None = None,
        decisions: bool = False,
        roles: bool = False,
        timings: bool = True,
    ) -> None:
        """Print the explanation, in colours where `rich` is installed and a terminal listens.

        Args:
            file: what to write to; the standard output unless given.
            width: cells of a line; the terminal's unless given.
            decisions: list every decision of the decoder, too.
            roles: tell in which parts of the query the question's words stand, too.
            timings: tell how long each stage took.
        """
        from fastsql.view.terminal import Page

        page = Page(file)
        page.lines(
            self.explain().lines(width or page.width, decisions=decisions, roles=roles, timings=timings)
        )

    def to_dict(self, *, explain: bool = False) -> dict[str, Any]:
        """The result as plain data: texts, numbers, lists, dictionaries and None, as JSON has them.

        The keys are those of the table in `docs/answers.md`, and stay; more may come. `explain` adds reasons, decisions and
        alternatives, which takes longer. A number that is not finite is None.
        """
        from fastsql.plain_json import plain  # for those who send it on

        content: dict[str, Any] = {
            "question": self.question,
            "sql": self.sql,
            "best": self.best,
            "confidence": self.confidence,
            "unanswerable": self.unanswerable,
            "threshold": self.threshold,
            "abstained": self.abstained,
            "reason": self.reason,
            "note": self.note,
            "remembered": None if self.remembered is None else asdict(self.remembered),
            "suggestions": [suggestion.to_dict() for suggestion in self.suggestions],
            "dialect": self.dialect,
            "links": [asdict(link) for link in self.links],
            "values": [asdict(literal) for literal in self.values],
            "timings": self.timings,
        }
        if explain:
            told = self.explain()
            content["reasons"] = [asdict(reason) for reason in told.reasons]
            content["decisions"] = [asdict(decision) for decision in told.decisions]
            content["roles"] = [asdict(words) for words in told.roles]
            content["alternatives"] = [asdict(alternative) for alternative in self.alternatives]
        return cast("dict[str, Any]", plain(content))

    def to_json(self, *, explain: bool = False, indent: int | None = None) -> str:
        """`to_dict` as JSON, which holds no NaN and is one line unless `indent` says otherwise."""
        from fastsql.plain_json import json_text  # for those who send it on

        return json_text(self.to_dict(explain=explain), indent=indent)

    def __bool__(self) -> bool:
        return self.sql is not None

    def __repr__(self) -> str:
        if self.abstained:
            return f"Result(abstained, confidence={self.confidence:.2f}, reason={self.reason!r})"
        sql = self.best or ""
        shown = sql if len(sql) <= _SHOWN else sql[: _SHOWN - 3] + "..."
        return f"Result({shown!r}, confidence={self.confidence:.2f})"

    def _repr_html_(self) -> str:
        """For notebooks: the whole explanation."""
        from fastsql.view.html import as_html

        return as_html(self.explain())

    def __getstate__(self) -> dict[str, Any]:
        # The background holds on to the model and to the beam; what is sent to another process is their outcome.
        made = {"alternatives": self.alternatives, "trail": self.trail, "background": None}
        return {**self.__dict__, **made}
