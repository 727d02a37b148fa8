"""The class of a SQL type: what the grammar needs to know about a column, and no more."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final, Literal, get_args

TypeClass = Literal["number", "text", "time", "boolean", "other"]
TYPE_CLASSES: Final[tuple[TypeClass, ...]] = get_args(TypeClass)

_NAMES: Final[dict[TypeClass, str]] = {
    "number": """
        number numeric decimal dec fixed real float float2 float4 float8 float16 float32 float64 double money
        smallmoney int integer int1 int2 int3 int4 int8 int16 int32 int64 int128 int256 tinyint smallint
        mediumint middleint bigint hugeint byteint uint uint8 uint16 uint32 uint64 uint128 uint256 utinyint
        usmallint uinteger ubigint unsigned serial smallserial bigserial serial2 serial4 serial8 bignumeric
        bigdecimal decfloat decimal32 decimal64 decimal128 decimal256 binary_float binary_double
        binary_integer pls_integer short long counter autonumber
        currency year oid bfloat16 数值 数值型 数字 数字型 数 整数 整数型 整型 长整型 短整型 浮点 浮点数 浮点型 小数 金额""",
    "text": """
        text tinytext mediumtext longtext ntext char character nchar bpchar varchar varchar2 nvarchar
        nvarchar2 varcharacter varying string fixedstring str clob nclob dbclob citext name sysname enum enum8
        enum16 set uuid guid
        uniqueidentifier memo lvarchar longvarchar 文本 文本型 字符 字符串 字符型 字符串型 备注 枚举""",
    "time": """
        time date datetime datetime2 datetime64 date32 smalldatetime datetimeoffset timestamp timestamptz
        timestampltz timestampntz timestamp_tz timestamp_ltz timestamp_ntz timetz timestamp_s timestamp_ms
        timestamp_ns
        日期 日期型 时间 时间型 日期时间 时间戳""",
    "boolean": "boolean bool bit logical yesno 布尔 布尔型 布尔值 逻辑 逻辑型",
    "other": """
        other others any blob tinyblob mediumblob longblob bytea bytes binary varbinary image raw bfile json
        jsonb bson xml xmltype geometry geography point line linestring lseg box path polygon circle
        multipoint multipolygon array map struct row record object variant super interval inet cidr macaddr
        macaddr8 tsvector tsquery hstore vector int4range int8range numrange tsrange tstzrange daterange
        rowversion sql_variant hierarchyid rowid urowid null
        varbit 二进制 其他""",
}
TYPE_WORDS: Final = frozenset(name for names in _NAMES.values() for name in names.split()) | frozenset(
    [
        "precision",
        "varying",
        "unsigned",
        "signed",
        "big",
        "native",
        "national",
        "with",
        "without",
        "zone",
        "local",
        "long",
    ]
)
"""Words that types are made of."""
_CLASS_OF: Final = MappingProxyType({name: cls for cls, names in _NAMES.items() for name in names.split()})

# Types that no list names, in the spirit of SQLite's affinity rules (sqlite.org/datatype3.html, 3.1): "NATIVE
# CHARACTER", "UNSIGNED BIG INT", "MYDATE". Order matters: a "datetime" has no number in it, but "int" is
# found in "point".
_PARTS: Final[tuple[tuple[str, TypeClass], ...]] = (
    ("blob", "other"),
    ("binary", "other"),
    ("point", "other"),
    ("range", "other"),
    ("interval", "other"),
    ("char", "text"),
    ("clob", "text"),
    ("text", "text"),
    ("string", "text"),
    ("date", "time"),
    ("time", "time"),
    ("bool", "boolean"),
    ("int", "number"),
    ("real", "number"),
    ("floa", "number"),
    ("doub", "number"),
    ("num", "number"),
    ("decimal", "number"),
)
# A type is told by its beginning; what comes after so many characters is a list of values.
_READ_CHARACTERS: Final = 1_000
_WRAPPERS: Final = re.compile(r"^(?:nullable|lowcardinality|simpleaggregatefunction)\s*\((.*)\)$", re.DOTALL)
_ARGUMENTS: Final = re.compile(r"\([^()]*\)")
_WORDS: Final = re.compile(r"[^\W]+")


def classify_type(sql_type: str) -> TypeClass | None:
    """The class of a type as written in SQL or in a schema file, or None where the type is unknown.

    Arguments (``TIMESTAMP(0)``), quoting, case and attributes (``UNSIGNED``, ``NOT NULL``) do not matter.
    ``TINYINT(1)`` is a number: SQLite and MySQL both compare it as one.
    """
    text = sql_type.strip().lower()[:_READ_CHARACTERS]
    while match := _WRAPPERS.match(text):
        text = match[1].strip()
    if text.endswith("[]") or text.startswith(("array<", "array(", "map<", "map(", "struct<", "struct(")):
        return "other"
    previous = ""
    while previous != text:
        previous, text = text, _ARGUMENTS.sub(" ", text)
    words = _WORDS.findall(text)
    if not words:
        return None
    if words[0] in _CLASS_OF:
        # "national character", "double precision", "long raw" and "bit varying" are told by more than the
        # first word.
        if words[:2] == ["bit", "varying"] or words[:2] == ["long", "raw"]:
            return "other"
        if words[:2] == ["long", "varchar"]:
            return "text"
        return _CLASS_OF[words[0]]
    for word in words[1:3]:
        if words[0] in ("national", "native", "varying", "big", "signed", "zoned") and word in _CLASS_OF:
            return _CLASS_OF[word]
    for part, cls in _PARTS:
        if part in words[0]:
            return cls
    return None
