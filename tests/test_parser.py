"""The pipeline from question to result, on a model with random weights: what must hold whatever it writes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastsql
from fastsql import Parser
from fastsql.limits import Limits
from fastsql.result import Result
from fastsql.verification.verify import verify

from .worlds.toy_bundle import QUESTIONS, load_toy, outcome, runs_onnx, search, write_bundle
from .worlds.toy_model import SCHEMA

NOW_LITERAL = "2100-12-31 23:59:00"
ROWS = [(1, "URGENT", "Aspirin", "2100-01-01"), (2, "elective", "Heparin sodium", "2100-02-01")]


# ---------------------------------------------------------------- encoders


@pytest.mark.parametrize("seed", [3, 5, 10])
def test_onnx_runtime_and_numpy_take_the_same_actions(tmp_path: Path, seed: int) -> None:
    pytest.importorskip("onnxruntime", reason="pip install '.[cpu]' to run this")
    pytest.importorskip("onnx", reason="pip install '.[train]' to run this")
    folder = write_bundle(tmp_path / "toy", seed=seed)
    onnx, numpy = (load_toy(folder, encoder=name) for name in ("onnxruntime", "numpy"))
    assert type(onnx.engine.model.encoder) is not type(numpy.engine.model.encoder)
    for question in QUESTIONS:
        (one, _), (other, _) = (search(parser, question, SCHEMA) for parser in (onnx, numpy))
        assert [h.actions for h in one.finished] == [h.actions for h in other.finished]
        np.testing.assert_allclose(
            [h.score for h in one.finished], [h.score for h in other.finished], rtol=1e-4
        )
        assert onnx.parse(question, SCHEMA).best == numpy.parse(question, SCHEMA).best


def test_without_onnx_runtime_numpy_serves(toy_bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    parser = fastsql.load(toy_bundle, device="python", penalty=0, limits=Limits(actions=24))
    assert type(parser.engine.model.encoder).__name__ == "NumpyEncoder"
    assert parser.parse(QUESTIONS[0], SCHEMA).sql


# ---------------------------------------------------------------- what a result says


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("beam", [1, 4])
def test_whatever_is_written_is_valid_and_runs(toy: Parser, question: str, beam: int) -> None:
    result = toy.parse(question, SCHEMA, beam=beam)
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(SCHEMA.to_ddl())
        for sql in (result.best, *(alternative.sql for alternative in result.alternatives)):
            assert sql
            verify(sql, SCHEMA)
            database.execute(sql).fetchall()


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_result_carries_its_evidence(toy: Parser, question: str) -> None:
    result = toy.parse(question, SCHEMA)
    assert result.question == question
    assert result.sql == result.best
    assert not result.abstained
    assert result.reason is None
    assert result.suggestions == ()
    assert 0 <= result.confidence <= 1
    assert result.dialect == "sqlite"
    assert list(result.timings) == [
        "schema",
        "link",
        "encode",
        "graph",
        "decode",
        "render",
        "verify",
        "assess",
        "decide",
    ]
    assert all(ms >= 0 for ms in result.timings.values())
    assert [link.span for link in result.links] == sorted(link.span for link in result.links)
    for link in result.links:
        assert link.text == question[slice(*link.span)]
        assert link.kind in ("table", "column", "value", "constant")
    for literal in result.values:
        written = question[slice(*literal.span)] if literal.span else ""
        assert literal.source != "span" or written.casefold() == str(literal.value).casefold()
        assert literal.column == "" or SCHEMA.find_column(*literal.column.rsplit(".", 1)) is not None


def test_values_come_with_their_provenance(tmp_path: Path) -> None:
    sources = {
        (literal.source, literal.span is None)
        for seed in (39, 56, 75, 94)
        for question in QUESTIONS
        for literal in load_toy(write_bundle(tmp_path / str(seed), seed=seed)).parse(question, SCHEMA).values
    }
    assert {("number", False), ("span", False), ("schema", True), ("closed", True)} <= sources


def test_leading_blanks_do_not_shift_the_evidence(toy: Parser) -> None:
    for question in QUESTIONS:
        plain, shifted = toy.parse(question, SCHEMA), toy.parse(f" \t\0{question} \n", SCHEMA)
        assert shifted.best == plain.best
        assert shifted.question == f" \t\0{question} \n"
        moved = [(link.span[0] - 3, link.span[1] - 3) for link in shifted.links]
        assert moved == [link.span for link in plain.links]
        assert [v.span and v.span[0] - 3 for v in shifted.values] == [
            v.span and v.span[0] for v in plain.values
        ]


def test_alternatives_are_other_queries_and_no_likelier(toy: Parser) -> None:
    found = 0
    for question in QUESTIONS:
        result = toy.parse(question, SCHEMA, beam=4)
        texts = [result.best, *(alternative.sql for alternative in result.alternatives)]
        assert len(set(texts)) == len(texts) <= 4
        confidences = [result.confidence, *(alternative.confidence for alternative in result.alternatives)]
        assert confidences == sorted(confidences, reverse=True)
        found += len(texts) - 1
        assert toy.parse(question, SCHEMA, beam=1).alternatives == ()
    assert found


def test_alternatives_are_rendered_when_asked_for(toy: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[object] = []
    render = fastsql.parser.write.render
    monkeypatch.setattr(
        "fastsql.parser.write.render", lambda *a, **k: (rendered.append(a), render(*a, **k))[1]
    )
    result = toy.parse(QUESTIONS[0], SCHEMA, beam=4)
    assert len(rendered) == 1
    assert len(result.alternatives) <= len(rendered) - 1


def test_what_is_not_sure_enough_is_refused_and_kept(toy_bundle: Path) -> None:
    careful, bold = load_toy(toy_bundle, penalty=10), load_toy(toy_bundle, penalty=0)
    for question in QUESTIONS:
        refused, answered = careful.parse(question, SCHEMA), bold.parse(question, SCHEMA)
        assert (refused.sql, refused.abstained) == (None, True)
        assert refused.best == answered.sql
        assert refused.confidence == answered.confidence
        assert "0.91" in refused.reason
        assert "penalty 10" in refused.reason


@pytest.mark.filterwarnings("ignore::fastsql.CalibrationWarning")
def test_a_model_that_was_never_calibrated_answers_only_where_a_wrong_answer_costs_nothing(
    toy_bundle: Path, tmp_path: Path
) -> None:
    folder = write_bundle(tmp_path / "toy", calibrated=False)
    careful, bold = load_toy(folder, penalty=0.01), load_toy(folder, penalty=0)
    for question in QUESTIONS:
        refused, answered = careful.parse(question, SCHEMA), bold.parse(question, SCHEMA)
        assert (refused.sql, refused.abstained, refused.threshold) == (None, True, None)
        assert "fastsql calibrate" in refused.reason
        assert "penalty=0" in refused.reason
        assert refused.suggestions == ()
        assert refused.best == answered.sql == load_toy(toy_bundle).parse(question, SCHEMA).sql
        assert careful.parse(question, SCHEMA, penalty=0).sql == answered.sql
        assert bold.parse(question, SCHEMA, penalty=0.01).reason == refused.reason


@pytest.mark.filterwarnings("ignore::fastsql.CalibrationWarning")
def test_a_bundle_may_carry_a_calibrated_confidence_and_a_lexicon(tmp_path: Path) -> None:
    sure = {"intercept": 50.0, "weights": {"sequence": 0.001}}
    lexicon = [["admissions", "subject_id", ["known"]]]
    folder = write_bundle(
        tmp_path / "toy",
        confidence=sure,
        lexicon=lexicon,
        constants=[["low", 9, "lower"]],
        constant_tables=["admissions"],
    )
    parser = load_toy(folder, penalty=10)
    assert parser.parse(QUESTIONS[0], SCHEMA).confidence > 0.99
    assert parser.parse(QUESTIONS[0], SCHEMA).sql
    schema = parser._sources.ready(SCHEMA, None)[0].links.schema
    assert schema.columns[schema.column_index("admissions", "subject_id")].values == ("known",)
    assert [constant.name for constant in schema.constants] == ["low"]


def test_a_question_that_probably_has_no_answer_is_refused_for_that(tmp_path: Path) -> None:
    always = {"intercept": 3.0, "weights": {}}
    right = {"intercept": 50.0, "weights": {"sequence": 0.001}}
    probe = {"intercept": 0.0, "weights": [0.0] * 16}
    settings = {"right": right, "unanswerable": always, "probe": probe, "figures": {}}
    for penalty in (0, 10):
        parser = load_toy(write_bundle(tmp_path / str(penalty), reliability=settings), penalty=penalty)
        result = parser.parse(QUESTIONS[0], SCHEMA)
        assert result.unanswerable == pytest.approx(1 / (1 + np.exp(-3)))
        assert result.confidence == pytest.approx(1 - result.unanswerable, abs=1e-6)
        assert result.reason == "This question probably has no answer in this schema (probability 0.95)."
        assert result.threshold == pytest.approx((result.unanswerable + penalty) / (1 + penalty))


def test_a_penalty_of_one_call_decides_as_that_of_the_parser(tmp_path: Path) -> None:
    fitted = {
        "right": {"intercept": 0.5, "weights": {"sequence": 0.001}},
        "unanswerable": {"intercept": -3.0, "weights": {}},
        "figures": {},
    }
    bundle = write_bundle(tmp_path / "toy", reliability=fitted)
    one = load_toy(bundle, penalty=3)
    pairs = [(question, SCHEMA) for question in QUESTIONS[:2]]
    answered = []
    for penalty in (0, 10):
        other = load_toy(bundle, penalty=penalty)
        expected = [other.parse(*pair) for pair in pairs]
        for found in (
            [one.parse(*pair, penalty=penalty) for pair in pairs],
            one.parse_batch(QUESTIONS[:2], SCHEMA, penalty=penalty),
            list(one.pipe(pairs, penalty=penalty)),
        ):
            for ours, theirs in zip(found, expected, strict=True):
                assert (ours.sql, ours.reason) == (theirs.sql, theirs.reason)
                assert ours.threshold == theirs.threshold is not None
        answered += [bool(result) for result in expected]
    assert answered == [True, True, False, False]
    assert one.penalty == 3


@pytest.mark.parametrize(
    ("penalty", "error"),
    [(-1, ValueError), (float("nan"), ValueError), (float("inf"), ValueError), ("ten", TypeError)],
)
def test_a_penalty_of_one_call_is_checked_as_that_of_the_parser(
    toy_bundle: Path, penalty: Any, error: type[Exception]
) -> None:
    with pytest.raises(error) as ours:
        load_toy(toy_bundle).parse(QUESTIONS[0], SCHEMA, penalty=penalty)
    with pytest.raises(error) as theirs:
        load_toy(toy_bundle, penalty=penalty)
    assert str(ours.value) == str(theirs.value)


def test_evidence_of_the_questions_state_reaches_the_decision(tmp_path: Path) -> None:
    right = {"intercept": 0.0, "weights": {"sequence": 0.1}}
    found = []
    for sign in (1.0, -1.0):
        probe = {"intercept": 0.0, "weights": [sign] * 16}
        settings = {
            "right": right,
            "unanswerable": {"intercept": 0.0, "weights": {"state": 1.0}},
            "probe": probe,
        }
        parser = load_toy(write_bundle(tmp_path / str(sign), reliability=settings))
        found.append(parser.parse(QUESTIONS[0], SCHEMA).unanswerable)
    assert found[0] + found[1] == pytest.approx(1.0)
    assert abs(found[0] - 0.5) > 0.01


def test_sql_that_fails_verification_is_refused(toy: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastsql.parser.write.render", lambda *a, **k: "SELECT nothing FROM nowhere")
    result = toy.parse(QUESTIONS[0], SCHEMA)
    assert (result.sql, result.best, result.confidence) == (None, None, 0)
    assert result.reason.startswith("The SQL that was written did not pass verification")
    assert "nowhere" not in result.reason


# ---------------------------------------------------------------- the present


def test_now_is_the_time_of_execution_unless_it_is_given(tmp_path: Path) -> None:
    seen = set()
    for seed in (5, 6, 8):
        parser = load_toy(write_bundle(tmp_path / str(seed), seed=seed))
        for question in QUESTIONS:
            open_end = parser.parse(question, SCHEMA).best or ""
            fixed = parser.parse(question, SCHEMA, now=NOW_LITERAL).best or ""
            assert fixed == open_end.replace("'now'", f"'{NOW_LITERAL}'")
            seen.add("'now'" in open_end)
    assert seen == {True, False}


@pytest.mark.parametrize("now", ["2100-12-31", "2100-12-31 23:59", NOW_LITERAL])
def test_a_moment_may_be_a_date_or_a_time(toy: Parser, now: str) -> None:
    assert toy.parse(QUESTIONS[0], SCHEMA, now=now).sql


@pytest.mark.parametrize(
    "now", ["", "now", "2100", "2100-13-01", "2100-02-30", "2100-12-31T23:59:00", "x'; DROP TABLE t; --"]
)
def test_nothing_but_a_moment_becomes_part_of_the_sql(toy: Parser, now: str) -> None:
    with pytest.raises(ValueError, match="now is not a time"):
        toy.parse(QUESTIONS[0], SCHEMA, now=now)


# ---------------------------------------------------------------- the same answer, however it is asked for


@pytest.fixture(scope="module")
def alone(toy: Parser) -> list[dict[str, Any]]:
    return [outcome(toy.parse(question, SCHEMA)) for question in QUESTIONS]


def test_a_batch_gives_what_questions_alone_give(toy: Parser, alone: list[dict[str, Any]]) -> None:
    assert [outcome(result) for result in toy.parse_batch(QUESTIONS, SCHEMA)] == alone
    pairs = ((question, SCHEMA) for question in QUESTIONS)
    assert [outcome(result) for result in toy.pipe(pairs)] == alone


def test_threads_share_a_parser(toy_bundle: Path, alone: list[dict[str, Any]]) -> None:
    parser = load_toy(toy_bundle)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda i: parser.parse(QUESTIONS[i % 4], SCHEMA), range(32)))
    assert [outcome(result) for result in results] == alone * 8


def own_encoder(folder: Path) -> None:
    """Skips where a process that loads the toy by itself would meet ONNX Runtime without a graph."""
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        return
    if not runs_onnx(folder):
        pytest.skip("pip install '.[train]' to run this: the toy's encoder.onnx needs the package onnx")


def test_a_parser_survives_pickling(toy: Parser, toy_bundle: Path, alone: list[dict[str, Any]]) -> None:
    own_encoder(toy_bundle)
    sent = pickle.dumps(toy)
    assert len(sent) < 20_000, "it goes as the name of its bundle"
    copy: Parser = pickle.loads(sent)
    assert (copy.penalty, copy.limits, repr(copy)) == (toy.penalty, toy.limits, repr(toy))
    assert [outcome(copy.parse(question, SCHEMA)) for question in QUESTIONS] == alone


def test_a_spawned_process_answers_alike(toy: Parser, toy_bundle: Path, tmp_path: Path) -> None:
    own_encoder(toy_bundle)
    (tmp_path / "task").write_bytes(pickle.dumps((toy, QUESTIONS, SCHEMA)))
    program = (
        "import pickle, sys; parser, questions, schema = pickle.load(open('task', 'rb')); "
        "pickle.dump(parser.parse_batch(questions, schema), open('done', 'wb'))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path, env=dict(os.environ))
    results: list[Result] = pickle.loads((tmp_path / "done").read_bytes())
    assert [outcome(r) for r in results] == [outcome(r) for r in toy.parse_batch(QUESTIONS, SCHEMA)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_answers_alike(toy_bundle: Path, alone: list[dict[str, Any]]) -> None:
    own_encoder(toy_bundle)
    parser = fastsql.load(toy_bundle, penalty=0, limits=Limits(actions=24), threads=2)
    parser.parse(QUESTIONS[0], SCHEMA)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work() -> None:
        sender.send([outcome(parser.parse(question, SCHEMA)) for question in QUESTIONS])

    with parser._sources.lock:  # as if another thread were at it
        child = context.Process(target=work)
        child.start()
    sender.close()
    try:
        assert receiver.poll(60), "the forked process hangs"
        assert receiver.recv() == alone
    finally:
        child.kill()
        child.join()
