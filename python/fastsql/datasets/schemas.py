"""The schemas of a data set, with what its questions take for granted: the bounds of normal."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType

from fastsql.datasets.examples import DatasetError
from fastsql.schema import Constant, Schema, load_uniform

NORMAL_RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "temperature": (35.5, 38.1),
        "sao2": (95.0, 100.0),
        "heart_rate": (60.0, 100.0),
        "respiration": (12.0, 18.0),
        "systolic_bp": (90.0, 120.0),
        "diastolic_bp": (60.0, 90.0),
        "mean_bp": (60.0, 110.0),
    }
)
"""Bounds of normal of EHRSQL's vital signs, in MIMIC's units: gold writes ``NOT BETWEEN sao2_lower AND sao2_upper``."""

_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "temperature": "body temperature",
        "sao2": "oxygen saturation sao2 spo2",
        "heart_rate": "heart rate",
        "respiration": "respiratory rate",
        "systolic_bp": "systolic blood pressure",
        "diastolic_bp": "diastolic blood pressure",
        "mean_bp": "mean blood pressure",
    }
)
VITAL_SIGN_TABLES = ("chartevents", "vitalperiodic")
"""Tables of MIMIC and of eICU that the bounds are of."""


def read_schemas(path: str | Path, *, databases: Collection[str] | None = None) -> dict[str, Schema]:
    """The schemas of a uniform ``schemas.json`` by database id; with their normal ranges, see :func:`with_normal_ranges`.

    Raises:
        DatasetError: no such file, or one of `databases` is not in it.
        SchemaError: an entry is unusable.
    """
    path = Path(path)
    if not path.is_file():
        raise DatasetError("no such file", where=str(path), remedy="Give the schemas.json of the data set.")
    schemas = load_uniform(path)
    missing = sorted(set(databases or ()).difference(schemas))
    if missing:
        raise DatasetError(
            f"has no schema of database {missing[0]!r}", where=str(path), remedy="Give the matching file."
        )
    return {
        name: with_normal_ranges(schema)
        for name, schema in schemas.items()
        if databases is None or name in databases
    }


def with_normal_ranges(schema: Schema) -> Schema:
    """The schema with EHRSQL's bounds of normal as named constants, if it has a table of vital signs."""
    if all(schema.find_table(table) is None for table in VITAL_SIGN_TABLES):
        return schema
    known = {constant.name for constant in schema.constants}
    bounds = [
        Constant(f"{name}_{end}", bound, label=f"{end} normal limit of {_LABELS[name]}")
        for name, (lower, upper) in NORMAL_RANGES.items()
        for end, bound in (("lower", lower), ("upper", upper))
    ]
    return schema.with_constants((*schema.constants, *(bound for bound in bounds if bound.name not in known)))
