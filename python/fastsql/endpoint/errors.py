"""What can go wrong with a server. No message repeats what was sent, what was answered, or the key."""

from __future__ import annotations

from fastsql.errors import FastSQLError


class EndpointError(FastSQLError):
    """A server with a language model cannot be used; ``where`` is its address."""


class EndpointAddressError(EndpointError):
    """The address is none, is not on this machine and was not confirmed, or leads elsewhere."""


class EndpointUnreachableError(EndpointError):
    """Nothing listens there."""


class EndpointUnauthorizedError(EndpointError):
    """The server asks for a key, or for another one."""


class EndpointMissingError(EndpointError):
    """The server does not have the path, or the model."""


class EndpointAnswerError(EndpointError):
    """The server answered what the protocol does not know, too much, or that it does not take the request."""


class EndpointBusyError(EndpointError):
    """The server failed or had too much to do, again and again."""


class EndpointLostError(EndpointError):
    """The connection broke before the answer was complete."""


class EndpointTimeoutError(EndpointError):
    """The server did not answer in time."""
