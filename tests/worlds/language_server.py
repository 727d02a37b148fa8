"""A server that speaks OpenAI's protocol over real sockets, and remembers every byte that it was sent."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "toy-7b"
_ASKED = re.compile(r"(?:Question: |问题：)(.*)")


def reworded(prompt: str) -> str:
    """Three wordings of the question in a prompt, as models list them, and two that no one can use."""
    found = _ASKED.search(prompt)
    assert found is not None
    question = found[1].rstrip("?.？。")
    return (
        f'1. Please tell me: {question}\n2. {question}, I would like to know\n- "For the ward: {question}"\n'
        "Values such as [TEXT_9] here\nSELECT 1"
    )


class LanguageServer:
    """What it heard, and how it answers.

    Attributes:
        heard: every request's line, headers and body, in order.
        answer: makes the text of an answer of the user's message.
        respond: in place of everything else, writes a whole response.
        stream: whether answers come as server-sent events.
    """

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.answer: Callable[[str], str] = reworded
        self.respond: Callable[[BaseHTTPRequestHandler], None] | None = None
        self.stream = True
        self.url = ""

    @property
    def asked(self) -> int:
        """How often it was asked for an answer."""
        return sum(one.startswith(b"POST") for one in self.heard)


def send(handler: BaseHTTPRequestHandler, status: int, content: bytes, kind: str, **headers: str) -> None:
    """Sends a response with its length."""
    handler.send_response(status)
    for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(content)


def chunk(text: str | None, finish: str | None = None) -> bytes:
    """A part of a streamed answer."""
    delta = {} if text is None else {"content": text}
    part = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return f"data: {json.dumps(part, ensure_ascii=False)}\n\n".encode()


def streamed(text: str) -> bytes:
    """A whole streamed answer, a few characters a part."""
    parts = [chunk(text[start : start + 7]) for start in range(0, len(text), 7)]
    return b": a comment\n\n" + b"".join(parts) + chunk(None, "stop") + b"data: [DONE]\n\n"


@contextlib.contextmanager
def serving() -> Iterator[LanguageServer]:
    """A server on this machine."""
    state = LanguageServer()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            self._hear(b"")
            if state.respond is not None:
                state.respond(self)
                return
            listed = {"object": "list", "data": [{"id": MODEL, "object": "model"}]}
            send(self, 200, json.dumps(listed).encode(), "application/json")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self._hear(body)
            if state.respond is not None:
                state.respond(self)
                return
            request = json.loads(body)
            text = state.answer(request["messages"][-1]["content"])
            if state.stream:
                send(self, 200, streamed(text), "text/event-stream")
                return
            message = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}
            send(self, 200, json.dumps(message).encode(), "application/json")

        def _hear(self, body: bytes) -> None:
            head = f"{self.requestline}\n{self.headers}".encode()
            state.heard.append(head + body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
