"""The files that a configuration names are looked for before the first of them is read: that takes minutes."""

from __future__ import annotations

from collections.abc import Iterator

from fastsql.training.config import GOLD, ConfigError, DataSettings, SourceSettings, expand_path


def check_files(settings: DataSettings) -> None:
    """Raises ConfigError for the first file that is not there."""
    named = [name for source in settings.sources for name in _named(source)]
    for setting, path in [*named, ("data.held_out", settings.held_out)]:
        if path and not expand_path(path).exists():
            raise ConfigError(
                "there is no such file",
                where=f"{setting} {str(expand_path(path))!r}",
                remedy="Correct the configuration, or FASTSQL_DATA where it is part of the path.",
            )


def _named(source: SourceSettings) -> Iterator[tuple[str, str]]:
    yield "examples", source.examples
    yield "schemas", source.schemas
    yield "database", source.database
    yield "values", "" if source.values == GOLD else source.values
    for path in source.report:
        yield "report", path
