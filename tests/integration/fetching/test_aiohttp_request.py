"""What goes out on a connection: the headers as they are given, and a second try where the first cannot count."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta

from tidemill.core.failure import Failure
from tidemill.fetching.aiohttp_request import DefaultHeaders
from tidemill.fetching.aiohttp_transport import AiohttpTransport
from tidemill.fetching.guard import AddressGuard
from tidemill.pipeline.ports import WireFailure, WireRequest, WireResponse

from .conftest import Answer, Serve, Served

PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhoi"
USUAL = DefaultHeaders({"User-Agent": "Tidemill/0.1", "Accept": "*/*", "Accept-Encoding": "gzip"})


class Departures:
    """Counts how often a request went out."""

    def __init__(self) -> None:
        self.count = 0

    async def note(self) -> None:
        self.count += 1


def to(served: Served, **terms: object) -> WireRequest:
    given = {"url": served.origin + "/", "headers": USUAL, "timeout": timedelta(seconds=5), "max_bytes": 1000}
    return WireRequest(**{**given, **terms})  # type: ignore[arg-type]


async def send(request: WireRequest, departures: Departures) -> WireResponse | WireFailure:
    transport = AiohttpTransport(AddressGuard(["127.0.0.0/8"]))
    try:
        return await transport.send(request, departures.note)
    finally:
        await transport.close()


async def hang_up_once(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """What a kept connection does that the server closed just as it was used."""
    writer.close()


async def test_a_question_is_asked_again_when_the_server_hung_up_and_both_times_count(serve: Serve) -> None:
    answers: Iterator[Answer] = iter([hang_up_once, PAGE])

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        now = next(answers)
        if isinstance(now, bytes):
            writer.write(now)
        else:
            await now(reader, writer)

    served, departures = await serve({"/": answer}), Departures()
    answered = await send(to(served), departures)
    assert isinstance(answered, WireResponse)
    assert (answered.body, departures.count, len(served.heads)) == (b"hoi", 2, 2)


async def test_an_order_is_never_sent_twice(serve: Serve) -> None:
    served, departures = await serve({"/": hang_up_once}), Departures()
    answered = await send(to(served, method="POST", content=b"pay"), departures)
    assert isinstance(answered, WireFailure)
    assert (answered.failure, departures.count, len(served.heads)) == (Failure.CONNECTION_LOST, 1, 1)


async def test_the_usual_headers_go_out_as_they_are_after_the_host(serve: Serve) -> None:
    served = await serve({"/": PAGE})
    await send(to(served), Departures())
    host = f"127.0.0.1:{served.port}"
    lines = ["GET / HTTP/1.1", f"Host: {host}", "User-Agent: Tidemill/0.1", "Accept: */*", "Accept-Encoding: gzip"]
    assert served.heads[0].decode().split("\r\n") == [*lines, "", ""]


async def test_a_source_may_say_which_host_it_means(serve: Serve) -> None:
    served = await serve({"/": PAGE})
    await send(to(served, headers={**USUAL, "host": "other.example"}), Departures())
    assert served.heads[0].lower().count(b"host:") == 1
    assert b"host: other.example" in served.heads[0].lower()


async def test_a_request_that_must_not_leave_leaves_nothing_behind(serve: Serve) -> None:
    class Stop(Exception):
        pass

    async def stop() -> None:
        raise Stop

    served = await serve({"/": PAGE})
    transport = AiohttpTransport(AddressGuard(["127.0.0.0/8"]))
    for _ in range(3):
        try:
            await transport.send(to(served), stop)
        except Stop:
            continue
    await transport.close()
    assert not served.heads
