"""``fastsql eval``: how good a model is on a data set."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fastsql.cli.console import Console
from fastsql.cli.figures import print_figures
from fastsql.cli.options import (
    add_model_options,
    count,
    load_parser,
    moment,
    output_file,
    output_folder,
    positive,
    seconds,
)
from fastsql.cli.remembered import add_examples_option, remember_file
from fastsql.cli.schema_options import add_profile_option, profile_files_of
from fastsql.errors import FastSQLError, SchemaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastsql import Parser
    from fastsql.datasets import DatabaseFiles, Example
    from fastsql.evaluation import Prediction
    from fastsql.evaluation.asking import ParserLike
    from fastsql.schema import Schema

_EPILOG = """\
examples:
  fastsql eval valid.json --schemas schemas.json --databases mimic_iv.sqlite.gz \\
      --now "2100-12-31 23:59:00" --seen train.json --predictions predictions.json --json report.json
  fastsql eval dev.json --schemas schemas.json --databases databases/
  fastsql eval examples.json.gz --schemas schemas.json --split-ids splits.json:template.dev --limit 100
  fastsql eval valid.json --schemas schemas.json --databases db.sqlite --from-predictions predictions.json \\
      --report report.html --plots diagrams/

figures, in percent unless they are counts:
  ex          gold's result, of the best hypothesis before refusal, over answerable questions
  em          the same canonical form but for values; em_values: with values
  rs          reliability: 1 for right, 0 for a refusal of an answerable question, -c for wrong; mean, for c = 0, 5, 10, N
  wrong, abstained   questions answered wrongly (or answered at all, if unanswerable), and refused
  Se, Sp      share of the unanswerable questions that are refused, of the answerable ones that are answered
  valid_sql   predicted SQL that runs
  QM, IM, IFF of conversations: turns that are right, conversations that are right throughout, and the number of the first
              turn that failed (turns + 1 where none did). Each turn is asked with the parser's own best hypotheses before
              it; without any database, a turn is right where em counts it
  latency_ms  of a parse, the schema being encoded already
  (a to b)    95 % interval, from a bootstrap that draws SQL skeletons with all their questions; Wilson's, and marked so,
              where a share is of fewer than 40 questions, or has fewer than 5 of one outcome
Results are compared as the EHRSQL 2024 scorer does: cells rounded to three decimals, rows sorted, the first 100 of them.

--report writes one HTML page with all figures, diagrams, and examples of what went wrong. The page shows questions and SQL,
which may name patients and hold values of the database: keep it where the data may lie. It is written only when asked
for, and so are --predictions, which hold SQL. Neither --json nor what is printed holds questions, SQL or values.
--report and --plots need matplotlib: pip install matplotlib
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
        "--made",
        metavar="N",
        type=count,
        default=0,
        help="where there is no database, compare results on N small ones that are made for each question, in which what "
        "gold's query compares with stands (default: compare forms)",
    )
    add_profile_option(data, several=True)
    data.add_argument(
        "--reference",
        metavar="T,...",
        type=lambda text: text.split(","),
        default=[],
        help="tables that are terminologies, whose rows are read with the values; of the schemas that have them",
    )
    add_examples_option(data)
    data.add_argument(
        "--split-ids",
        metavar="F",
        help="only these ids: a list, or FILE:a.b for the list under those keys of a JSON file",
    )
    data.add_argument(
        "--limit",
        metavar="N",
        type=positive,
        help="a sample of N: by kind, difficulty and whether there is an answer, where the data say so, and by database; "
        "of conversations, N whole ones",
    )
    data.add_argument(
        "--seed",
        metavar="S",
        type=count,
        default=0,
        help="of the sample, and of the bootstrap (default: %(default)s)",
    )
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
    run_group.add_argument(
        "--beam", metavar="N", type=positive, help="hypotheses that a parse keeps (default: the parser's)"
    )
    run_group.add_argument(
        "--inspect",
        action="store_true",
        help="run the likeliest queries on the database, read-only, and weigh what they return, before one is chosen",
    )
    out = parser.add_argument_group("output")
    out.add_argument("--json", metavar="OUT", type=output_file, help="write the figures here")
    out.add_argument(
        "--predictions",
        metavar="P",
        type=output_file,
        help="write {id, sql, confidence, abstained} of every question",
    )
    out.add_argument(
        "--report",
        metavar="R.html",
        type=output_file,
        help="write a page with figures, diagrams and examples; it shows questions and SQL",
    )
    out.add_argument(
        "--shown",
        metavar="N",
        type=count,
        default=3,
        help="examples of each category of error on that page (default: %(default)s)",
    )
    out.add_argument(
        "--plots",
        metavar="DIR",
        type=output_folder,
        help="write the diagrams as PNG files into this folder",
    )
    out.add_argument(
        "--resamples",
        metavar="N",
        type=count,
        default=1000,
        help="draws of the bootstrap; 0 leaves the intervals of the main figures out (default: %(default)s)",
    )
    add_model_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Evaluate, write the files, print the figures."""
    from fastsql.datasets import DatabaseFiles, read_examples, read_schemas, read_split_ids
    from fastsql.datasets.interactions import as_interactions, is_conversational, require_whole
    from fastsql.datasets.profiles import with_profiles
    from fastsql.evaluation import (
        Options,
        evaluate,
        read_predictions,
        write_page,
        write_plots,
        write_predictions,
    )
    from fastsql.evaluation.evaluate import training_skeletons
    from fastsql.evaluation.plots import require_matplotlib
    from fastsql.evaluation.provenance import command_text

    if options.report is not None or options.plots is not None:
        require_matplotlib()
    console = Console(out=sys.stdout)
    ids = None if options.split_ids is None else read_split_ids(options.split_ids)
    examples = read_examples(options.data, ids=ids)
    if is_conversational(examples):
        as_interactions(examples, options.data)
        if ids is not None:
            require_whole(examples, read_examples(options.data), options.split_ids)
    examples, asked = _sampled(examples, options.limit, options.seed)
    db_ids = {example.db_id for example in examples}
    schemas = _marked(read_schemas(options.schemas, databases=db_ids), options.reference)
    schemas = with_profiles(schemas, profile_files_of(options, schemas))
    seen = None if options.seen is None else training_skeletons(read_examples(options.seen))
    given = options.from_predictions
    parser: ParserLike | Mapping[str, Prediction] = (
        load_parser(options, suggest=False) if given is None else read_predictions(given)
    )
    if isinstance(parser, dict):
        _warn_of_spare(parser, examples, whole=ids is None and options.limit is None, source=given)
    with DatabaseFiles(options.databases, db_ids) as databases:
        _warn_of_missing(db_ids, databases, options.databases)
        if options.examples is not None:
            _remember(options, parser, schemas, databases)
        settings = Options(
            now=options.now,
            jobs=options.jobs,
            time_limit=options.time_limit,
            values=not options.no_values,
            penalty=options.penalty,
            seen=seen,
            resamples=options.resamples,
            inspect=options.inspect,
            beam=options.beam,
            seed=options.seed,
            sampled_from=asked,
            command=command_text(options.command_line),
            made=options.made,
        )
        report = evaluate(parser, examples, schemas, databases, settings, console.track)
    figures = report.to_json()
    if options.predictions is not None:
        write_predictions(options.predictions, report.predictions)
    if options.json is not None:
        _write_json(options.json, figures)
    if options.report is not None:
        write_page(options.report, report, f"Evaluation on {Path(options.data).name}", examples=options.shown)
    if options.plots is not None:
        write_plots(options.plots, report)
    print_figures(console, figures, report.provenance)
    return 0


def _sampled(
    examples: tuple[Example, ...], limit: int | None, seed: int
) -> tuple[tuple[Example, ...], int | None]:
    """A sample of questions, or of whole conversations, and of how many questions it is one; None if of all."""
    from fastsql.datasets.interactions import is_conversational
    from fastsql.evaluation.sample import draw_interactions, draw_sample

    if limit is None:
        return examples, None
    draw = draw_interactions if is_conversational(examples) else draw_sample
    drawn = draw(examples, limit, seed)
    return drawn, len(examples) if len(drawn) < len(examples) else None


def _remember(
    options: argparse.Namespace,
    parser: ParserLike | Mapping[str, Prediction],
    schemas: Mapping[str, Schema],
    databases: DatabaseFiles,
) -> None:
    """Have the parser remember the pairs of `--examples`. FastSQLError where there is none, or the schema is not clear."""
    if len(schemas) > 1 or isinstance(parser, Mapping):
        why = f"the questions are on {len(schemas):,} schemas" if len(schemas) > 1 else "no model is asked"
        raise FastSQLError(
            f"its pairs are of one schema, and {why}", where=str(options.examples), remedy="Leave it out."
        )
    ((db_id, schema),) = schemas.items()
    values = None if options.no_values else databases.path(db_id)
    remember_file(cast("Parser", parser), options.examples, schema, values=values)


def _marked(schemas: Mapping[str, Schema], tables: Sequence[str]) -> dict[str, Schema]:
    """The schemas with these reference tables. Raises SchemaError for one that none of them has."""
    for table in tables:
        if all(schema.find_table(table) is None for schema in schemas.values()):
            raise SchemaError(
                "no schema has this table", where=f"--reference {table}", remedy="Check its name."
            )
    return {
        db_id: schema.with_reference_tables(*(t for t in tables if schema.find_table(t) is not None))
        for db_id, schema in schemas.items()
    }


def _warn_of_missing(db_ids: set[str], databases: DatabaseFiles, source: str | None) -> None:
    missing = sorted(db_id for db_id in db_ids if databases.path(db_id) is None)
    if source is not None and missing:
        names = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        sys.stderr.write(f"fastsql: {source} lacks {len(missing)} of {len(db_ids)} databases: {names}\n")


def _warn_of_spare(
    given: Mapping[str, Prediction], examples: Sequence[Example], *, whole: bool, source: str
) -> None:
    """Say so if predictions are of no question asked, although all of the data set's are."""
    spare = len(given.keys() - {example.id for example in examples})
    if whole and spare:
        sys.stderr.write(
            f"fastsql: {source} has {spare} predictions of other questions, which do not count\n"
        )


def _write_json(path: Path, figures: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
