"""Which server may be asked: one on this machine, or another one that somebody confirmed."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from fastsql.endpoint.errors import EndpointAddressError

_FORM = "Give a URL such as http://127.0.0.1:8080/v1."
_VERSION = "/v1"
_PATH = re.compile(r"(/[\w.~-]+)*")
_HOST = re.compile(r"[\w.:-]+", re.ASCII)


@dataclass(frozen=True)
class Endpoint:
    """A server that speaks OpenAI's protocol.

    Attributes:
        url: its address, with or without ``/v1``.
        model: the model to ask; "" for the first that it lists.
        off_machine: whether another machine may be asked.
    """

    url: str
    model: str = ""
    off_machine: bool = False


@dataclass(frozen=True)
class Address:
    """Where requests go. `path` ends in ``/v1``."""

    host: str
    port: int
    path: str
    secure: bool
    loopback: bool

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' * self.secure}://{host}:{self.port}{self.path}"


def read_address(endpoint: Endpoint) -> Address:
    """The address of an endpoint.

    This machine is ``localhost``, ``127.0.0.0/8`` and ``::1``, written so; every other name counts as another machine.
    Raises EndpointAddressError; the message does not repeat a URL that cannot be read, as it may hold a password.
    """
    try:
        parts = urlsplit(endpoint.url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise EndpointAddressError("the endpoint's URL cannot be read", remedy=_FORM) from error
    if parts.scheme not in ("http", "https") or not _HOST.fullmatch(host):
        raise EndpointAddressError("the endpoint is no http or https URL", remedy=_FORM)
    if parts.username is not None or parts.password is not None:
        raise EndpointAddressError(
            "the endpoint's URL holds a name or a password",
            remedy="Leave them out; a key is read from the environment variable FASTSQL_ENDPOINT_KEY.",
        )
    path = parts.path.rstrip("/")
    if parts.query or parts.fragment or not _PATH.fullmatch(path):
        raise EndpointAddressError("the endpoint's URL holds more than host, port and path", remedy=_FORM)
    secure = parts.scheme == "https"
    address = Address(
        host,
        port or (443 if secure else 80),
        path if path.endswith(_VERSION) else path + _VERSION,
        secure,
        is_loopback(host),
    )
    if not address.loopback and not endpoint.off_machine:
        raise EndpointAddressError(
            "is not on this machine, and names of tables and columns would be sent there",
            where=str(address),
            remedy="Confirm it with --endpoint-off-machine, or name a server on localhost.",
        )
    return address


def is_loopback(host: str) -> bool:
    """Whether a host is this machine as it is written; no name is looked up."""
    if host == "localhost":
        return True
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return False
    return found == ipaddress.IPv6Address(1) or (found.version == 4 and found.is_loopback)
