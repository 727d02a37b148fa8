"""One request and its answer, by `http.client`: no proxy is used, no redirect followed, and everything has a bound."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections.abc import Iterator, Mapping

from fastsql.endpoint.address import Address, is_loopback
from fastsql.endpoint.errors import (
    EndpointAddressError,
    EndpointAnswerError,
    EndpointLostError,
    EndpointTimeoutError,
    EndpointUnreachableError,
)
from fastsql.limits import Limits

_PIECE = 65_536


@contextlib.contextmanager
def exchange(
    address: Address, path: str, body: bytes | None, headers: Mapping[str, str], limits: Limits
) -> Iterator[http.client.HTTPResponse]:
    """The answer to a GET, or to a POST of `body`, whose status and content the caller reads.

    Raises EndpointUnreachableError, EndpointLostError, EndpointTimeoutError, and EndpointAddressError where localhost is
    another machine.
    """
    kind = http.client.HTTPSConnection if address.secure else http.client.HTTPConnection
    connection = kind(address.host, address.port, timeout=limits.endpoint_idle_seconds)
    late = threading.Event()
    try:
        _connect(connection, address)
        with _deadline(connection.sock, limits.endpoint_seconds, late):
            connection.request("GET" if body is None else "POST", address.path + path, body, dict(headers))
            with connection.getresponse() as response:
                yield response
    except TimeoutError as error:
        raise _too_late(address, limits.endpoint_idle_seconds) from error
    except (http.client.HTTPException, OSError, EndpointLostError) as error:
        if late.is_set():
            raise _too_late(address, limits.endpoint_seconds) from error
        raise lost(address) from error
    finally:
        connection.close()


def pieces_of(response: http.client.HTTPResponse, address: Address, limits: Limits) -> Iterator[bytes]:
    """What an answer holds, as it comes. Raises EndpointAnswerError for more than `Limits.endpoint_answer_bytes`."""
    count = 0
    while piece := response.read1(_PIECE):
        count += len(piece)
        if count > limits.endpoint_answer_bytes:
            raise EndpointAnswerError(
                f"an answer is longer than {limits.endpoint_answer_bytes:,} bytes",
                where=str(address),
                remedy="Check that it is a server for chat completions, or name another model.",
            )
        yield piece


def lost(address: Address) -> EndpointLostError:
    """The error for an answer that ends before its end."""
    return EndpointLostError(
        "the server closed the connection before its answer was complete",
        where=str(address),
        remedy="Look at the server's log; run the same command to go on.",
    )


def _connect(connection: http.client.HTTPConnection, address: Address) -> None:
    """Raises EndpointUnreachableError, and EndpointAddressError before anything goes to a localhost elsewhere."""
    try:
        connection.connect()
    except TimeoutError:
        raise
    except OSError as error:
        raise EndpointUnreachableError(
            f"cannot be reached ({error.strerror or type(error).__name__})",
            where=str(address),
            remedy="Start the server there, or check the URL.",
        ) from error
    if address.loopback and not is_loopback(str(connection.sock.getpeername()[0])):
        raise EndpointAddressError(
            "this machine's localhost is another machine", where=str(address), remedy="Give 127.0.0.1."
        )


@contextlib.contextmanager
def _deadline(sock: socket.socket, seconds: float, late: threading.Event) -> Iterator[None]:
    """Cuts a connection that lasts longer, whatever it is waiting for: a server may send a byte now and then."""

    def cut() -> None:
        late.set()
        with contextlib.suppress(OSError):  # it may be closed already
            sock.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _too_late(address: Address, seconds: int) -> EndpointTimeoutError:
    return EndpointTimeoutError(
        f"the server did not answer within {seconds} seconds",
        where=str(address),
        remedy="Name a smaller model, or raise Limits.endpoint_seconds; run the same command to go on.",
    )
