"""A ward small enough to train on in a test: schema, questions with SQL, files of the uniform form, a tiny encoder."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from fastsql.grammar import Program, sql_to_program
from fastsql.schema import Schema

from .database import inserted, write_database
from .toy_model import wordpiece

SCHEMA = Schema.from_dict(
    {
        "name": "ward",
        "tables": [
            {
                "name": "admissions",
                "columns": [
                    {"name": "hadm_id", "type": "number", "primary_key": True},
                    {"name": "subject_id", "type": "number"},
                    {"name": "admittime", "type": "time"},
                    {"name": "dischtime", "type": "time"},
                ],
            },
            {
                "name": "prescriptions",
                "columns": [
                    {"name": "hadm_id", "type": "number"},
                    {"name": "drug", "type": "text"},
                    {"name": "dose", "type": "number"},
                    {"name": "starttime", "type": "time"},
                ],
            },
            {
                "name": "items",
                "columns": [
                    {"name": "item_id", "type": "number", "primary_key": True},
                    {"name": "label", "type": "text"},
                    {"name": "kind", "type": "text"},
                ],
            },
        ],
        "foreign_keys": [["prescriptions.hadm_id", "admissions.hadm_id"]],
    }
)

DRUGS = ("aspirin", "heparin", "insulin", "morphine", "warfarin", "vancomycin", "furosemide", "metoprolol")
FIRST = " AND admissions.dischtime IS NOT NULL ORDER BY admissions.admittime ASC LIMIT 1"
CURRENT = " AND admissions.dischtime IS NULL"
SINCE = " AND strftime('%Y-%m', prescriptions.starttime) >= '2100-08'"
THIS_YEAR = " AND datetime(prescriptions.starttime,'start of year') = datetime(current_time,'start of year','-0 year')"
JULY = THIS_YEAR + " AND strftime('%m', prescriptions.starttime) = '07'"


def doses(patient: int, drug: str, visit: str = "", time: str = "", aggregate: str = "MAX") -> str:
    """SQL for a dose of a drug that a patient got."""
    return (
        f"SELECT {aggregate}(prescriptions.dose) FROM prescriptions WHERE prescriptions.hadm_id IN ( SELECT "
        f"admissions.hadm_id FROM admissions WHERE admissions.subject_id = {patient}{visit} ) "
        f"AND prescriptions.drug = '{drug}'{time}"
    )


def program(sql: str) -> Program:
    """The program of a query over the ward."""
    return sql_to_program(sql, SCHEMA)


def examples() -> list[dict[str, Any]]:
    """Uniform examples: six templates over the drugs, two of them about an item that is never spelled out."""
    rows: list[tuple[str, str]] = []
    for number, drug in enumerate(DRUGS):
        patient = 10_004_235 + 37 * number
        rows += [
            (f"What was the maximum dose of {drug} of patient {patient}?", doses(patient, drug)),
            (
                f"What was the maximum dose of {drug} of patient {patient} since 08/2100?",
                doses(patient, drug, time=SINCE),
            ),
            (
                f"What was the maximum dose of {drug} of patient {patient} on the first hospital visit?",
                doses(patient, drug, visit=FIRST),
            ),
            (
                f"How many prescriptions of {drug} were there this year?",
                f"SELECT COUNT(*) FROM prescriptions WHERE prescriptions.drug = '{drug}'{THIS_YEAR}",
            ),
            (
                f"Is {drug} less than {number + 3}.5 mg anywhere?",
                f"SELECT COUNT(*) > 0 FROM prescriptions WHERE drug = '{drug}' AND dose < {number + 3}.5",
            ),
            (
                f"Which item is the weight, asked for {drug}?",
                "SELECT items.item_id FROM items WHERE items.label = 'daily weight'",
            ),
        ]
    return [
        {"id": f"w{number}", "db_id": "ward", "question": question, "sql": sql}
        for number, (question, sql) in enumerate(rows)
    ] + [{"id": "refuse", "db_id": "ward", "question": "What is love?", "sql": None}]


def write_data(folder: Path) -> Path:
    """train.json, valid.json, schemas.json and ward.sqlite."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.json").write_text(json.dumps(examples()), encoding="utf-8")
    question = "How many prescriptions of insulin were there, this year"
    reported = [{"id": "v", "db_id": "ward", "question": question, "sql": None}]
    (folder / "valid.json").write_text(json.dumps(reported), encoding="utf-8")
    (folder / "schemas.json").write_text(
        json.dumps([{**SCHEMA.to_dict(), "db_id": "ward"}]), encoding="utf-8"
    )
    prescriptions = inserted("prescriptions", [(1, drug, 2, "2100-01-01 00:00:00") for drug in DRUGS])
    items = inserted("items", [(1, "heart rate", "vital"), (2, "daily weight", "vital")])
    write_database(folder / "ward.sqlite", SCHEMA.to_ddl() + prescriptions + items)
    return folder


def write_encoder(folder: Path) -> Path:
    """A BERT of one layer with random weights, in the files of a Hugging Face checkpoint."""
    folder.mkdir(parents=True, exist_ok=True)
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "?", ".", ",", "/", "'"]
    letters = string.ascii_lowercase + string.digits
    words = [
        *marks,
        *letters,
        *(f"##{letter}" for letter in letters),
        *DRUGS,
        *["patient", "dose", "since", "first"],
    ]
    hidden, ffn = 16, 24
    settings = {
        "hidden_size": hidden,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": ffn,
        "vocab_size": len(words),
        "max_position_embeddings": 128,
    }
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    (folder / "tokenizer.json").write_text(wordpiece(words), encoding="utf-8")
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(words), hidden),
        "embeddings.position_embeddings.weight": (128, hidden),
        "embeddings.token_type_embeddings.weight": (2, hidden),
        "embeddings.LayerNorm.weight": (hidden,),
        "embeddings.LayerNorm.bias": (hidden,),
    }
    layer = "encoder.layer.0."
    for part, (rows, columns) in {
        "attention.self.query": (hidden, hidden),
        "attention.self.key": (hidden, hidden),
        "attention.self.value": (hidden, hidden),
        "attention.output.dense": (hidden, hidden),
        "intermediate.dense": (ffn, hidden),
        "output.dense": (hidden, ffn),
    }.items():
        shapes[f"{layer}{part}.weight"] = (rows, columns)
        shapes[f"{layer}{part}.bias"] = (rows,)
    for part in ("attention.output.LayerNorm", "output.LayerNorm"):
        shapes[f"{layer}{part}.weight"] = shapes[f"{layer}{part}.bias"] = (hidden,)
    rng = np.random.default_rng(0)
    weights = {
        name: np.ones(shape, np.float32)
        if name.endswith("LayerNorm.weight")
        else rng.normal(0, 0.1, shape).astype(np.float32)
        for name, shape in shapes.items()
    }
    save_file(weights, folder / "model.safetensors")
    return folder
