"""Whole runs over toy databases: what is parsed is judged by its answers, what is held out stays out, and a run goes on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install 'fastsql[train]' runs this")

from fastsql.parser import load  # noqa: E402
from fastsql.parser.bundles import open_model  # noqa: E402
from fastsql.reranker import open_rater  # noqa: E402
from fastsql.reranker.weights import read_reranker  # noqa: E402
from fastsql.schema import Schema  # noqa: E402
from fastsql.synthesis.designs import designs  # noqa: E402
from fastsql.training.config import ConfigError  # noqa: E402
from fastsql.training.reranker import beams as module  # noqa: E402
from fastsql.training.reranker.beams import Beam, gather_beams  # noqa: E402
from fastsql.training.reranker.export import export_reranker  # noqa: E402
from fastsql.training.reranker.run import train_reranker  # noqa: E402
from fastsql.training.reranker.settings import (  # noqa: E402
    BeamSource,
    EarlierBeams,
    RerankerSettings,
    WrittenBeams,
    load_settings,
    settings_from_dict,
)
from fastsql.training.reranker.start import config_for  # noqa: E402
from fastsql.training.runs.checkpoint import LAST, CheckpointError, load_checkpoint  # noqa: E402
from fastsql.training.runs.curves import read_metrics  # noqa: E402
from fastsql.training.runs.ready import TrainingError  # noqa: E402

from ...worlds.database import write_database  # noqa: E402
from ...worlds.toy_bundle import make_config, write_bundle  # noqa: E402
from ...worlds.toy_model import SCHEMA, WORDPIECE  # noqa: E402

ROWS = """
INSERT INTO patients VALUES (1, 'f', '2100-01-01 00:00:00'), (2, 'm', '2101-01-01 00:00:00');
INSERT INTO admissions VALUES (10, 1, 'urgent'), (11, 2, 'elective');
"""
ASKED = (
    ("how many patients of gender f?", "SELECT COUNT(*) FROM patients WHERE gender = 'f'"),
    ("count 3 admissions with type urgent", "SELECT COUNT(*) FROM admissions"),
    ("the food of the ward?", None),
)
FOUND = "count 3 admissions since 2101"
TALK = (
    ("patients of gender f", "SELECT subject_id FROM patients WHERE gender = 'f'"),
    ("how many of them?", "SELECT COUNT(*) FROM patients WHERE gender = 'f'"),
    ("and of gender m?", "SELECT COUNT(*) FROM nowhere"),
    ("all of them", "SELECT COUNT(*) FROM patients"),
)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> RerankerSettings:
    """A run of a step, tiny: two databases alike, of which one is held out."""
    folder = tmp_path_factory.mktemp("reranker")
    for name in ("ward", "held"):
        write_database(folder / f"{name}.sqlite", f"{SCHEMA.to_ddl()}\n{ROWS}")
    bundle = write_bundle(folder / "bundle", config=make_config().with_turns())
    schema = Schema.from_ddl(SCHEMA.to_ddl())
    # What such a parser writes is of chance: so that some of it is right, one answer is that of its best query.
    best = load(bundle, penalty=0).parse(FOUND, schema, values=folder / "ward.sqlite").best
    asked = (*ASKED, (FOUND, best))
    single = [
        {"id": f"{db}-{number}", "db_id": db, "question": question, "sql": sql}
        for db in ("ward", "held")
        for number, (question, sql) in enumerate(asked)
    ]
    talk = [
        {
            "id": f"t-{turn}",
            "db_id": "ward",
            "question": question,
            "sql": sql,
            "interaction": "1",
            "turn": turn,
        }
        for turn, (question, sql) in enumerate(TALK)
    ]
    write = {
        "single.json": single,
        "talk.json": talk,
        "held_out.json": {"templates": [], "examples": [], "databases": ["held"]},
        "schemas.json": [{**schema.to_dict(), "db_id": name} for name in ("ward", "held")],
    }
    for name, content in write.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return settings_from_dict(
        {
            "name": "toy",
            "parser": str(bundle),
            "layers": 1,
            "data": {
                "held_out": str(folder / "held_out.json"),
                "sources": [
                    {
                        "examples": str(folder / name),
                        "schemas": str(folder / "schemas.json"),
                        "database": str(folder),
                        "weight": weight,
                    }
                    for name, weight in (("single.json", 1.0), ("talk.json", 2.0))
                ],
            },
            "run": {"minutes": 0.0},
        }
    )


@pytest.fixture(scope="module")
def parsed(settings: RerankerSettings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what the toy's parser finds, only to be read."""
    folder = tmp_path_factory.mktemp("parsed")
    gathered(settings, folder)
    return folder


@pytest.fixture
def output(parsed: Path, tmp_path: Path) -> Path:
    """The folder of a run that finds its data sets parsed, so that no test waits for what another one looks at."""
    return Path(shutil.copytree(parsed, tmp_path / "run"))


def gathered(settings: RerankerSettings, folder: Path, processes: int = 1) -> tuple[list[Beam], list[Beam]]:
    config = config_for(open_model(settings.parser), settings.layers)
    found = gather_beams(settings.data, settings.parser, config, folder, processes=processes)
    return list(found.train), list(found.dev)


def test_what_a_parser_finds_is_judged_by_its_answers(settings: RerankerSettings, parsed: Path) -> None:
    train, dev = gathered(settings, parsed)
    assert {beam.schema for beam in train} == {"ward"}
    assert {beam.schema for beam in dev} == {"held"}
    by_question = {beam.question: beam for beam in train}
    assert set(by_question) == {FOUND, *(question for question, _ in (*ASKED, *TALK[:2]))}, (
        "up to what does not run"
    )
    assert by_question[TALK[1][0]].earlier == (TALK[0][0],)
    assert by_question[TALK[1][0]].weight == 2.0
    assert by_question[ASKED[0][0]].earlier == ()
    assert not any(one.right for one in by_question[ASKED[2][0]].hypotheses), "it has no answer"
    assert by_question[FOUND].hypotheses[0].right
    hypotheses = [one for beam in train for one in beam.hypotheses]
    assert 0 < sum(one.right for one in hypotheses) < len(hypotheses)
    assert len({one.source.ids.tobytes() for one in by_question[ASKED[0][0]].hypotheses}) > 1
    again, _ = gathered(settings, parsed)
    for one, other in zip(train, again, strict=True):
        assert (one.question, one.weight) == (other.question, other.weight)
        assert [(h.rank, h.right) for h in one.hypotheses] == [(h.rank, h.right) for h in other.hypotheses]
        np.testing.assert_array_equal(one.hypotheses[0].source.ids, other.hypotheses[0].source.ids)


def test_several_processes_find_what_one_does(
    settings: RerankerSettings, parsed: Path, tmp_path: Path
) -> None:
    one, two = gathered(settings, parsed)[0], gathered(settings, tmp_path, 2)[0]
    told = [[(beam.question, [h.right for h in beam.hypotheses]) for beam in found] for found in (one, two)]
    assert told[0] == told[1]


def test_a_share_of_a_data_set_is_drawn_the_same_every_time(
    settings: RerankerSettings, tmp_path: Path
) -> None:
    single = settings.data.sources[0]

    def asked(share: float, folder: str) -> list[str]:
        few = replace(settings, data=replace(settings.data, sources=(replace(single, share=share),)))
        return [beam.question for found in gathered(few, tmp_path / folder) for beam in found]

    every, some, again = asked(1.0, "all"), asked(0.5, "some"), asked(0.5, "again")
    assert some == again
    assert 0 < len(some) < len(every)


def test_what_the_parsers_training_held_out_is_not_learnt_from(
    settings: RerankerSettings, parsed: Path, tmp_path: Path
) -> None:
    file = tmp_path / "held_out.json"
    held = {"templates": [["ward", "ward-0"]], "examples": [["ward", "1"]], "databases": ["held"]}
    file.write_text(json.dumps(held), encoding="utf-8")
    found, dev = gathered(replace(settings, data=replace(settings.data, held_out=str(file))), tmp_path)
    before, _ = gathered(settings, parsed)
    gone = {ASKED[0][0], *(question for question, _ in TALK)}
    assert {beam.question for beam in found} == {beam.question for beam in before} - gone
    assert ASKED[0][0] in {beam.question for beam in dev}, "over another database it is another question"


def test_a_parser_of_before_reads_designs_that_another_one_was_trained_on(
    settings: RerankerSettings, output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_written", lambda designs, weight, *_: [source(settings, designs, weight)])
    parser = write_bundle(tmp_path / "before", config=make_config().with_turns(), seed=5)
    earlier = EarlierBeams(str(parser), ("beds",), 3.0)
    both, _ = gathered(replace(settings, data=replace(settings.data, earlier=(earlier,))), output)
    alone, _ = gathered(settings, output)
    assert [beam.weight for beam in both[len(alone) :]] == [3.0] * (len(both) - len(alone))
    found = {beam.question: beam.hypotheses for beam in both[len(alone) :]}
    same = [
        [one.source.ids.tobytes() for one in beam.hypotheses]
        == [one.source.ids.tobytes() for one in found[beam.question]]
        for beam in alone
        if beam.question in found
    ]
    assert same
    assert not all(same), "it finds other hypotheses"


def test_what_is_written_is_that_of_the_language(
    settings: RerankerSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Designs of one name are others in another language, and are kept apart."""
    made: list[tuple[str, Path]] = []

    def carried(_names: Any, _variants: int, _report: Any, databases: Path, *, language: str) -> None:
        made.append((language, databases.parent))
        raise RuntimeError("nothing more is asked here")

    monkeypatch.setattr(module, "carry_held_out", carried)
    written = WrittenBeams(designs=("beds",))
    for language in ("en", "zh"):
        asked = replace(settings.data, written=written, language=language, sources=())
        with pytest.raises(RuntimeError, match="nothing more"):
            gathered(replace(settings, data=asked), tmp_path)
    (english, here), (chinese, there) = made
    assert (english, chinese) == ("en", "zh")
    assert here != there


def source(settings: RerankerSettings, designs: Sequence[str], weight: float) -> BeamSource:
    """The toy's single questions, as if they were of these designs."""
    assert not designs or designs == ("beds",)
    return replace(settings.data.sources[0], weight=weight, databases=("ward",) if designs else ("nowhere",))


def test_a_parser_with_another_tokenizer_cannot_read_for_it(
    settings: RerankerSettings, tmp_path: Path
) -> None:
    earlier = EarlierBeams("css-zh", ("beds",))
    other = replace(settings, data=replace(settings.data, sources=(), earlier=(earlier,)))
    with pytest.raises(ConfigError, match="its tokenizer is another"):
        gathered(other, tmp_path)


def test_a_team_takes_steps_on_several_batches_at_once_and_goes_on(
    settings: RerankerSettings, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3]))
    small = replace(settings, optim=replace(settings.optim, questions=1))
    checkpoint = train_reranker(small, output, threads=2, processes=2, report=lambda line: None)
    first = load_checkpoint(checkpoint)
    assert (first["position"]["step"], first["position"]["batch"]) == (1, 2)
    longer = replace(small, run=replace(small.run, minutes=first["position"]["seconds"] / 60))
    train_reranker(longer, output, resume=True, threads=2, processes=2, report=lambda line: None)
    second = load_checkpoint(checkpoint)
    assert second["position"]["step"] == 2
    places = [(found["position"]["epoch"], found["position"]["batch"]) for found in (first, second)]
    assert places[0] < places[1]
    assert [row["kind"] for row in read_metrics(output)] == ["dev", "dev"], "the leader's alone"


def test_a_team_needs_a_batch_for_each(settings: RerankerSettings, output: Path) -> None:
    with pytest.raises(TrainingError, match="fewer batches than the 2 processes"):
        train_reranker(settings, output, threads=2, processes=2, report=lambda line: None)


def test_a_run_stops_goes_on_and_is_exported(settings: RerankerSettings, output: Path) -> None:
    checkpoint = train_reranker(settings, output, threads=1, report=lambda line: None)
    first = load_checkpoint(checkpoint)
    assert first["position"]["step"] == 1
    with pytest.raises(TrainingError, match="already holds a run"):
        train_reranker(settings, output)
    longer = replace(settings, run=replace(settings.run, minutes=first["position"]["seconds"] / 60))
    train_reranker(longer, output, resume=True, threads=1, report=lambda line: None)
    second = load_checkpoint(checkpoint)
    assert second["position"]["step"] == 2
    assert second["average_steps"] == 2
    assert any((second["network"][name] != first["network"][name]).any() for name in first["network"])
    rows = read_metrics(output)
    assert [row["kind"] for row in rows] == ["dev", "dev"]
    assert 0 <= rows[-1]["by_rank"] <= 1
    assert 0 <= rows[-1]["by_both"] <= 1

    file = export_reranker(checkpoint, output / "weights.safetensors")
    words = (
        read_reranker(file, WORDPIECE).network()._words.rows(np.arange(WORDPIECE.vocabulary, dtype=np.int32))
    )
    np.testing.assert_allclose(words, second["average"]["words.weight"].numpy(), atol=1e-2)
    assert open_rater(file, WORDPIECE)("how many?", [], [], SCHEMA).shape == (0,)


def test_there_must_be_a_run_to_go_on_with(settings: RerankerSettings, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=LAST):
        train_reranker(settings, tmp_path, resume=True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('name = "x"', "'data' is missing"),
        ('name = "x"\n[data]\nheld_out = "h.json"', "nothing to learn from"),
        ('name = "x"\ntempo = 3\n[data]\nheld_out = ""', "unknown setting 'tempo'"),
        (
            'name = "x"\n[data]\nheld_out = ""\nheld_out_designs = ["beds"]\n[data.written]\nnew = ["beds"]',
            "learnt from and held out",
        ),
        (
            'name = "x"\n[data]\nheld_out = ""\nheld_out_designs = ["a"]\n[[data.earlier]]\nparser = "p"\ndesigns = ["a"]',
            "learnt from and held out",
        ),
        (
            'name = "x"\n[data]\nheld_out = ""\nmost = 3\n[data.written]\nnew = ["beds"]',
            "most = 3 is too few",
        ),
        (
            'name = "x"\n[data]\nheld_out = ""\nlanguage = "zh"\n[data.written]\nnew = ["beds"]\nhospital_weight = 1.0',
            "over the demo hospital is English",
        ),
    ],
)
def test_a_configuration_that_cannot_be_used_says_why(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(ConfigError, match=told):
        load_settings(tmp_path / "c.toml")


@pytest.mark.parametrize(("name", "parser"), [("reranker-en", "ehr-en"), ("reranker-zh", "css-zh")])
def test_a_configuration_of_ours_can_be_read(name: str, parser: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTSQL_DATA", "/data")
    folder = Path(__file__).parents[3] / "configs"
    settings = load_settings(folder / f"{name}.toml")
    assert Path(settings.data.held_out).is_file()
    from fastsql.training.config import load_config

    parsers = load_config(folder / f"{parser}.toml").data
    assert settings.data.language == parsers.made.language
    written = (*settings.data.written.designs, *settings.data.written.new)
    assert {design.name for design in designs(settings.data.language)} >= set(written)
    held_out = parsers.written.held_out
    assert set(settings.data.held_out_designs) == set(held_out), (
        "what the parser was not trained on is not here, either"
    )
