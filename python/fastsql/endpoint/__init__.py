"""A server with a language model, spoken to by OpenAI's protocol: on this machine, or on another one that was confirmed.

    address.py: which server may be asked    exchange.py: one request    events.py: a streamed answer    client.py: retries

It sends what it is given and knows nothing of schemas and questions.
"""

from __future__ import annotations

from fastsql.endpoint.address import Endpoint
from fastsql.endpoint.client import KEY_VARIABLE, Client
from fastsql.endpoint.errors import (
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

__all__ = [
    "KEY_VARIABLE",
    "Client",
    "Endpoint",
    "EndpointAddressError",
    "EndpointAnswerError",
    "EndpointBusyError",
    "EndpointError",
    "EndpointLostError",
    "EndpointMissingError",
    "EndpointTimeoutError",
    "EndpointUnauthorizedError",
    "EndpointUnreachableError",
]
