"""Which servers may be asked."""

from __future__ import annotations

import pytest

from fastsql.endpoint import Endpoint, EndpointAddressError
from fastsql.endpoint.address import read_address


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("http://localhost:8080", "http://localhost:8080/v1"),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
        ("http://[::1]:9", "http://[::1]:9/v1"),
        ("https://127.9.0.1/api", "https://127.9.0.1:443/api/v1"),
    ],
)
def test_addresses_of_this_machine(url: str, read: str) -> None:
    found = read_address(Endpoint(url))
    assert str(found) == read
    assert found.loopback


@pytest.mark.parametrize(
    "url",
    [
        "http://ward-7:8080",
        "http://10.0.0.4/v1",
        "http://localhost.example.org",
        "http://127.0.0.1.example.org",
        "http://2130706433",
        "http://0.0.0.0:8080",
        "http://[::ffff:127.0.0.1]:80",
        "https://api.openai.com/v1",
    ],
)
def test_any_other_machine_has_to_be_confirmed(url: str) -> None:
    with pytest.raises(EndpointAddressError, match="endpoint-off-machine"):
        read_address(Endpoint(url))
    assert not read_address(Endpoint(url, off_machine=True)).loopback


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8080",
        "ftp://localhost",
        "file:///etc/passwd",
        "http://",
        "http://localhost:port",
        "http://localhost:99999",
        "http://local host",
        "http://localhost/v1?key=s3cret",
        "http://localhost/v1#s3cret",
        "http://user:s3cret@localhost/v1",
        "http://localhost/v1\r\nX-Other: s3cret",
        "http://[::1",
        "x" * 100_000,
    ],
)
def test_what_is_no_address_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(EndpointAddressError) as caught:
        read_address(Endpoint(url, off_machine=True))
    assert "s3cret" not in str(caught.value)
    assert len(str(caught.value)) < 500
