from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.grammar import ActionSpace, load_grammar, sql_to_program, trace_program  # noqa: E402
from fastsql.grammar.program import ColumnRef, TableRef  # noqa: E402
from fastsql.linking.candidate import Candidate  # noqa: E402
from fastsql.linking.prepare import prepare  # noqa: E402
from fastsql.model.config import EncoderConfig, ModelConfig  # noqa: E402
from fastsql.model.tokenizer import Tokenizer  # noqa: E402
from fastsql.schema import Schema  # noqa: E402
from fastsql.training.batches.maker import ExampleMaker  # noqa: E402
from fastsql.training.config import AugmentSettings, TrainConfig  # noqa: E402
from fastsql.training.corpus.corpus import load_corpus  # noqa: E402
from fastsql.training.variation.schema_views import SchemaView, draw_view, other_labels, relabelled  # noqa: E402

SCHEMA = Schema.from_dict(
    {
        "name": "ward",
        "tables": [
            {
                "name": "patients",
                "label": "patients",
                "columns": [
                    {"name": "SubjectID", "label": "subject id", "type": "number", "primary_key": True},
                    {"name": "gender", "label": "patients gender", "type": "text", "values": ["f", "m"]},
                    {"name": "dod", "label": "date of death", "type": "time"},
                ],
            },
            {
                "name": "stays",
                "label": "住院",
                "columns": [
                    {"name": "stay_id", "label": "stay id", "type": "number", "primary_key": True},
                    {"name": "SubjectID", "label": "subject id", "type": "number"},
                    {"name": "ward", "label": "病房", "type": "text", "values": ["icu", "er"]},
                ],
            },
            {
                "name": "drugs",
                "label": "drugs",
                "columns": [{"name": "drug", "label": "drug", "type": "text"}],
            },
        ],
        "foreign_keys": [["stays.SubjectID", "patients.SubjectID"]],
    }
)
COUNT = sql_to_program("SELECT COUNT(*) FROM stays", SCHEMA)
JOIN = sql_to_program(
    "SELECT stays.ward FROM patients JOIN stays ON patients.SubjectID = stays.SubjectID"
    " WHERE patients.dod IS NULL",
    SCHEMA,
)
ALL = sql_to_program("SELECT * FROM stays", SCHEMA)
DROPPING = AugmentSettings(schema=1.0)


@pytest.fixture(scope="module")
def tokenizer(config: TrainConfig) -> Tokenizer:
    return Tokenizer.from_file(Path(config.model.encoder) / "tokenizer.json", 126)


def named(view: SchemaView, program: object) -> list[str]:
    """Names that a program refers to, in its order."""
    assert isinstance(program, tuple)
    schema = view.schema
    names = [schema.tables[item.table].name for item in program if isinstance(item, TableRef)]
    return names + [schema.qualified_name(item.column) for item in program if isinstance(item, ColumnRef)]


@pytest.mark.parametrize("seed", range(30))
def test_programs_mean_the_same_on_what_is_left(tokenizer: Tokenizer, seed: int) -> None:
    view = draw_view(SCHEMA, [COUNT, JOIN], DROPPING, tokenizer, random.Random(seed))
    assert view is not None
    whole = SchemaView.whole(SCHEMA, tokenizer)
    for program in (COUNT, JOIN):
        moved = view.program(program)
        assert named(view, moved) == named(whole, program)
        prepared = prepare("how many stays", view.links, tokenizer, candidates=())
        space = ActionSpace.for_question(view.schema, prepared.text, prepared.offsets, ())
        assert len(trace_program(moved, space).actions)
    assert view.schema.foreign_keys, "the columns of the join are kept, so is the key"
    assert view.inputs.n_columns == len(view.schema.columns) == len(view.columns or ())


def test_different_parts_are_left_out_from_time_to_time(tokenizer: Tokenizer) -> None:
    sizes = set()
    for seed in range(40):
        view = draw_view(SCHEMA, [JOIN], DROPPING, tokenizer, random.Random(seed))
        assert view is not None
        sizes.add((len(view.schema.tables), len(view.schema.columns)))
    assert {tables for tables, _ in sizes} == {2, 3}
    assert len(sizes) >= 4


def test_all_columns_stay_where_they_are_asked_for(tokenizer: Tokenizer) -> None:
    assert draw_view(SCHEMA, [JOIN, ALL], DROPPING, tokenizer, random.Random(0)) is None


def test_a_value_of_a_column_that_is_gone_is_gone(tokenizer: Tokenizer) -> None:
    gender = SCHEMA.column_index("patients", "gender")
    ward = SCHEMA.column_index("stays", "ward")
    both = Candidate("x", "text", (0, 1), "dictionary", (gender, ward))
    alone = replace(both, columns=(gender,))
    free = replace(both, source="quoted", columns=())
    view = next(
        view
        for seed in range(50)
        if (view := draw_view(SCHEMA, [JOIN], DROPPING, tokenizer, random.Random(seed))) is not None
        and gender not in (view.columns or {})
    )
    assert view.columns is not None
    assert view.candidates([both, alone, free]) == (replace(both, columns=(view.columns[ward],)), free)


def test_forgotten_domains_offer_no_value(tokenizer: Tokenizer) -> None:
    settings = AugmentSettings(no_domains=1.0)
    view = draw_view(SCHEMA, [JOIN], settings, tokenizer, random.Random(0))
    assert view is not None
    assert view.inputs.n_values == 0
    assert SchemaView.whole(SCHEMA, tokenizer).inputs.n_values == 4
    known = Candidate("icu", "text", (0, 3), "schema", (SCHEMA.column_index("stays", "ward"),))
    assert view.candidates([known]) == ()


def test_labels_are_exchanged_for_other_names_of_the_same_thing() -> None:
    subject, gender, _, _, _, ward = (SCHEMA.columns[i] for i in range(6))
    assert other_labels(subject, "patients") == ["patients subject id"]
    assert other_labels(gender, "patients") == ["gender"]
    assert other_labels(ward, "住院") == ["ward"]
    changed = relabelled(SCHEMA, 1.0, random.Random(0))
    assert [column.name for column in changed.columns] == [column.name for column in SCHEMA.columns]
    assert changed.columns[1].label == "gender"
    assert relabelled(SCHEMA, 0.0, random.Random(0)) == SCHEMA


def test_batches_come_in_many_versions_and_lose_no_example(config: TrainConfig, tmp_path: Path) -> None:
    corpus = load_corpus(config.data, 7, tmp_path)
    tokenizer = Tokenizer.from_file(Path(config.model.encoder) / "tokenizer.json", 126)
    grammar = load_grammar()
    encoder = EncoderConfig(vocabulary=tokenizer.vocabulary, positions=128)
    sizes = ModelConfig(len(grammar.productions), len(grammar.symbols), d=16, heads=2, encoder=encoder)
    settings = replace(config.augment, schema=0.7, labels=0.7)
    maker = ExampleMaker(corpus, corpus.train, tokenizer, sizes, candidates=24, augment=settings)
    widths = set()
    for epoch in range(6):
        batch, left_out = maker.make(range(4), epoch)
        assert batch is not None
        assert left_out == 0
        assert batch.item_relations.shape[1] == batch.schema.n_items
        widths.add(batch.schema.n_columns)
    assert len(widths) > 1
