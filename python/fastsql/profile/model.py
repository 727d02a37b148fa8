"""What a profile knows of a schema: the "enhanced schema" of ScienceBenchmark (Zhang et al., VLDB 2023, section 3.3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from fastsql.schema.model import Value

Kind = Literal["identifier", "code", "category", "amount", "measure", "date", "name", "text", "other"]
"""What a column is like:

identifier  tells things apart and means nothing: keys, numbers of records, of phones
code        stands for something by a terminology: an ICD code, a postal code
category    one of a few values
amount      counted or paid: a quantity, a cost
measure     measured, mostly in a unit: a weight, a dose, an age
date        a date, a time, a year
name        what a thing or a person is called
text        free text
other       what no question can be about, such as a picture
"""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
NUMBERS: Final[tuple[Kind, ...]] = ("amount", "measure")
"""Kinds that can be added up and averaged."""
LEAST_PATIENTS = 10
"""How many patients must share a value before a file may hold it; rows where those are patients or of a terminology."""
BY_ROWS = "(rows, in tables of persons and terminologies)"
"""What is said of that count wherever it is."""


@dataclass(frozen=True)
class ColumnProfile:
    """What is known of a column."""

    words: str
    """The name in words, abbreviations spelled out."""
    kind: Kind
    label: str = ""
    """What the model reads in place of the name, where a source or a person gave it."""
    synonyms: tuple[str, ...] = ()
    description: str = ""
    unit: str = ""
    unit_column: str = ""
    """The column of the same table that says the unit of each row."""
    aggregatable: bool = False
    """Whether SUM, AVG, MIN and MAX of it mean something; of a date, MIN and MAX do in any case."""
    group: str = ""
    """Columns of one group may be added, subtracted and compared."""
    refers_to: str = ""
    """ "table.column" of a key that it refers to, and nobody declared."""
    values: Mapping[Value, tuple[str, ...]] = field(default_factory=dict)
    """Values of a category, with what they are called beside."""

    @property
    def called(self) -> str:
        """The readable name: the label, else the words."""
        return self.label or self.words


@dataclass(frozen=True)
class TableProfile:
    """What is known of a table."""

    words: str
    label: str = ""
    synonyms: tuple[str, ...] = ()
    description: str = ""
    row: tuple[str, ...] = ()
    """The columns that name a row: what "which patients" asks for."""
    reference: bool = False
    """Whether it is a terminology, a list of codes with their titles, and nothing of a patient."""

    @property
    def called(self) -> str:
        """The readable name: the label, else the words."""
        return self.label or self.words


@dataclass(frozen=True)
class Profile:
    """Tables and columns in the order of a schema."""

    schema: str
    tables: tuple[TableProfile, ...]
    columns: tuple[ColumnProfile, ...]
    warnings: tuple[str, ...] = field(default=(), compare=False)
