"""What a query may be made of: node types of sqlglot's trees with their arguments, functions, types, names of tables.

An allow-list: what is not here is refused, whatever it is. A function is on it if it computes its result from its arguments
alone, in time and space that they bound. Adding a construct to the renderer means adding it here, by hand.
"""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(text.split())


NODES: dict[str, str] = {
    # queries
    "Select": "expressions from_ joins where group having order limit offset distinct with_",
    "Subquery": "this alias",
    "Union": "this expression distinct order limit offset with_",
    "Intersect": "this expression distinct order limit offset with_",
    "Except": "this expression distinct order limit offset with_",
    "With": "expressions",
    "CTE": "this alias",
    "From": "this",
    "Join": "this on side kind using",
    "Table": "this db alias",
    "TableAlias": "this columns",
    "Where": "this",
    "Group": "expressions",
    "Having": "this",
    "Order": "this expressions",
    "Ordered": "this desc nulls_first",
    "Limit": "expression",
    "Fetch": "direction count limit_options",
    "LimitOptions": "rows",
    "Offset": "expression",
    "Distinct": "expressions",
    # names and literals
    "Column": "this table",
    "Identifier": "this quoted",
    "Alias": "this alias",
    "Star": "",
    "Literal": "this is_string",
    "Boolean": "this",
    "Null": "",
    "Neg": "this",
    # conditions
    "And": "this expression",
    "Or": "this expression",
    "Not": "this",
    "Paren": "this",
    "EQ": "this expression",
    "NEQ": "this expression",
    "LT": "this expression",
    "LTE": "this expression",
    "GT": "this expression",
    "GTE": "this expression",
    "Between": "this low high negate",
    "In": "this query expressions negate",
    "Is": "this expression negate",
    "Like": "this expression negate",
    "Escape": "this expression",
    "Exists": "this",
    # values
    "Add": "this expression",
    "Sub": "this expression",
    "Mul": "this expression",
    "Div": "this expression typed safe",
    "Mod": "this expression",
    "DPipe": "this expression safe",
    "Case": "this ifs default",
    "If": "this true false",
    "Cast": "this to",
    "DataType": "this expressions nested",
    "DataTypeParam": "this",
    "Window": "this partition_by order over",
}
"""Arguments of each node type that any dialect may use."""

FUNCTIONS: dict[str, str] = {
    "Count": "this expressions big_int",
    "Sum": "this",
    "Avg": "this",
    "Min": "this expressions",
    "Max": "this expressions",
    "DenseRank": "",
    "Rank": "",
    "RowNumber": "",
    "PercentRank": "",
    "Lag": "this",
    "Lead": "this",
    "Abs": "this",
    "Round": "this decimals",
    "Length": "this",
    "StrPosition": "this substr",
    "Lower": "this",
    "Upper": "this",
    "Trim": "this",
    "Coalesce": "this expressions",
    "Nullif": "this expression",
    "Substring": "this start length",
    "CurrentDate": "",
    "CurrentTime": "",
    "CurrentTimestamp": "",
}
"""Functions of any dialect, as sqlglot reads them."""

_TYPED = {
    "Anonymous": "this expressions",
    "Extract": "this expression",
    "Interval": "this unit",
    "Localtimestamp": "",
    "Right": "this expression",
    "Var": "this",
}
"""What all dialects but SQLite share: times and texts that have functions of their own."""
_POSTGRES_LIKE = _TYPED | {
    "DateTrunc": "this unit",
    "Greatest": "this expressions ignore_nulls",
    "ILike": "this expression negate",
    "IntDiv": "this expression",
    "Least": "this expressions ignore_nulls",
    "RegexpReplace": "this expression replacement modifiers single_replace",
    "TimeToStr": "this format",
    "TimestampTrunc": "this unit",
    "Trunc": "this",
}
DIALECT_NODES: dict[str, dict[str, str]] = {
    "sqlite": {
        "Anonymous": "this expressions",
        "Date": "this",
        "TimeToStr": "this format",
        "TsOrDsToTimestamp": "this",
    },
    "postgres": _POSTGRES_LIKE
    | {"ArrayAgg": "this", "Bracket": "this expressions offset", "ToChar": "this format"},
    "duckdb": _POSTGRES_LIKE | {"First": "this", "TryCast": "this to safe"},
    "mysql": _TYPED
    | {
        "AnyValue": "this",
        "Concat": "expressions safe coalesce",
        "IntDiv": "this expression",
        "TimeToStr": "this format",
        "Timestamp": "this zone",  # TIMESTAMP(date, time): sqlglot takes the time for a zone
        "TimestampDiff": "this expression unit",
        "Trunc": "this decimals",
        "TsOrDsToTimestamp": "this",
    },
    "tsql": _TYPED
    | {
        "DateAdd": "this expression unit",
        "DateDiff": "this expression unit big_int",
        "TimeStrToTime": "this",
        "TimeToStr": "this format culture",
        "TryCast": "this to safe",
    },
}
"""What a dialect has beside `NODES` and `FUNCTIONS`; only these dialects are verified."""

_SHARED = """
    abs avg cast coalesce count dense_rank lag lead length lower max min nullif percent_rank rank round row_number substr
    substring sum trim upper
"""
NAMES: dict[str, frozenset[str]] = {
    dialect: words(f"{_SHARED} {names}")
    for dialect, names in {
        "sqlite": "date datetime ifnull iif instr julianday strftime time",
        "postgres": "array_agg date_trunc div extract greatest least position regexp_replace right to_char trunc",
        "duckdb": """arg_max_null arg_min_null date_trunc extract first greatest least regexp_replace right strftime
            strpos to_seconds trunc try_cast""",
        "mysql": """any_value char_length concat date_format div extract interval locate right timestamp timestampdiff
            truncate weekday""",
        "tsql": "charindex datediff datediff_big dateadd datepart format len right sysdatetime try_cast",
    }.items()
}
"""Names of functions by dialect, folded, as they are written: sqlglot reads several names as one node type."""

KEYWORDS = words(
    """
    all and as between by case distinct else escape except exists from having ilike in intersect is join like limit not
    offset on or order over partition select then union using when where
    """
)
"""Words that may stand before a parenthesis without calling anything."""

TYPES = words(
    """
    BIGINT BOOLEAN CHAR DATE DATETIME DATETIME2 DECIMAL DOUBLE FLOAT INT INTERVAL SMALLINT TEXT TIME TIMESTAMP TIMESTAMPNTZ
    TIMESTAMPTZ UUID VARCHAR
    """
)
"""Types that a value may be cast to. Others look names up in the catalogue (regclass) or read code of extensions."""
DIALECT_TYPES: dict[str, frozenset[str]] = {
    "sqlite": words("BIGINT CHAR DOUBLE FLOAT INT SMALLINT TEXT VARCHAR")
}
"""By dialect, the types that are written as they were read, where those are not all of `TYPES`."""
TYPE_NAMES = words("decimal numeric varchar char timestamp time double float")
"""Names of types that take parameters."""

UNITS = words("EPOCH DAYOFWEEK DOW YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MAX")
"""Parts of a time, and the size of VARCHAR(MAX): the only bare words that are no names."""

JOIN_SIDES = ("", "LEFT", "RIGHT", "FULL")
JOIN_KINDS = ("", "INNER", "CROSS", "OUTER")
"""How tables may be joined: the words before JOIN."""

SYSTEM_TABLES: dict[str, tuple[str, ...]] = {
    "sqlite": ("sqlite_", "pragma_"),
    "postgres": ("pg_",),
    "duckdb": ("pg_", "duckdb_", "sqlite_", "pragma_"),
    "mysql": (),
    "tsql": ("#",),
}
"""What names of system tables begin with, by dialect: refused even if the schema lists one."""
SYSTEM_NAMESPACES: dict[str, tuple[str, ...]] = {
    "sqlite": ("temp",),
    "postgres": ("pg_", "information_schema"),
    "duckdb": ("pg_", "information_schema", "system", "temp"),
    "mysql": ("mysql", "information_schema", "performance_schema", "sys"),
    "tsql": ("sys", "information_schema", "guest", "db_"),
}
"""System namespaces by dialect, an underscore at the end for all that begin so: refused even if the schema lists one."""
FILE_MARKS: dict[str, str] = {"duckdb": "/\\.*?:"}
"""By dialect, characters that make the name of a table that is missing that of a file."""
