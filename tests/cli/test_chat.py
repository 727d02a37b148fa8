"""``fastsql chat`` answers line by line, obeys commands, and goes on after every error."""

from __future__ import annotations

import io
import json
import re
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import fastsql
from fastsql.cli import chat
from fastsql.cli.chat_turns import COMMANDS, Conversation
from fastsql.cli.console import Console
from fastsql.cli.main import main
from fastsql.execution import Rows
from fastsql.schema import Schema
from fastsql.session import Turn

from ..databases import PostgresServer
from ..worlds import toy_bundle, toy_conversation
from .conftest import DDL, WOMEN, Outcome

ASKED = ("how many patients of gender f are there?", "only those of these", "how many of these are there?")
Chat = Callable[..., Outcome]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_conversation.write_bundle(tmp_path_factory.mktemp("toy") / "bundle")


@pytest.fixture
def converse(
    database: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Chat:
    """A conversation over a small database, its lines piped."""

    def load(model: str, **settings: Any) -> fastsql.Parser:
        return toy_bundle.load_toy(bundle, **{**settings, "encoder": None})

    def run(*lines: str, source: Path = database, options: tuple[str, ...] = ()) -> Outcome:
        monkeypatch.setattr(fastsql, "load", load, raising=False)
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        status = main(["chat", str(source), "--penalty", "0", "--device", "python", *options])
        return Outcome(status, *capsys.readouterr())

    return run


def test_each_line_is_answered_with_its_rows(converse: Chat) -> None:
    outcome = converse(*ASKED, "")
    assert (outcome.status, outcome.err) == (0, "")
    for number, question in enumerate(ASKED, 1):
        assert f"{number}. {question}" in outcome.out
    assert outcome.out.count(" ms; ") == len(ASKED)
    assert "? " not in outcome.out.replace("there? ", "")


def test_a_turn_says_which_it_uses(converse: Chat) -> None:
    assert "(uses turn" in converse(*ASKED).out


def test_quit_ends_before_what_follows(converse: Chat) -> None:
    outcome = converse("/quit", ASKED[0])
    assert (outcome.status, outcome.out) == (0, "")


def test_the_last_turn_tells_its_sql_and_how_it_came_about(converse: Chat) -> None:
    assert "SELECT" not in converse(ASKED[0]).out
    assert "   SELECT" in converse(ASKED[0], "/sql").out
    assert "Answered: confidence" in converse(ASKED[0], "/why").out
    assert "SELECT" in converse(*ASKED, "/undo", "/sql", "/why").out


def test_an_older_turn_tells_its_sql(converse: Chat) -> None:
    outcome = converse(*ASKED, "/sql 1", "/why 1", "/sql 9", "/why x", "/refresh", "/refresh 1")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.count("   SELECT") >= 2
    assert "there is no turn 9" in outcome.out
    assert "it is typed as /why N, with the number of a turn" in outcome.out
    assert outcome.out.count(" ms; ") == len(ASKED) + 2


def test_what_a_turn_takes_from_others_is_said_in_short(converse: Chat) -> None:
    assert "in short: " not in converse(ASKED[0], "/sql").out
    assert re.search(r"in short: .*PREV_(QUERY|RESULT)1", converse(*ASKED[:2], "/sql").out)


def test_a_turn_is_taken_back(converse: Chat) -> None:
    outcome = converse(ASKED[0], "/undo", "/history", "/undo", ASKED[1])
    assert "turn 1 is taken back\n   no turn yet\n   there is no turn to take back\n" in outcome.out
    assert f"1. {ASKED[1]}" in outcome.out


def test_a_forgotten_turn_is_named_in_the_history(converse: Chat) -> None:
    outcome = converse(ASKED[0], "/forget 1", "/history")
    assert "no later question refers to turn 1\n" in outcome.out
    assert f"   1. {ASKED[0]} (forgotten)" in outcome.out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/nope", "there is no command /nope; /help lists them"),
        ("/forget 7", "there is no turn 7"),
        ("/forget", "it is typed as /forget N"),
        ("/forget one", "it is typed as /forget N, with the number of a turn"),
        ("/export", "it is typed as /export FILE"),
        ("/undo 3", "it is typed as /undo"),
        ("/undo", "there is no turn to take back"),
        ("/sql", "there is no turn yet"),
        ("/why", "there is no turn yet"),
        ("/load no/such/file", "no/such/file: No such file or directory"),
        ("/export no/such/file", "no/such/file: No such file or directory"),
        ("why " * 5000, "question_characters"),
    ],
)
def test_an_error_is_one_line_and_the_conversation_goes_on(converse: Chat, line: str, said: str) -> None:
    first, *rest = converse(line, ASKED[0]).out.splitlines()
    assert said in first
    assert rest[0] == f"1. {ASKED[0]}"


def test_help_lists_every_command(converse: Chat) -> None:
    outcome = converse("/help")
    for command, what in COMMANDS.items():
        assert command in outcome.out
        assert what in outcome.out


def test_a_conversation_is_exported_for_its_owner_and_taken_up_again(converse: Chat, tmp_path: Path) -> None:
    file = tmp_path / "talk of today.json"
    converse(*ASKED[:2], f"/export {file}")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [turn["question"] for turn in json.loads(file.read_text())["turns"]] == list(ASKED[:2])
    outcome = converse(f"/load {file}", ASKED[2])
    assert f"   1. {ASKED[0]}\n   2. {ASKED[1]}" in outcome.out
    assert f"\n3. {ASKED[2]}" in outcome.out
    assert sorted(tmp_path.glob(".*")) == []


def test_a_file_that_exists_is_not_overwritten(converse: Chat, tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    file.write_text("mine")
    outcome = converse(ASKED[0], f"/export {file}", "/history")
    assert f"   {file}: File exists\n   1. {ASKED[0]}" in outcome.out
    assert file.read_text() == "mine"


def test_a_failed_export_leaves_no_file(
    converse: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fastsql.cli.chat_turns.write_whole", fail)
    assert "No space left on device" in converse(f"/export {tmp_path / 'new.json'}").out
    assert not (tmp_path / "new.json").exists()


@pytest.mark.parametrize("content", [b"{}", b"[", b"\xff", b""])
def test_a_file_that_holds_no_conversation_leaves_this_one(
    converse: Chat, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "other.json"
    file.write_bytes(content)
    said = converse(ASKED[0], f"/load {file}", "/history").out.splitlines()
    assert said[-1] == f"   1. {ASKED[0]}"
    assert "conversation cannot be read" in said[-2] or "is no text" in said[-2]


def test_an_error_in_the_database_leaves_the_conversation_going(
    converse: Chat, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object, **__: object) -> Rows:
        raise fastsql.ExecutionError("the database is gone", where="query")

    monkeypatch.setattr("fastsql.execution.sqlite.ReadOnlyExecutor.run", gone)
    outcome = converse(ASKED[0], "/history")
    assert outcome.status == 0
    assert outcome.out == "   query: the database is gone\n   no turn yet\n"


def test_a_duckdb_file_is_asked_about_a_schema_that_is_told(converse: Chat, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="pip install 'fastsql[duckdb]' to run this")
    path = tmp_path / "ward.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(DDL)
    outcome = converse(ASKED[0], source=path, options=("--schema", DDL))
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith(f"1. {ASKED[0]}")
    assert " ms; confidence" in outcome.out


def test_a_missing_database_is_an_error(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["chat", str(tmp_path / "none.sqlite")]) == 2
    assert "none.sqlite" in capsys.readouterr().err
    assert not (tmp_path / "none.sqlite").exists()


# -------------------------------------------------------------------- how a turn shows


class Told:
    """A session of one prepared turn."""

    def __init__(self, turn: Turn) -> None:
        self.history = (turn,)

    def ask(self, question: str) -> Turn:
        return self.history[0]

    def turn(self) -> Turn:
        return self.history[0]


def shown(turn: Turn, *lines: str) -> str:
    stream = io.StringIO()
    conversation = Conversation(Told(turn), Console(stream))  # type: ignore[arg-type]
    assert all(conversation.take(line) for line in lines)
    return stream.getvalue()


def test_rows_beyond_a_screen_are_counted() -> None:
    rows = Rows(("n",), tuple((n,) for n in range(1000, 2500)), truncated=True)
    text = shown(Turn("Who?", WOMEN, 0.9, number=3, uses=(1, 2), rows=rows, milliseconds=2), "Who?")
    assert text.startswith("3. (uses turns 1, 2)\n   n\n   1000\n")
    assert text.endswith(
        "   1019\n   more than 1,500 rows in 2.0 ms; 1,480 more not shown; confidence 0.90\n"
    )


def test_a_refusal_tells_its_reason_and_runs_no_guess() -> None:
    turn = Turn("Who?", WOMEN, 0.1, abstained=True, reason="no such\x1b[2J thing")
    text = shown(turn, "Who?")
    assert "   refused: no such [2J thing\n   Best guess, not an answer\n   ? SELECT" in text
    assert "rows" not in text
    assert "Best guess, not an answer" in shown(turn, "/sql")
    bare = Turn("Who?", None, 0.1, abstained=True, reason="nothing")
    assert shown(bare, "/sql") == "   turn 1 was refused, and has no SQL\n"


# -------------------------------------------------------------------- in a terminal


def test_ctrl_c_abandons_a_line_and_the_end_of_input_ends() -> None:
    typed: Iterator[Any] = iter([KeyboardInterrupt(), "/sql", EOFError()])

    def read(prompt: str) -> str:
        said = next(typed)
        if isinstance(said, BaseException):
            raise said
        return str(said)

    stream = io.StringIO()
    console = Console(stream)
    chat._converse(Conversation(Told(Turn("Who?", WOMEN, 0.9)), console), read, console)  # type: ignore[arg-type]
    assert stream.getvalue().split() == ["SELECT", *WOMEN.split()[1:]]


def test_lines_are_read_plainly_without_prompt_toolkit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    monkeypatch.delitem(sys.modules, "fastsql.cli.chat_prompt", raising=False)
    assert chat._reader(Schema.from_ddl(DDL), ()) is input


def completions(text: str, values: tuple[str, ...] = ()) -> list[tuple[str, str, int]]:
    pytest.importorskip("prompt_toolkit", reason="pip install prompt_toolkit to run this")
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from fastsql.cli.chat_prompt import ChatCompleter

    completer = ChatCompleter(Schema.from_ddl(DDL), lambda: values)
    found = completer.get_completions(Document(text), CompleteEvent(completion_requested=True))
    return [(one.text, one.display_meta_text, one.start_position) for one in found]


def test_labels_of_tables_and_columns_are_completed() -> None:
    assert completions("how many Pat") == [("patients", "table", -3)]
    assert completions("their subj") == [("subject id", "column", -4)]
    assert completions("zzz") == completions("") == completions("how ") == []


def test_values_are_completed_from_the_longest_beginning() -> None:
    values = ("Heart failure", "heart attack", "failure to thrive", "a\x1b[2Jb", "x" * 100)
    assert completions("who had heart f", values) == [("Heart failure", "value", -7)]
    assert [one[0] for one in completions("had HEART", values)] == ["heart attack", "Heart failure"]
    assert completions("a", values) == completions("xxxx", values) == []


def test_commands_are_completed() -> None:
    assert completions("/fo") == [("/forget", "", -3)]
    assert len(completions("/")) == len(COMMANDS)


def test_values_to_complete_are_read_from_the_database(database: Path) -> None:
    schema = Schema.from_sqlite(database)
    assert sorted(chat._dictionary(schema, database)) == ["f", "m"]
    assert list(chat._dictionary(schema, database.with_name("none"))) == []


def test_what_is_typed_stays_in_memory(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("prompt_toolkit", reason="pip install prompt_toolkit to run this")
    from prompt_toolkit.application import create_app_session
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    from fastsql.cli.chat_prompt import line_reader

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        read = line_reader(Schema.from_ddl(DDL), lambda: ())
        keys.send_text("Who has sepsis?\n")
        assert read("? ") == "Who has sepsis?"
        keys.send_text("\x1b[A\n")
        assert read("? ") == "Who has sepsis?"
    assert sorted(tmp_path.rglob("*")) == before


def test_a_chat_talks_to_postgres(converse: Chat, postgres: PostgresServer) -> None:
    import psycopg

    postgres.create_database("talked")
    with psycopg.connect(postgres.conninfo("talked"), autocommit=True) as connection:
        connection.execute(DDL)  # type: ignore[arg-type]
    outcome = converse(*ASKED, "/sql 1", "/refresh", source=postgres.url("talked"))  # type: ignore[arg-type]
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.count(" ms; ") == len(ASKED) + 1
    assert "   SELECT" in outcome.out
