"""fastsql: a clinician's question in, SQL that is valid for the hospital's schema out, or an honest refusal.

    import fastsql
    result = fastsql.parse("How many patients are older than 60?", "hospital.sqlite")
    result.sql, result.confidence

Nothing heavy is imported before it is used: `import fastsql` loads neither NumPy nor sqlglot.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fastsql.errors import (
    DialectError,
    ExecutionError,
    FastSQLError,
    LimitError,
    ModelError,
    SchemaError,
    VerificationError,
)
from fastsql.limits import Limits

if TYPE_CHECKING:
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.parser import Parser, load
    from fastsql.parser.audit import Audit, AuditRecord
    from fastsql.reliability.inspection import Inspector, Rule
    from fastsql.result import Result
    from fastsql.schema import Schema

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "AuditRecord",
    "DialectError",
    "ExecutionError",
    "FastSQLError",
    "Inspector",
    "LimitError",
    "Limits",
    "ModelError",
    "Parser",
    "Result",
    "Rule",
    "Schema",
    "SchemaError",
    "ValueDictionary",
    "VerificationError",
    "__version__",
    "load",
    "parse",
]

_LAZY = {
    "Audit": "fastsql.parser.audit",
    "AuditRecord": "fastsql.parser.audit",
    "Inspector": "fastsql.reliability.inspection",
    "Rule": "fastsql.reliability.inspection",
    "Parser": "fastsql.parser",
    "load": "fastsql.parser",
    "Result": "fastsql.result",
    "Schema": "fastsql.schema",
    "ValueDictionary": "fastsql.linking.dictionary",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def parse(question: str, schema: Any, **options: Any) -> Result:
    """SQL for a question over a schema by the bundled model, which is loaded once; see `Parser.parse`.

    `options` are those of `Parser.parse`: values, dialect, beam, penalty, now, inspector.
    """
    from fastsql.parser import default_parser

    return default_parser().parse(question, schema, **options)
