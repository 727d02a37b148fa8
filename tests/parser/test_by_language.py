"""`load("auto")`: each question is read by the model of its language, and a conversation may change the language."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path

import pytest

import fastsql
from fastsql.parser import Parser, ParserByLanguage
from fastsql.parser.by_language import MODELS
from fastsql.session.turn import Turn

from ..worlds.toy_bundle import load_toy, make_config, write_bundle
from ..worlds.toy_model import SCHEMA

ENGLISH, CHINESE = "how many patients are there?", "有多少病人？"


class Opener:
    """Opens toy bundles under the models' names, and counts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.opened: list[str] = []

    def __call__(self, model: str) -> Parser:
        self.opened.append(model)
        return load_toy(self.folder / model)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("models")
    for name in MODELS.values():
        write_bundle(found / name, config=make_config().with_turns(), model=name)
    return found


@pytest.fixture
def opener(folder: Path) -> Opener:
    return Opener(folder)


@pytest.fixture
def parser(opener: Opener) -> ParserByLanguage:
    return ParserByLanguage(opener, fastsql.Limits())


def test_the_question_decides_and_nothing_is_opened_before(parser: ParserByLanguage, opener: Opener) -> None:
    assert opener.opened == []
    parser.parse(CHINESE, SCHEMA)
    parser.parse(CHINESE, SCHEMA)
    assert opener.opened == ["css-zh"]
    parser.parse(ENGLISH, SCHEMA)
    assert opener.opened == ["css-zh", "ehr-en"]


def test_results_are_those_of_the_model(parser: ParserByLanguage) -> None:
    for language, question in (("en", ENGLISH), ("zh", CHINESE)):
        assert parser.parse(question, SCHEMA).best == parser.of(language).parse(question, SCHEMA).best
    batch = parser.parse_batch([CHINESE, ENGLISH, CHINESE], SCHEMA)
    assert [result.question for result in batch] == [CHINESE, ENGLISH, CHINESE]
    assert [one.best for one in parser.pipe([(ENGLISH, SCHEMA)])] == [batch[1].best]


def test_a_conversation_goes_on_in_each_language_by_itself(parser: ParserByLanguage) -> None:
    session = parser.session(SCHEMA)
    turns = [session.ask(question) for question in (ENGLISH, CHINESE, ENGLISH, CHINESE)]
    assert [turn.number for turn in turns] == [1, 2, 3, 4]
    read = {turn.number: turn.state.model for turn in turns if turn.state is not None}
    assert all(model == MODELS["en" if number % 2 else "zh"] for number, model in read.items())
    for turn in turns:
        assert all(read[number] == read[turn.number] for number in turn.uses)


def test_an_exported_conversation_is_taken_up_by_its_model(parser: ParserByLanguage) -> None:
    session = parser.session(SCHEMA)
    for question in (ENGLISH, CHINESE):
        session.ask(question)
    other = parser.session(SCHEMA)
    other.load(session.export())
    assert [turn.question for turn in other.history] == [ENGLISH, CHINESE]
    assert other.ask(CHINESE).number == 3
    for turn in other.history[:2]:
        assert turn.state is None or turn.state.model == "css-zh"


def test_history_of_the_other_model_is_no_error(parser: ParserByLanguage) -> None:
    first = parser.parse(ENGLISH, SCHEMA, history=())
    assert isinstance(first, Turn)
    second = parser.parse(CHINESE, SCHEMA, history=(first,))
    assert isinstance(second, Turn)
    assert second.uses == ()
    assert second.number == 2


def test_a_parser_by_language_can_be_pickled_and_opens_each_model_once(folder: Path) -> None:
    opener = Opener(folder)
    parser = ParserByLanguage(opener, fastsql.Limits())
    threads = [threading.Thread(target=parser.parse, args=(CHINESE, SCHEMA)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opener.opened == ["css-zh"]
    again = pickle.loads(pickle.dumps(parser))
    assert again.parse(CHINESE, SCHEMA).best == parser.parse(CHINESE, SCHEMA).best


def test_other_languages_and_no_text_are_errors(parser: ParserByLanguage) -> None:
    with pytest.raises(ValueError, match="'en', 'zh'"):
        parser.of("fr")
    with pytest.raises(TypeError):
        parser.parse(5, SCHEMA)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        parser.parse_batch(ENGLISH, SCHEMA)


def test_load_auto_gives_a_parser_by_language() -> None:
    parser = fastsql.load("auto", penalty=3)
    assert isinstance(parser, ParserByLanguage)
    assert "css-zh" in repr(parser)
    assert parser.of("en").penalty == 3
