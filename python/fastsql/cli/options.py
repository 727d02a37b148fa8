"""Arguments that several commands share, and what they mean."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.errors import FastSQLError

if TYPE_CHECKING:
    from fastsql.parser import Parser, ParserByLanguage

DEFAULT_MODEL = "ehr-en"
BY_LANGUAGE = "auto"


def add_model_options(parser: argparse.ArgumentParser, default: str = DEFAULT_MODEL) -> None:
    """Which model, on what, and how careful; `default`: the model where none is named."""
    group = parser.add_argument_group("model")
    group.add_argument(
        "--model",
        metavar="M",
        default=default,
        help="a bundled model, a bundle's folder, or auto: the model of the question's language (default: %(default)s)",
    )
    group.add_argument(
        "--device",
        metavar="D",
        default="auto",
        help="auto, python, cpu or cuda; see fastsql doctor (default: %(default)s)",
    )
    group.add_argument(
        "--encoder",
        metavar="E",
        default="auto",
        help="what reads the question: auto, native, onnxruntime or numpy; see fastsql doctor (default: %(default)s)",
    )
    group.add_argument(
        "--penalty",
        metavar="C",
        type=penalty,
        help="how many right answers a wrong one outweighs; the higher, the more is refused (default: the model's)",
    )
    group.add_argument(
        "--as-written",
        action="store_true",
        help="leave comparisons, dates and order as the model writes them, whatever plain words of the question say",
    )


def load_parser(options: argparse.Namespace, *, suggest: bool = True) -> Parser | ParserByLanguage:
    """The parser that the options ask for; `suggest`: whether its refusals say what would help."""
    import fastsql

    settings: dict[str, Any] = {
        "device": options.device,
        "encoder": options.encoder,
        "suggest": suggest,
        "as_written": options.as_written,
    }
    if options.penalty is not None:
        settings["penalty"] = options.penalty
    parser: Parser | ParserByLanguage = fastsql.load(options.model, **settings)
    return parser


def penalty(text: str) -> float:
    """A penalty: a number of at least 0."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number of at least 0")
    return value


def positive(text: str) -> int:
    """A whole number of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return value


def count(text: str) -> int:
    """A whole number of at least 0."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 0")
    return value


def share(text: str) -> float:
    """A share: a number from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0 to 1")
    return value


def seconds(text: str) -> float:
    """A time span longer than 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds above 0")
    return value


def moment(text: str) -> str:
    """A time as SQLite writes it; a date alone means its midnight."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        text = f"{text} 00:00:00"
    try:
        datetime.strptime(text, "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007 - databases hold local times without a zone
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as '2100-12-31 23:59:00'") from error
    return text


def output_file(text: str) -> Path:
    """A file to write; checked before hours of work have gone by."""
    path = Path(text)
    if not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"{path.parent} is not a folder")
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{path} is a folder")
    return path


def output_folder(text: str) -> Path:
    """A folder to write into, to be made if it is missing; checked before hours of work have gone by."""
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"{path} is not a folder")
    if not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"{path.parent} is not a folder")
    return path


def keep_sources(outputs: Iterable[Path], sources: Iterable[str | Path | None]) -> None:
    """Raises FastSQLError where an output is a file that is read, or a database in a folder of them."""
    written = [output for output in outputs if output.exists()]
    for source in filter(None, sources):
        read = _file(str(source))
        for output in written:
            if read.exists() and (read.samefile(output) or _is_database_of(output, read)):
                raise FastSQLError(
                    "it would be written over", where=str(output), remedy="Name another file to write."
                )


def _file(source: str) -> Path:
    """The file that a path or a database's URL names."""
    _, is_url, path = source.rpartition(":///")
    return Path(path.partition("?")[0] if is_url else path)


def _is_database_of(output: Path, folder: Path) -> bool:
    """Whether an output is in a folder of databases, and no JSON as results are."""
    return folder.resolve() in output.resolve().parents and ".json" not in output.suffixes
