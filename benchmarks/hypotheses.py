"""How often is one of the hypotheses right, and what does a fitted choice among them bring?

    python benchmarks/hypotheses.py held/pairs.json.gz --schemas held/schemas.json --databases held/databases
    python benchmarks/hypotheses.py ... --reverse run/weights.safetensors
    python benchmarks/hypotheses.py ... --weights

Each question is parsed with a beam of `--beam`, and what every hypothesis returns is compared with what gold's query does.
The search gives the likeliest. The fitted choice is that of a conditional logistic regression over the evidence that a
bundle's probabilities rest on (`fastsql.reliability.evidence`), fitted on other databases; the variants of one design,
DESIGN_held_N, are in one fold. "Looked at" adds what answers show by themselves: whether they are void, and which agree.
With `--reverse`, log P(question | program) by a reverse model is evidence, too. With `--weights`, it is told instead how
often the first is right where hypotheses are ordered by their rank, what the bundled reverse model says and what the
bundled reranker does, for some weights of either: what a parser does over schemas never seen.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.cli.console import Console
from fastsql.evaluation.answers import is_void
from fastsql.model import open_bundle
from fastsql.parser import BUNDLED, DEFAULT_MODEL, Parser
from fastsql.parser.assess import Assessed, evidence_of
from fastsql.parser.link import Linked
from fastsql.parser.weigh import SecondOpinion, bundled_models
from fastsql.parser.write import runnable
from fastsql.reliability.evidence import WORDS
from fastsql.reliability.judges import Weights
from fastsql.reverse import ReverseModel, load_reverse

sys.path.insert(0, str(Path(__file__).parent))
from asking import Question, add_data_set, questions
from record import save

EVIDENCE = ("worst", "decisions", "removed", *WORDS, "contradicted")
"""Beside the hypothesis's score. What is the same for all hypotheses of a question has no weight in a choice among them."""
LIKELIHOODS, RATINGS = (0.0, 0.15, 0.25), (0.0, 0.25, 0.5, 1.0, 1.5, 2.0)
"""Weights that are tried."""
RIDGE = 10.0
FOLDS = 6

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Choice:
    """The hypotheses of a question, the likeliest first: features float[H, F], and whether each is right, bool[H].

    `looked` are further features, of their answers.
    """

    group: str
    plain: Floats
    looked: Floats
    right: NDArray[np.bool_]

    def features(self, *, inspected: bool) -> Floats:
        """float[H, F], with those of the answers where they were looked at."""
        return np.hstack([self.plain, self.looked]) if inspected else self.plain


class Looking(Parser):
    """A parser that keeps what it assessed last."""

    assessed: Assessed | None = None

    def _assessed(self, *arguments: Any) -> Assessed:
        self.assessed = super()._assessed(*arguments)
        return self.assessed


def hypotheses_of(
    parser: Looking, asked: Question, group: str, reverse: ReverseModel | None
) -> Choice | None:
    """What was decoded last; None where nothing runs."""
    assert parser.assessed is not None
    first = parser.assessed.written
    search, rows, answers, programs = first.decoded.search, [], [], []
    for number in range(len(search.finished)):
        written = first if number == first.number else runnable(first, number, parser.limits)
        if written is None or written.fault:
            continue
        evidence = evidence_of(written, parser._reliability)[0]
        rows.append([search.finished[number].score, *(getattr(evidence, name) for name in EVIDENCE)])
        answers.append(asked.answer(written.sql))
        programs.append(written.program)
    if not rows:
        return None
    plain = np.array(rows, dtype=np.float64)
    if reverse is not None:
        question, schema = first.linked.question, first.linked.space.schema
        likely = reverse.over(schema).log_probability([question] * len(programs), programs)
        plain = np.column_stack([plain, likely])
    looked = [
        [
            float(own is None),
            float(own is not None and is_void(own)),
            # How much likelier the answer is than this query.
            0.0
            if own is None
            else np.logaddexp.reduce(plain[[other == own for other in answers], 0]) - plain[number, 0],
        ]
        for number, own in enumerate(answers)
    ]
    right = np.array([own is not None and own == asked.gold for own in answers])
    return Choice(group, plain, np.array(looked, dtype=np.float64), right)


class Weighing(Looking):
    """One that asks for a second opinion over every schema, and leaves the order as it is; keeps what was said."""

    def _second_weights(self, linked: Linked, *, doubted: bool) -> Weights:
        return Weights(0.0, 0.0)


@dataclass(frozen=True)
class Weighed:
    """The hypotheses of a question that were asked about: rank, log P(question | program), rating [H, 3]; right bool[H]."""

    said: Floats
    right: NDArray[np.bool_]

    def first(self, likelihood: float, rating: float) -> bool:
        """Whether the one that comes first by these weights is right."""
        return bool(self.right[np.argmax(self.said @ (1.0, likelihood, rating))])


def by_weights(options: argparse.Namespace, console: Console) -> int:
    """Print how often the first is right, by the weights of a second opinion."""
    bundle = open_bundle(options.model)
    models = bundled_models(bundle.tokenizer())
    if models is None or models.reranker is None:
        raise SystemExit("there is no reranker that shares the bundle's tokenizer")
    parser = Weighing(bundle, penalty=0, suggest=False)
    parser._second = SecondOpinion.bundled(parser.engine, models)
    found = []
    for asked in questions(options, console):
        parser.assessed = None
        parser.parse(asked.example.question, asked.schema, values=asked.database, beam=options.beam)
        assert parser.assessed is not None
        first = parser.assessed.written
        rows, right = [], []
        for number, one in enumerate(first.decoded.search.finished):
            written = first if number == first.number else runnable(first, number, parser.limits)
            if written is None or written.fault or not one.rating:
                continue
            rows.append([one.rank, one.likelihood, one.rating])
            right.append(asked.answer(written.sql) == asked.gold)
        found.append(Weighed(np.array(rows or [[0.0] * 3]), np.array(right or [False])))
    shares = {
        f"{likelihood:g}": {
            f"{rating:g}": 100 * sum(one.first(likelihood, rating) for one in found) / len(found)
            for rating in RATINGS
        }
        for likelihood in LIKELIHOODS
    }
    console.table(
        ["likelihood \\ rating", *(f"{rating:g}" for rating in RATINGS)],
        [[name, *(f"{share:.1f}" for share in row.values())] for name, row in shares.items()],
    )
    if options.json:
        save(
            options.json,
            {"questions": len(found), "beam": options.beam, "right": shares},
            __file__,
            options.arguments,
        )
    return 0


def fitted(choices: Sequence[Choice], *, inspected: bool) -> Floats:
    """The weights, float[F], under which the right hypotheses are likeliest among those of their questions."""
    from scipy.optimize import minimize  # of the extra `train`

    told = [one for one in choices if one.right.any() and not one.right.all()]
    features = [one.features(inspected=inspected) for one in told]
    scale = np.vstack(features).std(axis=0) + 1e-6
    scaled = [one / scale for one in features]

    def loss(weights: Floats) -> tuple[float, Floats]:
        total, slope = RIDGE * float(weights @ weights), 2 * RIDGE * weights
        for one, rows in zip(told, scaled, strict=True):
            scores = rows @ weights
            every, among = np.logaddexp.reduce(scores), np.logaddexp.reduce(scores[one.right])
            total += float(every - among)
            slope += rows.T @ np.exp(scores - every) - rows[one.right].T @ np.exp(scores[one.right] - among)
        return total, slope

    start = np.zeros(scale.shape)
    start[0] = scale[0]
    weights: Floats = minimize(loss, start, jac=True, method="L-BFGS-B").x / scale
    return weights


def cross_fitted(choices: Sequence[Choice], *, inspected: bool) -> int:
    """How many questions a choice gets right that was fitted on other databases."""
    groups = sorted({one.group for one in choices})
    np.random.default_rng(0).shuffle(groups)
    count = 0
    for fold in range(FOLDS):
        tested = set(groups[fold::FOLDS])
        weights = fitted([one for one in choices if one.group not in tested], inspected=inspected)
        count += sum(
            bool(one.right[np.argmax(one.features(inspected=inspected) @ weights)])
            for one in choices
            if one.group in tested
        )
    return count


def choices_of(options: argparse.Namespace, console: Console) -> list[Choice]:
    """What the parser decodes for all questions of a set that have an answer."""
    bundle = open_bundle(options.model)
    reverse = None if options.reverse is None else load_reverse(options.reverse, bundle.tokenizer())
    parser = Looking(bundle, penalty=0, suggest=False)
    found = []
    for asked in questions(options, console):
        parser.assessed = None
        parser.parse(asked.example.question, asked.schema, values=asked.database, beam=options.beam)
        group = asked.example.db_id.partition("_held_")[0]
        choice = hypotheses_of(parser, asked, group, reverse) if parser.assessed else None
        if choice is not None:
            found.append(choice)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_set(parser)
    parser.add_argument("--model", default=str(BUNDLED / DEFAULT_MODEL), help="a bundle's folder")
    parser.add_argument("--reverse", type=Path, help="weights of a reverse model")
    parser.add_argument("--weights", action="store_true", help="what the weights of a second opinion bring")
    parser.add_argument("--beam", type=int, default=8)
    parser.add_argument("--json", type=Path, help="write figures here")
    options = parser.parse_args(arguments)
    console = Console(out=sys.stdout)
    if options.weights:
        options.arguments = arguments
        return by_weights(options, console)
    choices = choices_of(options, console)
    among = {f"among the first {n}": sum(bool(one.right[:n].any()) for one in choices) for n in (1, 2, 4, 8)}
    right = {
        **{name: count for name, count in among.items() if int(name.split()[-1]) <= options.beam},
        "fitted choice": cross_fitted(choices, inspected=False),
        "fitted choice, looked at": cross_fitted(choices, inspected=True),
    }
    shares = {name: 100 * count / len(choices) for name, count in right.items()}
    console.table(["right", "%"], [[name, f"{share:.1f}"] for name, share in shares.items()])
    if options.json:
        figures = {"questions": len(choices), "beam": options.beam, "right": shares}
        save(options.json, figures, __file__, arguments)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
