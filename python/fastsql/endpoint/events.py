"""A streamed answer: server-sent events (the HTML standard, section 9.2), however its bytes are cut into pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def data_of(pieces: Iterable[bytes]) -> Iterator[str]:
    """The data of each event, in order. Raises UnicodeDecodeError for what is not UTF-8.

    Comments and other fields are passed over. An event that the stream ends in the middle of is none.
    """
    held: list[str] = []
    for line in lines_of(pieces):
        if not line:
            if held:
                yield "\n".join(held)
            held = []
            continue
        field, _, value = line.partition(b":")
        if field == b"data":
            held.append(value.removeprefix(b" ").decode())


def lines_of(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Lines that end in LF, CR or both. They are cut as bytes: no character of UTF-8 holds one of these."""
    rest = b""
    for piece in pieces:
        rest += piece
        # A CR at the very end may be half of a line's end.
        whole = rest[:-1] if rest.endswith(b"\r") else rest
        lines = whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        yield from lines[:-1]
        rest = lines[-1] + rest[len(whole) :]
    if rest.endswith(b"\r"):
        yield rest[:-1]
