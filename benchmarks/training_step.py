"""What an example costs in training, of processor time and part by part.

    python benchmarks/training_step.py configs/ehr-en.toml --cache runs/ehr-en/cache
    python benchmarks/training_step.py configs/ehr-en.toml --cache runs/ehr-en/cache --batches 200 --threads 2

Batches of the configuration's own plan are made once, and timed as they are made. Each variant then takes steps over them:
everything trained in float32, the encoder frozen, and that with linear maps in bfloat16. The first third is not counted.
No batch is met twice: a batch's sizes are new, as they are in a run, and libraries that compile a product for each size do.
What two processes that train together take is told by two of these at once, by the clock.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastsql.training.batches.batch import Batch
    from fastsql.training.config import TrainConfig

sys.path.insert(0, str(Path(__file__).parent))
from record import save

FROZEN = 6
VARIANTS = {
    "all layers": (0, False),
    f"{FROZEN} frozen": (FROZEN, False),
    f"{FROZEN} frozen, bf16": (FROZEN, True),
}
"""Layers of the encoder that are frozen, and whether linear maps multiply in bfloat16."""
RATE = 1e-5
"""Of the learning: small, since only time is measured."""


class Stopwatch:
    """Seconds of all of this process's processors, by part."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Counts what is done inside."""
        before = _processor_seconds()
        yield
        self.seconds[name] += _processor_seconds() - before


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Trainee:
    """A model that takes steps, each part of them timed."""

    def __init__(self, config: TrainConfig, frozen: int, bf16: bool) -> None:
        from fastsql.training.network.model import Model
        from fastsql.training.network.pretrained import load_pretrained, model_config
        from fastsql.training.runs.schedule import MovingAverage, make_optimizer, set_rates

        pretrained = load_pretrained(config.model.encoder)
        self.bf16, self.clip = bf16, config.optim.clip
        self.model = Model.start(model_config(config, pretrained), pretrained, frozen).train()
        if config.model.freeze_words:
            self.model.encoder.word.requires_grad_(False)
        self.optimizer = make_optimizer(self.model, self.model.encoder, config.optim)
        set_rates(self.optimizer, RATE)
        self.average = MovingAverage(Model(self.model.config), config.optim.ema)
        self.every = config.optim.accumulate

    def run(self, batches: list[Batch], watch: Stopwatch) -> None:
        """One pass."""
        import torch

        from fastsql.training.objectives.decisions import decision_loss
        from fastsql.training.runs.precision import computing

        for number, batch in enumerate(batches):
            with computing(torch.device("cpu"), bf16=self.bf16), watch.part("loss"):
                loss = decision_loss(self.model, batch).loss
            with watch.part("gradients"):
                torch.autograd.backward(loss)
            if number % self.every == self.every - 1:
                with watch.part("update"):
                    torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
                    self.optimizer.step()
                    self.average.update(self.model)
                    self.optimizer.zero_grad(set_to_none=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make batches, take steps, print and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("config", help="configuration of a run")
    parser.add_argument("--cache", type=Path, required=True, help="the run's folder of what it made")
    parser.add_argument(
        "--batches", type=int, default=150, help="made, the first third of them uncounted (150)"
    )
    parser.add_argument("--threads", type=int, default=1, help="(1)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args(arguments)

    import torch

    from fastsql.training.batches.maker import ExampleMaker
    from fastsql.training.batches.stream import deliveries
    from fastsql.training.config import load_config
    from fastsql.training.corpus.corpus import load_corpus
    from fastsql.training.corpus.written import with_written
    from fastsql.training.network.pretrained import load_pretrained, model_config

    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    config = with_written(load_config(options.config), options.cache, print)
    corpus = load_corpus(config.data, config.seed, options.cache, print)
    pretrained = load_pretrained(config.model.encoder)
    maker = ExampleMaker(
        corpus,
        corpus.train,
        pretrained.tokenizer,
        model_config(config, pretrained),
        candidates=config.data.candidates,
        augment=config.augment,
        seed=config.seed,
    )
    plan = deliveries(maker, config.optim.batch_size, config.optim.max_tokens, config.seed)
    next(plan)  # after the plan is drawn
    watch = Stopwatch()
    with watch.part("batches"):
        made = [item.batch for item in itertools.islice(plan, options.batches)]
    batches = [batch for batch in made if batch is not None]
    uncounted = len(batches) // 3
    examples = sum(map(len, batches))
    figures: dict[str, dict[str, float]] = {"batches": {"made": 1000 * watch.seconds["batches"] / examples}}
    examples = sum(map(len, batches[uncounted:]))
    elapsed: dict[str, float] = {}
    for name, (frozen, bf16) in VARIANTS.items():
        trainee = Trainee(config, frozen, bf16)
        trainee.run(batches[:uncounted], Stopwatch())
        watch = Stopwatch()
        begun = time.perf_counter()
        trainee.run(batches[uncounted:], watch)
        elapsed[name] = 1000 * (time.perf_counter() - begun) / examples
        figures[name] = {part: 1000 * taken / examples for part, taken in watch.seconds.items()}
    counted = f"{examples} examples in {len(batches) - uncounted} batches"
    print(f"milliseconds of a processor for each of {counted}, {options.threads} threads")
    for name, parts in figures.items():
        rest = ", ".join(f"{part} {taken:.1f}" for part, taken in parts.items())
        clock = f"; by the clock {elapsed[name]:.1f}" if name in elapsed else ""
        print(f"{name:18} {sum(parts.values()):5.1f}  ({rest}){clock}")
    what = {"examples": examples, "batches": len(batches) - uncounted, "threads": options.threads}
    save(options.json, {**what, "milliseconds": figures, "elapsed": elapsed}, __file__, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
