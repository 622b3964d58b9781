"""Server-sent events read from bytes, as a browser would."""

from typing import NamedTuple

LARGEST_EVENT = 4_000_000
"""Bytes: a state takes half a million at most."""


class ServerEvent(NamedTuple):
    """An event: its kind, its data as text, and the cursor that it carries, if any."""

    kind: str
    data: str
    event_id: str | None


class EventParser:
    """Turns pieces of a stream into events; a piece may end anywhere."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._pending = b""
        self.retry_milliseconds: int | None = None

    def feed(self, piece: bytes) -> list[ServerEvent]:
        """Return the events that this piece completes; raise `ValueError` for one that is too large."""
        *blocks, self._pending = (self._pending + piece).replace(b"\r\n", b"\n").split(b"\n\n")
        if len(self._pending) > LARGEST_EVENT:
            msg = f"an event is larger than {LARGEST_EVENT} bytes"
            raise ValueError(msg)
        found = (self._event(block) for block in blocks)
        return [event for event in found if event is not None]

    def _event(self, block: bytes) -> ServerEvent | None:
        kind, event_id, data = "message", None, []
        for line in block.decode("utf-8", "replace").split("\n"):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            match name:
                case "event":
                    kind = value
                case "id":
                    event_id = value
                case "data":
                    data.append(value)
                case "retry" if value.isdigit():
                    self.retry_milliseconds = int(value)
        return ServerEvent(kind, "\n".join(data), event_id) if data else None
