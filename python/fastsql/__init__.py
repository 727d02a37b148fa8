"""fastsql: a clinician's question in, SQL that is valid for the hospital's schema out, or an honest refusal.

    import fastsql
    result = fastsql.parse("How many patients were prescribed warfarin?", "hospital.sqlite")
    result.sql, result.confidence

Nothing heavy is imported before it is used: `import fastsql` loads neither NumPy nor sqlglot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastsql.errors import (
    CalibrationWarning,
    ConversationError,
    DialectError,
    ExampleError,
    ExecutionError,
    FastSQLError,
    LimitError,
    ModelError,
    SchemaError,
    VerificationError,
)
from fastsql.lazily import lazily
from fastsql.limits import Limits

if TYPE_CHECKING:
    from fastsql.answer import Answer
    from fastsql.execution import Executor, Rows, open_executor
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.parser import Parser, ParserByLanguage, load
    from fastsql.parser.audit import Audit
    from fastsql.parser.records import AuditRecord, ExecutionRecord
    from fastsql.reliability.inspection import Inspector, Rule
    from fastsql.result import Result
    from fastsql.schema import Schema
    from fastsql.session import Session, Turn

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Audit",
    "AuditRecord",
    "CalibrationWarning",
    "ConversationError",
    "DialectError",
    "ExampleError",
    "ExecutionError",
    "ExecutionRecord",
    "FastSQLError",
    "Inspector",
    "LimitError",
    "Limits",
    "ModelError",
    "Parser",
    "ParserByLanguage",
    "Result",
    "Rows",
    "Rule",
    "Schema",
    "SchemaError",
    "Session",
    "Turn",
    "ValueDictionary",
    "VerificationError",
    "__version__",
    "ask",
    "load",
    "open_executor",
    "parse",
]

_LAZY = {
    "Answer": "answer",
    "Audit": "parser.audit",
    "AuditRecord": "parser.records",
    "ExecutionRecord": "parser.records",
    "Inspector": "reliability.inspection",
    "Rule": "reliability.inspection",
    "Parser": "parser",
    "ParserByLanguage": "parser",
    "load": "parser",
    "Result": "result",
    "Rows": "execution",
    "Schema": "schema",
    "Session": "session",
    "Turn": "session",
    "ValueDictionary": "linking.dictionary",
    "open_executor": "execution",
}
__getattr__ = lazily(__name__, _LAZY)


def __dir__() -> list[str]:
    return sorted(__all__)


def parse(question: str, schema: Any, **options: Any) -> Result:
    """SQL for a question over a schema by the bundled model of its language, loaded once; see `Parser.parse`.

    `options` are those of `Parser.parse`: values, dialect, beam, penalty, now, grounded, inspector.
    """
    from fastsql.parser import default_parser

    return default_parser().parse(question, schema, **options)


def ask(question: str, schema: Any, *, executor: Executor, **options: Any) -> Answer:
    """`parse`, and the rows of the SQL from the executor's database where there is an answer; see `Parser.ask`."""
    from fastsql.parser import default_parser

    return default_parser().ask(question, schema, executor=executor, **options)
