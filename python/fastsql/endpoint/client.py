"""What a server is asked, with another try where that may help."""

from __future__ import annotations

import email.utils
import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from http.client import HTTPResponse
from typing import Any, TypeVar

from fastsql.endpoint.address import Address, Endpoint, read_address
from fastsql.endpoint.errors import (
    EndpointAddressError,
    EndpointAnswerError,
    EndpointBusyError,
    EndpointError,
    EndpointLostError,
    EndpointMissingError,
    EndpointUnauthorizedError,
)
from fastsql.endpoint.events import data_of
from fastsql.endpoint.exchange import exchange, lost, pieces_of
from fastsql.limits import DEFAULT, Limits

KEY_VARIABLE = "FASTSQL_ENDPOINT_KEY"
"""The environment variable of the key, if the server wants one. There is no other way to give it."""
_KEY = re.compile(r"[!-~]+")
_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,256}")
_FIRST_PAUSE = 1.0
"""Seconds before the second try; each further pause is twice as long."""
_DONE = "[DONE]"
_AGAIN = "Run the same command later to go on."
_LOG = "Look at the server's log."
_Read = TypeVar("_Read")


class Client:
    """Asks one server. Every method raises EndpointError."""

    def __init__(
        self,
        endpoint: Endpoint,
        limits: Limits = DEFAULT,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Nothing is asked yet. `sleep`: waits so many seconds."""
        self.address = read_address(endpoint)
        self._limits = limits
        self._sleep = sleep
        self._headers = {"Accept-Encoding": "identity", "Connection": "close", **_key_header(self.address)}

    def first_model(self) -> str:
        """The name of the first model that the server lists."""

        def read(response: HTTPResponse) -> str:
            listed = self._json(response)
            models = listed.get("data") if isinstance(listed, dict) else None
            first = models[0] if isinstance(models, list) and models else None
            name = first.get("id") if isinstance(first, dict) else None
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise self._odd("its list of models has none", "Name a model with --endpoint-model.")
            return name

        return self._tried("/models", None, read)

    def chat(self, model: str, messages: Sequence[Mapping[str, str]], **settings: float) -> str:
        """The text that a model answers; "" for none. `settings`: of the request, such as ``temperature``.

        It is asked for as a stream, so that a slow server is told from a dead one; one that does not stream is understood.
        """
        request = {"model": model, "messages": list(messages), "stream": True, **settings}
        return self._tried("/chat/completions", json.dumps(request).encode(), self._text)

    # ------------------------------------------------------------ tries

    def _tried(self, path: str, body: bytes | None, read: Callable[[HTTPResponse], _Read]) -> _Read:
        pause = _FIRST_PAUSE
        for left in range(self._limits.endpoint_tries - 1, -1, -1):
            asked_for = 0.0
            try:
                with exchange(self.address, path, body, self._sent_headers(body), self._limits) as response:
                    asked_for = _retry_after(response)
                    self._check_status(response)
                    return read(response)
            except (EndpointBusyError, EndpointLostError) as error:
                if asked_for > self._limits.endpoint_wait_seconds:
                    raise EndpointBusyError(
                        f"the server asks to be left alone for {asked_for:,.0f} seconds",
                        where=str(self.address),
                        remedy=_AGAIN,
                    ) from error
                if not left:
                    raise
            self._sleep(min(max(pause, asked_for), self._limits.endpoint_wait_seconds))
            pause *= 2
        raise AssertionError("a last try returns or raises")

    def _sent_headers(self, body: bytes | None) -> dict[str, str]:
        if body is None:
            return {**self._headers, "Accept": "application/json"}
        kinds = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
        return {**self._headers, **kinds}

    def _check_status(self, response: HTTPResponse) -> None:
        """Raises for every status but 200."""
        status, where = response.status, str(self.address)
        if status == 200:
            return
        if 300 <= status < 400:
            raise EndpointAddressError(
                f"the server leads elsewhere (status {status}), where nothing is sent",
                where=where,
                remedy="Give the URL that it leads to, if that is meant.",
            )
        if status in (401, 403):
            raise EndpointUnauthorizedError(
                f"the server wants a key, or another one (status {status})",
                where=where,
                remedy=f"Put it into the environment variable {KEY_VARIABLE}.",
            )
        if status == 404:
            raise EndpointMissingError(
                "the server knows no such path, or no such model (status 404)",
                where=where,
                remedy="Check the URL's path and --endpoint-model.",
            )
        if status == 429 or status >= 500:
            raise EndpointBusyError(
                f"the server is busy or fails (status {status})", where=where, remedy=f"{_LOG} {_AGAIN}"
            )
        raise self._odd(f"it does not take the request (status {status})", _LOG)

    # ------------------------------------------------------------ answers

    def _json(self, response: HTTPResponse) -> Any:
        content = b"".join(pieces_of(response, self.address, self._limits))
        if response.length:  # what was announced did not come
            raise lost(self.address)
        return self._read(content)

    def _read(self, content: bytes | str) -> Any:
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise self._odd("its answer is not JSON", _LOG) from error

    def _text(self, response: HTTPResponse) -> str:
        if response.headers.get_content_type() == "text/event-stream":
            return self._streamed(response)
        answer = self._json(response)
        self._check_error(answer)
        choice = self._choice(answer)
        if choice is None:
            raise self._odd("its answer has no choices", _LOG)
        return self._content(choice.get("message"))

    def _streamed(self, response: HTTPResponse) -> str:
        parts: list[str] = []
        ended = False
        try:
            for data in data_of(pieces_of(response, self.address, self._limits)):
                if data.strip() == _DONE:
                    return "".join(parts)
                chunk = self._read(data)
                self._check_error(chunk)
                choice = self._choice(chunk)
                if choice is not None:
                    parts.append(self._content(choice.get("delta")))
                    ended = ended or isinstance(choice.get("finish_reason"), str)
        except UnicodeDecodeError as error:
            raise self._odd("its answer is not UTF-8", _LOG) from error
        if not ended:
            raise lost(self.address)
        return "".join(parts)

    def _check_error(self, answer: Any) -> None:
        """Raises for an error that comes in the middle of an answer, when the status has been sent."""
        if isinstance(answer, dict) and answer.get("error"):
            raise EndpointBusyError(
                "the server broke off its answer with an error",
                where=str(self.address),
                remedy=f"{_LOG} {_AGAIN}",
            )

    def _choice(self, answer: Any) -> dict[str, Any] | None:
        """The first choice; None for a part of a stream that has none, such as its statistics."""
        choices = answer.get("choices") if isinstance(answer, dict) else None
        if not isinstance(choices, list) or not all(isinstance(one, dict) for one in choices):
            raise self._odd("its answer is not a chat completion", _LOG)
        return choices[0] if choices else None

    def _content(self, message: Any) -> str:
        content = message.get("content") if isinstance(message, dict) else None
        if content is not None and not isinstance(content, str):
            raise self._odd("its answer is no text", _LOG)
        return content or ""

    def _odd(self, what: str, remedy: str) -> EndpointError:
        return EndpointAnswerError(
            f"the server is not understood: {what}", where=str(self.address), remedy=remedy
        )


def _key_header(address: Address) -> dict[str, str]:
    """The header with the key, if there is one. Raises EndpointUnauthorizedError; the message does not repeat it."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        return {}
    if not _KEY.fullmatch(key):
        raise EndpointUnauthorizedError("holds characters that no key has", where=KEY_VARIABLE)
    if not address.loopback and not address.secure:
        raise EndpointUnauthorizedError(
            "the key would cross the network for everybody to read",
            where=str(address),
            remedy=f"Give an https URL, or unset {KEY_VARIABLE}.",
        )
    return {"Authorization": f"Bearer {key}"}


def _retry_after(response: HTTPResponse) -> float:
    """The seconds that a server asks to wait, given as a number or as a date; 0 for none, or what cannot be read."""
    text = (response.getheader("Retry-After") or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    with suppress(ValueError):
        then = email.utils.parsedate_to_datetime(text)
        now = datetime.now(timezone.utc)
        return max(0.0, (then.replace(tzinfo=then.tzinfo or timezone.utc) - now).total_seconds())
    return 0.0
