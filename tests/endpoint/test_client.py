"""The protocol with everything that can go wrong in it, over real sockets."""

from __future__ import annotations

import json
import socket
import time
from http.server import BaseHTTPRequestHandler

import pytest

from fastsql.endpoint import (
    KEY_VARIABLE,
    Client,
    Endpoint,
    EndpointAddressError,
    EndpointAnswerError,
    EndpointBusyError,
    EndpointError,
    EndpointLostError,
    EndpointMissingError,
    EndpointTimeoutError,
    EndpointUnauthorizedError,
    EndpointUnreachableError,
)
from fastsql.limits import Limits

from ..worlds.language_server import MODEL, LanguageServer, chunk, send, streamed

MESSAGES = [{"role": "user", "content": "Question: 多少病人 [TEXT_1]?"}]
LIMITS = Limits(endpoint_idle_seconds=1, endpoint_seconds=2, endpoint_answer_bytes=20_000, endpoint_tries=3)


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def client(server: LanguageServer, pauses: list[float], monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    return Client(Endpoint(server.url), LIMITS, sleep=pauses.append)


def test_a_streamed_and_a_whole_answer_are_the_same(client: Client, server: LanguageServer) -> None:
    server.answer = lambda _: "有几个病人？\nHow many?"
    first = client.chat(MODEL, MESSAGES, temperature=0.5)
    server.stream = False
    assert client.chat(MODEL, MESSAGES) == first == "有几个病人？\nHow many?"
    asked = json.loads(server.heard[0].partition(b"\n\n")[2])
    assert asked == {"model": MODEL, "messages": MESSAGES, "stream": True, "temperature": 0.5}
    assert client.first_model() == MODEL


def test_proxies_of_the_environment_are_not_used(
    client: Client, server: LanguageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    client.chat(MODEL, MESSAGES)
    assert server.asked == 1


def test_a_key_goes_into_its_header_alone(server: LanguageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "s3cret")
    Client(Endpoint(server.url), LIMITS).chat(MODEL, MESSAGES)
    assert server.heard[0].count(b"s3cret") == server.heard[0].count(b"Authorization: Bearer s3cret") == 1
    monkeypatch.setenv(KEY_VARIABLE, "s3cret\r\nX-Other: 1")
    with pytest.raises(EndpointUnauthorizedError) as caught:
        Client(Endpoint(server.url), LIMITS)
    assert "s3cret" not in str(caught.value)
    monkeypatch.setenv(KEY_VARIABLE, "s3cret")
    with pytest.raises(EndpointUnauthorizedError, match="everybody"):
        Client(Endpoint("http://ward-7", off_machine=True), LIMITS)


def refuse(status: int, **headers: str) -> object:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        send(handler, status, b"Question: [TEXT_1] said back", "text/plain", **headers)

    return respond


@pytest.mark.parametrize(
    ("status", "error", "tries"),
    [
        (301, EndpointAddressError, 1),
        (307, EndpointAddressError, 1),
        (400, EndpointAnswerError, 1),
        (401, EndpointUnauthorizedError, 1),
        (404, EndpointMissingError, 1),
        (429, EndpointBusyError, 3),
        (500, EndpointBusyError, 3),
        (503, EndpointBusyError, 3),
    ],
)
def test_a_status_is_an_error_that_repeats_nothing(
    client: Client, server: LanguageServer, status: int, error: type[EndpointError], tries: int
) -> None:
    server.respond = refuse(status, Location="http://example.org/v1")  # type: ignore[assignment]
    with pytest.raises(error) as caught:
        client.chat(MODEL, MESSAGES)
    assert server.asked == tries
    assert "TEXT_1" not in str(caught.value)
    assert server.url in str(caught.value)


def test_a_busy_server_is_asked_again_when_it_says(
    client: Client, server: LanguageServer, pauses: list[float]
) -> None:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        if server.asked < 3:
            send(handler, 429, b"", "text/plain", Retry_After="7")
        else:
            send(handler, 200, streamed("fine"), "text/event-stream")

    server.respond = respond
    assert client.chat(MODEL, MESSAGES) == "fine"
    assert pauses == [7.0, 7.0]


def test_a_server_that_wants_an_hour_is_left_alone(
    client: Client, server: LanguageServer, pauses: list[float]
) -> None:
    server.respond = refuse(429, Retry_After="3600")  # type: ignore[assignment]
    with pytest.raises(EndpointBusyError, match="3,600 seconds"):
        client.chat(MODEL, MESSAGES)
    assert pauses == []


BROKEN = {
    "half a stream": (chunk("How "), "text/event-stream", EndpointLostError),
    "nothing": (b"", "text/event-stream", EndpointLostError),
    "no JSON in a stream": (b"data: {how\n\n", "text/event-stream", EndpointAnswerError),
    "an error in a stream": (
        chunk("H") + b'data: {"error": {"message": "m"}}\n\n',
        "text/event-stream",
        EndpointBusyError,
    ),
    "no UTF-8": (b"data: \xff\xfe\n\n", "text/event-stream", EndpointAnswerError),
    "no JSON": (b"<html>", "application/json", EndpointAnswerError),
    "a list": (b"[]", "application/json", EndpointAnswerError),
    "no choices": (b'{"choices": []}', "application/json", EndpointAnswerError),
    "a number for a text": (
        b'{"choices": [{"message": {"content": 5}}]}',
        "application/json",
        EndpointAnswerError,
    ),
    "very deep": (b"[" * 15_000, "application/json", EndpointAnswerError),
    "too long": (b'"' + b"x" * 50_000 + b'"', "application/json", EndpointAnswerError),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_answer_is_an_error(client: Client, server: LanguageServer, name: str) -> None:
    content, kind, error = BROKEN[name]
    server.respond = lambda handler: send(handler, 200, content, kind)
    with pytest.raises(error):
        client.chat(MODEL, MESSAGES)


def test_a_connection_that_breaks_is_tried_again(client: Client, server: LanguageServer) -> None:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        if server.asked < 2:
            handler.send_response(200)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", "500")
            handler.end_headers()
            handler.wfile.write(b'{"choices"')
            handler.close_connection = True
            return
        send(handler, 200, streamed("fine"), "text/event-stream")

    server.respond = respond
    assert client.chat(MODEL, MESSAGES) == "fine"
    assert server.asked == 2


def test_a_silent_server_and_one_that_dribbles_end_in_time(client: Client, server: LanguageServer) -> None:
    server.respond = lambda _: time.sleep(4)
    begun = time.monotonic()
    with pytest.raises(EndpointTimeoutError, match="1 seconds"):
        client.chat(MODEL, MESSAGES)

    def dribble(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        for _ in range(40):
            try:
                handler.wfile.write(b": still here\n\n")
                handler.wfile.flush()
            except OSError:
                return
            time.sleep(0.1)

    server.respond = dribble
    with pytest.raises(EndpointTimeoutError, match="2 seconds"):
        client.chat(MODEL, MESSAGES)
    assert time.monotonic() - begun < 6


def test_an_endpoint_where_nothing_listens_is_unreachable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(EndpointUnreachableError, match="Start the server"):
            Client(Endpoint(url), LIMITS, sleep=lambda _: None).first_model()


def test_a_server_without_models(client: Client, server: LanguageServer) -> None:
    server.respond = lambda handler: send(handler, 200, b'{"data": []}', "application/json")
    with pytest.raises(EndpointAnswerError, match="endpoint-model"):
        client.first_model()
