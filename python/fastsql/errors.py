"""The errors that fastsql raises.

Every message says what was wrong, where, and what to do. The three parts are also attributes, so that an
application can show them apart. No message holds the text of a question or a cell of a database: errors end
up in logs, and those texts may name a patient.
"""

from __future__ import annotations


class FastSQLError(Exception):
    """Base class of what fastsql raises about schemas, models, databases, SQL, limits and files.

    Arguments that are mistaken in the call itself are a TypeError, ValueError, KeyError or IndexError, as in Python.

    Args:
        what: one clause saying what was wrong, without a final full stop.
        where: the item concerned, such as ``table 'patients'``; empty where ``what`` names it already.
        remedy: what the caller can do about it, a sentence.
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what = what
        self.where = where
        self.remedy = remedy
        message = f"{where}: {what}" if where else what
        if remedy:
            message = f"{message.rstrip('.')}. {remedy}"
        super().__init__(message)


class SchemaError(FastSQLError):
    """A schema cannot be read, or an item of it is unusable; ``where`` names the item."""


class ModelError(FastSQLError):
    """A model bundle is missing, damaged, or does not fit this version, or a device is not to be had."""


class LimitError(FastSQLError):
    """An input is larger than :class:`fastsql.limits.Limits` allows, or a limit that was given is not a number above 0."""

    @classmethod
    def exceeded(
        cls, limit: str, found: int, maximum: int, *, where: str = "", remedy: str = ""
    ) -> LimitError:
        """The error for ``found`` items where ``Limits.<limit>`` allows ``maximum``."""
        what = f"{found:,} is more than the limit of {maximum:,} ({limit})"
        return cls(what, where=where, remedy=remedy or f"Make the input smaller, or raise Limits.{limit}.")


class DialectError(FastSQLError):
    """A SQL dialect is unknown, or cannot express what is asked."""


class VerificationError(FastSQLError):
    """Generated SQL failed the independent check against its schema."""


class ExecutionError(FastSQLError):
    """A database refused or failed to run a query, or took too long."""


class ExampleError(FastSQLError):
    """A question with SQL cannot be remembered, or is not among those that are."""


class ConversationError(FastSQLError, ValueError):
    """The text of an exported conversation is damaged, or is something else."""


class CalibrationWarning(UserWarning):
    """A model's probabilities were not fitted, or not all of them: what it refuses says less than it should."""
