"""What happens to a patient, and where MIMIC-IV keeps it: one entry a kind of event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Kind:
    """One kind of event.

    `key` is the column that says what it was. Where `terms` names a terminology table, the key is a code there and
    `title` its column of names; otherwise the key is the name itself. `number` is the column of what was measured or given.
    """

    name: str
    table: str
    time: str
    key: str
    terms: str = ""
    title: str = ""
    number: str = ""
    by_stay: bool = False  # belongs to a stay in intensive care, not only to a hospital visit
    one_code: bool = False  # a name has exactly one code

    def column(self, name: str) -> str:
        """The qualified name of a column of the event's table."""
        return f"{self.table}.{name}"

    @property
    def when(self) -> str:
        """The qualified column of the event's time."""
        return self.column(self.time)

    @property
    def what(self) -> str:
        """The qualified column that says what the event was."""
        return self.column(self.key)


def _coded(name: str, table: str) -> Kind:
    """Diagnoses and procedures, coded by ICD."""
    return Kind(name, table, "charttime", "icd_code", f"d_icd_{table[:-4]}", "long_title", one_code=True)


def _charted(name: str, table: str, time: str, number: str) -> Kind:
    """What is charted in intensive care; the items of several tables share one terminology."""
    return Kind(name, table, time, "itemid", "d_items", "label", number, by_stay=True)


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            _coded("diagnosis", "diagnoses_icd"),
            _coded("procedure", "procedures_icd"),
            Kind("drug", "prescriptions", "starttime", "drug", number="dose_val_rx"),
            Kind("route", "prescriptions", "starttime", "route"),
            Kind("lab", "labevents", "charttime", "itemid", "d_labitems", "label", "valuenum"),
            Kind("specimen", "microbiologyevents", "charttime", "spec_type_desc"),
            Kind("culture", "microbiologyevents", "charttime", "test_name"),
            Kind("organism", "microbiologyevents", "charttime", "org_name"),
            Kind("careunit", "transfers", "intime", "careunit"),
            _charted("vital", "chartevents", "charttime", "valuenum"),
            _charted("input", "inputevents", "starttime", "totalamount"),
            _charted("output", "outputevents", "charttime", "value"),
        )
    }
)
"""All kinds by name. `route`, `culture` and `organism` look at another column of a prescription or a microbiology test."""

CHARGED = frozenset({"diagnosis", "procedure", "drug", "lab"})
"""Kinds that the table of costs has entries for, under the name of their table."""

VITAL_SIGNS: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "heart rate": ("heart_rate", ("heart rate", "heart rate", "pulse")),
        "respiratory rate": ("respiration", ("respiratory rate", "respiratory rate", "respiration rate")),
        "o2 saturation pulseoxymetry": ("sao2", ("SpO2", "SpO2", "o2 saturation pulseoxymetry")),
        "temperature celsius": ("temperature", ("body temperature", "temperature celsius", "temperature")),
        "arterial blood pressure systolic": (
            "systolic_bp",
            ("systolic blood pressure", "systolic blood pressure", "arterial blood pressure systolic"),
        ),
        "arterial blood pressure diastolic": (
            "diastolic_bp",
            ("diastolic blood pressure", "diastolic blood pressure", "arterial blood pressure diastolic"),
        ),
        "arterial blood pressure mean": (
            "mean_bp",
            ("mean blood pressure", "mean blood pressure", "arterial blood pressure mean"),
        ),
    }
)
"""Vital signs by their label in `d_items`: the name of their bounds of normal, and how people call them."""

BODY_MEASURES: Mapping[str, str] = MappingProxyType({"daily weight": "weight", "height (cm)": "height"})
"""Measures of the body by their label in `d_items`, with what people call them."""
