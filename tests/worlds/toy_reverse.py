"""A reverse model small enough to build in a test: random weights over the toy tokenizer."""

from __future__ import annotations

import numpy as np

from fastsql.grammar import load_grammar, sql_to_program
from fastsql.grammar.program import Program
from fastsql.model.attention import Array, Part
from fastsql.model.encoder import WordTable
from fastsql.model.weights import quantise
from fastsql.reverse import ReverseModel
from fastsql.reverse.config import ReverseConfig
from fastsql.reverse.network import ReverseNetwork
from fastsql.reverse.source import ITEMS, OTHER
from fastsql.schema import Schema

from .toy_model import WORDPIECE

SCHEMA = Schema.from_ddl(
    """
    CREATE TABLE patients (subject_id INTEGER PRIMARY KEY, gender TEXT, age INTEGER);
    CREATE TABLE admissions (hadm_id INTEGER PRIMARY KEY, subject_id INTEGER REFERENCES patients (subject_id), type TEXT);
    CREATE TABLE 就诊 (编号 INTEGER, 诊断 TEXT);
    """
)
QUERIES = (
    "SELECT COUNT(*) FROM patients WHERE gender = 'F'",
    "SELECT type FROM admissions JOIN patients ON admissions.subject_id = patients.subject_id WHERE age > 60",
    "SELECT 编号 FROM 就诊 WHERE 诊断 = '肺炎'",
    "SELECT gender, AVG(age) FROM patients GROUP BY gender ORDER BY AVG(age) DESC LIMIT 1",
)
STYLES = ("plain", "ward")


def program(sql: str, schema: Schema = SCHEMA) -> Program:
    """The program of a query."""
    return sql_to_program(sql, schema)


def make_config(**sizes: int) -> ReverseConfig:
    """Small sizes; half of the pieces can be written."""
    return ReverseConfig(
        pieces=WORDPIECE.vocabulary,
        symbols=(OTHER, *STYLES, *ITEMS, *load_grammar().productions),
        styles=STYLES,
        outputs=tuple(sorted({WORDPIECE.sep, *range(5, WORDPIECE.vocabulary, 2)})),
        start=WORDPIECE.cls,
        end=WORDPIECE.sep,
        **{"words": 8, "d": 16, "heads": 2, "ffn": 24, "encoder_layers": 2, "decoder_layers": 2, **sizes},
    )


def random_weights(config: ReverseConfig, seed: int = 0) -> dict[str, Array]:
    """Weights large enough that every part shows in the scores."""
    rng = np.random.default_rng(seed)
    return {
        name: rng.normal(1.0 if "norm.weight" in name else 0.0, 0.3, shape).astype(np.float32)
        for name, shape in config.shapes().items()
    }


def make_model(seed: int = 0) -> ReverseModel:
    """A model of random weights."""
    config = make_config()
    weights = random_weights(config, seed)
    words = WordTable(*quantise(weights.pop("words.weight")))
    return ReverseModel(ReverseNetwork(config, Part(weights), words), WORDPIECE)
