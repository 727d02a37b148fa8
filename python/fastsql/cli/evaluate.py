"""``fastsql eval``: how good a model is on a data set."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from fastsql.cli.console import Console
from fastsql.cli.options import add_model_options, load_parser, moment, output_file, positive, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from fastsql.datasets import DatabaseFiles, Example
    from fastsql.evaluation import Prediction
    from fastsql.evaluation.evaluate import ParserLike

_EPILOG = """\
examples:
  fastsql eval valid.json --schemas schemas.json --databases mimic_iv.sqlite.gz \\
      --now "2100-12-31 23:59:00" --seen train.json --predictions predictions.json --json report.json
  fastsql eval dev.json --schemas schemas.json --databases databases/
  fastsql eval examples.json.gz --schemas schemas.json --split-ids splits.json:template.dev --limit 100
  fastsql eval valid.json --schemas schemas.json --databases db.sqlite --from-predictions predictions.json

figures, in percent unless they are counts:
  ex          gold's result, of the best hypothesis before refusal, over answerable questions
  em          the same canonical form but for values; em_values: with values
  rs          reliability: 1 for right, 0 for a refusal of an answerable question, -c for wrong; mean, for c = 0, 5, 10, N
  wrong, abstained   questions answered wrongly (or answered at all, if unanswerable), and refused
  valid_sql   predicted SQL that runs
  latency_ms  of a parse, the schema being encoded already
Results are compared as the EHRSQL 2024 scorer does: cells rounded to three decimals, rows sorted, the first 100 of them.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "eval",
        help="measure a model on a data set",
        description="Parse every question of a data set, run gold and predicted SQL, and report how well that went.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    data = parser.add_argument_group("data")
    data.add_argument(
        "data", metavar="DATA", help="examples: a list of {id, db_id, question, sql}, .json or .json.gz"
    )
    data.add_argument("--schemas", metavar="S", required=True, help="the data set's schemas.json")
    data.add_argument(
        "--databases",
        metavar="D",
        help="an SQLite file (or .gz), or a folder of them; without, nothing is run",
    )
    data.add_argument(
        "--split-ids",
        metavar="F",
        help="only these ids: a list, or FILE:a.b for the list under those keys of a JSON file",
    )
    data.add_argument("--limit", metavar="N", type=positive, help="only the first N")
    data.add_argument(
        "--seen", metavar="TRAIN", help="examples trained on: figures for seen and unseen SQL skeletons"
    )
    data.add_argument(
        "--now", metavar="TIME", type=moment, help='the time that "now" means in gold and predicted SQL'
    )
    run_group = parser.add_argument_group("running")
    run_group.add_argument(
        "--jobs", metavar="N", type=positive, help="processes that run SQL (default: one a CPU)"
    )
    run_group.add_argument(
        "--time-limit",
        metavar="S",
        type=seconds,
        default=10.0,
        help="seconds a query may run (default: %(default)g)",
    )
    run_group.add_argument(
        "--no-values", action="store_true", help="the model sees the schema only, no value of the database"
    )
    run_group.add_argument(
        "--from-predictions", metavar="P", help="judge predictions made before instead of running a model"
    )
    out = parser.add_argument_group("output")
    out.add_argument("--json", metavar="OUT", type=output_file, help="write the figures here")
    out.add_argument(
        "--predictions",
        metavar="P",
        type=output_file,
        help="write {id, sql, confidence, abstained} of every question",
    )
    add_model_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Evaluate, write the files, print the figures."""
    from fastsql.datasets import DatabaseFiles, read_examples, read_schemas, read_split_ids
    from fastsql.evaluation import Options, evaluate, read_predictions, write_predictions
    from fastsql.evaluation.evaluate import training_skeletons

    console = Console(out=sys.stdout)
    ids = None if options.split_ids is None else read_split_ids(options.split_ids)
    examples = read_examples(options.data, ids=ids, limit=options.limit)
    db_ids = {example.db_id for example in examples}
    schemas = read_schemas(options.schemas, databases=db_ids)
    seen = None if options.seen is None else training_skeletons(read_examples(options.seen))
    given = options.from_predictions
    parser: ParserLike | Mapping[str, Prediction] = (
        load_parser(options) if given is None else read_predictions(given)
    )
    with DatabaseFiles(options.databases, db_ids) as databases:
        _warn_of_missing(db_ids, databases, options.databases)
        settings = Options(
            now=options.now,
            jobs=options.jobs,
            time_limit=options.time_limit,
            values=not options.no_values,
            penalty=getattr(parser, "penalty", None) if options.penalty is None else options.penalty,
            seen=seen,
        )
        report = evaluate(parser, examples, schemas, databases, settings, console.track)
    figures = report.to_json()
    if options.predictions is not None:
        write_predictions(options.predictions, report.predictions)
    if options.json is not None:
        _write_json(options.json, figures)
    _print(console, figures, examples)
    return 0


def _warn_of_missing(db_ids: set[str], databases: DatabaseFiles, source: str | None) -> None:
    missing = sorted(db_id for db_id in db_ids if databases.path(db_id) is None)
    if source is not None and missing:
        names = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        sys.stderr.write(f"fastsql: {source} lacks {len(missing)} of {len(db_ids)} databases: {names}\n")


def _write_json(path: Path, figures: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _print(console: Console, figures: Mapping[str, Any], examples: Sequence[Example]) -> None:
    details = figures["details"]
    answerable = sum(example.answerable for example in examples)
    console.line(f"{figures['n']:,} questions, {answerable:,} of them answerable")
    rows: list[tuple[str, str]] = [
        ("execution accuracy", _percent(figures["ex"])),
        ("exact match", f"{_percent(figures['em'])}, with values {_percent(figures['em_values'])}"),
        ("valid SQL", _percent(figures["valid_sql"])),
        ("reliability", ", ".join(f"RS({name}) {_number(value)}" for name, value in figures["rs"].items())),
        ("wrong, abstained", f"{_number(figures['wrong'])}, {figures['abstained']}"),
        (
            "latency",
            ", ".join(f"{name} {_number(value)} ms" for name, value in figures["latency_ms"].items()),
        ),
        (
            "gold answers empty",
            f"{details['gold_empty']}, accuracy on the others {_percent(details['ex_gold_not_empty'])}",
        ),
    ]
    for name in ("seen", "unseen"):
        if name in details:
            part = details[name]
            rows.append(
                (f"{name} skeletons", f"{part['n']:,} questions, execution accuracy {_percent(part['ex'])}")
            )
    for name, label in (("gold_failed", "gold SQL that fails"), ("timeouts", "ran out of time")):
        if details[name]:
            rows.append((label, str(details[name])))
    for kind, count in details["errors"].items():
        rows.append((kind, str(count)))
    width = max(len(label) for label, _ in rows)
    for label, text in rows:
        console.line(f"  {label:<{width}}  {text}")


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} %"


def _number(value: int | float | None) -> str:
    return "-" if value is None else f"{value:,.1f}".removesuffix(".0")
