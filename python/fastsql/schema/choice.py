"""Which tables and views of a source make up a schema: chosen before anything of them is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from fastsql.errors import SchemaError
from fastsql.schema.names import fold

Names = Iterable[str]
"""Names of tables as SQL writes them, "patients" or "billing.invoices"; ``*`` stands for any characters."""


@dataclass(frozen=True)
class Choice:
    """Tables and views by name; made by :meth:`of`.

    A name that fits nothing is an error: it may be one that should be hidden.
    """

    tables: tuple[str, ...] | None = None
    """None for all."""
    exclude: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    _met: set[str] = field(default_factory=set, compare=False, repr=False)

    @classmethod
    def of(cls, tables: Names | None, exclude: Names, views: bool | Names = False) -> Choice:
        """The choice that the arguments of :meth:`Schema.from_sqlite` and its kin make. Raises SchemaError."""
        names = {"tables": tables, "exclude": exclude, "views": () if isinstance(views, bool) else views}
        read = {what: None if found is None else _texts(found, what) for what, found in names.items()}
        if read["tables"] == ():
            raise SchemaError(
                "no table is chosen", where="tables", remedy="Name one, or leave it out for all."
            )
        return cls(read["tables"], read["exclude"] or (), ("*",) if views is True else read["views"] or ())

    def wants(self, name: str, namespace: str = "", *, view: bool = False) -> bool:
        """Whether a table or view is chosen; `namespace` is that which SQL would name it with, or its own."""
        names = (fold(name), fold(f"{namespace}.{name}"))
        wanted = self.views if view else self.tables
        chosen = wanted is None or self._fits(names, wanted)
        return not self._fits(names, self.exclude) and chosen

    def check(self) -> None:
        """Raise SchemaError unless every name fitted a table or view that was asked for; patterns may fit none."""
        for what, names in (("tables", self.tables or ()), ("exclude", self.exclude), ("views", self.views)):
            for name in names:
                if "*" not in name and name not in self._met:
                    kind = "view" if what == "views" else "table"
                    raise SchemaError(
                        f"there is no {kind} of this name to choose from",
                        where=f"{what}: {name!r}",
                        remedy="Check its spelling, and that it is in the namespace that is read.",
                    )

    def _fits(self, names: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
        fitting = [p for p in patterns if any(_matches(name, fold(p)) for name in names)]
        self._met.update(fitting)
        return bool(fitting)


def _texts(names: object, what: str) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise SchemaError(
            "it must be a list of names", where=what, remedy=f'For one table, write ["{what}"].'
        )
    found = tuple(names)
    if not all(isinstance(name, str) and name for name in found):
        raise SchemaError("it holds something that is no name", where=what)
    return found


def _matches(name: str, pattern: str) -> bool:
    """Equal but for ``*``; brackets and question marks are letters like any other."""
    if "*" not in pattern:
        return name == pattern
    return fnmatchcase(name, pattern.replace("[", "[[]").replace("?", "[?]"))


ALL = Choice()
"""Every table and no view."""
