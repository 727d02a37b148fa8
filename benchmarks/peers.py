"""How long does a sequence-to-sequence parser take for what fastsql does, on the same machine, in the same run?

    python benchmarks/peers.py                             T5-base; minutes, with progress on standard error
    python benchmarks/peers.py --quick                     one run of each, shorter texts: does it work here?
    python benchmarks/peers.py --repeat 5 --json peers.json

The other side is T5-base (Raffel et al., 2020), the smallest parser of the EHRSQL papers: 12 layers of 768 each side, 220
million parameters. Its weights are random, which costs what trained ones cost; it reads 512 tokens (question and schema,
as those parsers write them) and writes exactly 120, the end of the text being forbidden before. It runs in transformers on
PyTorch (float32, cached keys and values), and in CTranslate2 with float32 and with int8 weights. Fastsql parses questions
of ehrsql2024 valid from text to verified SQL, on a schema that it has encoded before. Rounds alternate between all of them;
the median of a system's rounds counts. Processor time is that of all threads: what other work on the machine takes is not
in it.

Needs torch, transformers and ctranslate2. Nothing is downloaded: architecture and vocabulary are made here.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import fastsql
from fastsql.datasets import read_examples, read_schemas
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parent))
from figures import Figures, show, spread
from record import machine, save

SIZES = {
    "base": {"d_model": 768, "d_kv": 64, "d_ff": 3072, "num_layers": 12, "num_heads": 12},
    "tiny": {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 1, "num_heads": 4},
}
"""T5-base as published, and a size for trying the script out."""
VOCABULARY = 32_128
SPECIAL = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
"""The first words of the vocabulary, by what they are for."""
BEAMS = (1, 4)
Generate = Callable[[int], None]
"""Writes the text once with a beam of that width."""


@dataclass(frozen=True)
class System:
    """Something that parses, with the threads it was given."""

    name: str
    threads: int
    generate: Generate

    @property
    def label(self) -> str:
        """A row's name."""
        return f"{self.name}, {self.threads} thread{'s' * (self.threads > 1)}"


class MissingPackageError(RuntimeError):
    """PyTorch, transformers or CTranslate2 is not installed."""


def t5(size: str, folder: Path) -> Any:
    """A T5 of random weights, kept with its vocabulary in `folder` for conversion. Raises MissingPackageError."""
    try:
        import torch
        from tokenizers import Tokenizer, models
        from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration
        from transformers.utils import logging
    except ImportError as error:
        raise MissingPackageError(f"{error.name} is not installed: pip install torch transformers") from error
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.manual_seed(0)
    sizes = SIZES[size]
    config = T5Config(
        vocab_size=VOCABULARY,
        **sizes,
        num_decoder_layers=sizes["num_layers"],
        relative_attention_num_buckets=32,
        relative_attention_max_distance=128,
        feed_forward_proj="relu",
        tie_word_embeddings=True,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    model = T5ForConditionalGeneration(config).eval()
    words = [*SPECIAL.values(), *(f"w{index}" for index in range(len(SPECIAL), VOCABULARY))]
    vocabulary = models.WordLevel(
        {word: index for index, word in enumerate(words)}, unk_token=SPECIAL["unk_token"]
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(vocabulary), **SPECIAL)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model


def in_transformers(model: Any, read: int, written: int, threads: Sequence[int]) -> list[System]:
    """The model in PyTorch. The number of threads is the process's, so it is set before each run."""
    import torch

    ids = torch.arange(read)[None] % (VOCABULARY - 1000) + len(SPECIAL)

    def generate(count: int, beam: int) -> None:
        torch.set_num_threads(count)
        with torch.inference_mode():
            text = model.generate(
                ids,
                num_beams=beam,
                do_sample=False,
                min_new_tokens=written,
                max_new_tokens=written,
                use_cache=True,
            )
        _expect(text.shape[1] - 1, written)

    return [System("T5, transformers, float32", count, partial(generate, count)) for count in threads]


def in_ctranslate2(folder: Path, read: int, written: int, threads: Sequence[int]) -> list[System]:
    """The model in CTranslate2, with float32 and with int8 weights. Raises MissingPackageError."""
    try:
        import ctranslate2
    except ImportError as error:
        raise MissingPackageError("ctranslate2 is not installed: pip install ctranslate2") from error
    words = [[f"w{index + len(SPECIAL)}" for index in range(read - 1)] + [SPECIAL["eos_token"]]]

    def generate(translator: Any, beam: int) -> None:
        found = translator.translate_batch(
            words, beam_size=beam, min_decoding_length=written, max_decoding_length=written
        )
        _expect(len(found[0].hypotheses[0]), written)

    systems = []
    for precision in ("float32", "int8"):
        converted = folder / precision
        ctranslate2.converters.TransformersConverter(str(folder)).convert(
            str(converted), quantization=precision
        )
        for count in threads:
            translator = ctranslate2.Translator(
                str(converted), device="cpu", compute_type=precision, inter_threads=1, intra_threads=count
            )
            name = f"T5, CTranslate2, {precision}"
            systems.append(System(name, count, partial(generate, translator)))
    return systems


def _expect(found: int, asked: int) -> None:
    if found != asked:
        raise RuntimeError(f"{found} tokens were written, not {asked}: the times would not compare")


def ours(
    model: str, device: str, threads: Sequence[int], questions: Sequence[str], schema: Schema
) -> list[System]:
    """Fastsql, a run being a parse of each question."""

    def generate(parser: fastsql.Parser, beam: int) -> None:
        for question in questions:
            parser.parse(question, schema, beam=beam)

    parsers = [fastsql.load(model, device=device, threads=count) for count in threads]
    return [
        System("fastsql", count, partial(generate, parser))
        for count, parser in zip(threads, parsers, strict=True)
    ]


def run(systems: Sequence[System], questions: Sequence[str], repeat: int) -> list[dict[str, Any]]:
    """Seconds of every system, beam and round, and of processor time; fastsql's are those of one question.

    The round before the first warms everything up and is left out.
    """
    found: list[dict[str, Any]] = []
    for turn in range(repeat + 1):
        for system in systems:
            for beam in BEAMS:
                gc.collect()
                start, spent = time.perf_counter(), time.process_time()
                system.generate(beam)
                count = len(questions) if system.name == "fastsql" else 1
                seconds = (time.perf_counter() - start) / count
                spent = (time.process_time() - spent) / count
                name = f"round {turn} of {repeat}" if turn else "warm-up"
                print(f"{name}: {system.label}, beam {beam}: {seconds:.4g} s", file=sys.stderr)
                if turn:
                    found.append(
                        {"system": system.label, "beam": beam, "seconds": seconds, "processor": spent}
                    )
    return found


def table(systems: Sequence[System], found: Sequence[dict[str, Any]]) -> dict[str, Figures]:
    """Milliseconds a question, processor time in them, and how many times fastsql's with as many threads: medians."""

    def median(system: System, beam: int, figure: str) -> float:
        mine = (row for row in found if row["system"] == system.label and row["beam"] == beam)
        return statistics.median(row[figure] for row in mine)

    own = {system.threads: system for system in systems if system.name == "fastsql"}
    return {
        system.label: {
            name: figure
            for beam in BEAMS
            for name, figure in (
                (f"beam {beam}, ms", 1000 * median(system, beam, "seconds")),
                (f"beam {beam}, processor ms", 1000 * median(system, beam, "processor")),
                (
                    f"beam {beam}, times",
                    median(system, beam, "seconds") / median(own[system.threads], beam, "seconds"),
                ),
            )
        }
        for system in systems
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="ehr-en", help="a bundled model or a bundle's folder")
    parser.add_argument("--device", default="auto", help="of fastsql")
    parser.add_argument(
        "--data",
        type=Path,
        help="folder with valid.json and schemas.json (default: $FASTSQL_DATA/ehrsql2024)",
    )
    parser.add_argument(
        "--questions", type=int, default=50, metavar="N", help="that fastsql parses in a round"
    )
    parser.add_argument("--size", choices=list(SIZES), default="base", help="of the T5")
    parser.add_argument("--read", type=int, default=512, help="tokens in")
    parser.add_argument("--written", type=int, default=120, help="tokens out")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeat", type=int, default=3, help="rounds that count; one more warms up")
    parser.add_argument(
        "--quick", action="store_true", help="one round, an eighth of the tokens, five questions"
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    if options.quick:
        options.repeat, options.questions = 1, min(options.questions, 5)
        options.read, options.written = max(options.read // 8, 2), max(options.written // 8, 1)
    data = options.data or Path(os.environ.get("FASTSQL_DATA", ".")) / "ehrsql2024"
    if not (data / "valid.json").is_file():
        print(f"{data} has no valid.json: set FASTSQL_DATA, or give --data", file=sys.stderr)
        return 2
    examples = read_examples(data / "valid.json")
    schema = read_schemas(data / "schemas.json")[examples[0].db_id]
    questions = spread([example.question for example in examples], options.questions)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            model = t5(options.size, folder)
            systems = [
                *ours(options.model, options.device, options.threads, questions, schema),
                *in_ctranslate2(folder, options.read, options.written, options.threads),
                *in_transformers(model, options.read, options.written, options.threads),
            ]
        except MissingPackageError as error:
            print(error, file=sys.stderr)
            return 1
        found = run(systems, questions, options.repeat)
    rows = table(systems, found)
    print(
        f"{machine()}; T5-{options.size}, {options.read} tokens in, {options.written} out;"
        f" {len(questions)} questions, device {options.device}; median of {options.repeat}"
    )
    show("a question", rows, list(next(iter(rows.values()))))
    report = {
        "t5": {"size": options.size, "read": options.read, "written": options.written},
        "fastsql": {"model": options.model, "device": options.device, "questions": len(questions)},
        "rows": rows,
        "rounds": found,
    }
    save(options.json, report, __file__, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
