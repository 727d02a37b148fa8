"""JSON that every reader takes: no NaN, and nothing that UTF-8 cannot hold."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(value: Any) -> Any:
    """A value as JSON has it: sequences are lists, moments texts in ISO 8601; a number that is not finite is None."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def json_text(value: Any, *, indent: int | None = None) -> str:
    """JSON of a value that `plain` gave, in any script; half a surrogate pair, which is no character, is escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
