"""A server on loopback that speaks HTTP/2 and nothing else, with a certificate that only its own authority signs."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import trustme
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived, StreamEnded

PIECE = 65_536


@dataclass
class Http2Server:
    """What it has, where it is, whom it trusts to sign, and what it was asked."""

    pages: Mapping[str, bytes]
    authority: Path
    port: int = 0
    asked: list[dict[str, str]] = field(default_factory=list)
    connections: int = 0
    talks: set[asyncio.Task[None]] = field(default_factory=set)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        task = asyncio.current_task()
        assert task is not None
        self.talks.add(task)
        self.connections += 1
        connection = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        connection.initiate_connection()
        unsent: dict[int, bytes] = {}
        writer.write(connection.data_to_send())
        with suppress(ConnectionError, ssl.SSLError):
            while data := await reader.read(PIECE):
                for event in connection.receive_data(data):
                    self._heed(connection, event, unsent)
                send_what_fits(connection, unsent)
                writer.write(connection.data_to_send())
                await writer.drain()
        writer.close()
        self.talks.discard(task)

    def _heed(self, connection: H2Connection, event: object, unsent: dict[int, bytes]) -> None:
        if isinstance(event, RequestReceived):
            self.asked.append({str(name): str(value) for name, value in event.headers})
        elif isinstance(event, StreamEnded):
            body = self.pages.get(self.asked[-1][":path"])
            status = "404" if body is None else "200"
            headers = [(":status", status), ("content-type", "text/html"), ("content-length", str(len(body or b"")))]
            connection.send_headers(event.stream_id, headers)
            unsent[event.stream_id] = body or b""


def send_what_fits(connection: H2Connection, unsent: dict[int, bytes]) -> None:
    """Send as much of each body as the other side has room for; the rest when it has made some."""
    for stream in list(unsent):
        while unsent[stream] and (room := room_for(connection, stream)):
            connection.send_data(stream, unsent[stream][:room])
            unsent[stream] = unsent[stream][room:]
        if not unsent[stream]:
            connection.end_stream(stream)
            del unsent[stream]


def room_for(connection: H2Connection, stream: int) -> int:
    """How many bytes may be sent now."""
    return min(connection.local_flow_control_window(stream), connection.max_outbound_frame_size)


@asynccontextmanager
async def an_http2_server(pages: Mapping[str, bytes], folder: Path) -> AsyncIterator[Http2Server]:
    """The server for the time of the block, known as `h2.test`."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "authority.pem")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("h2.test").configure_cert(tls)
    tls.set_alpn_protocols(["h2"])
    served = Http2Server(pages, folder / "authority.pem")
    server = await asyncio.start_server(served.talk, "127.0.0.1", 0, ssl=tls)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        for task in list(served.talks):
            task.cancel()
        await asyncio.gather(*served.talks, return_exceptions=True)
