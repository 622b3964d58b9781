import asyncio
import socket
from typing import Any

import aiohttp
import pytest

from tidemill.web.listening import CannotListen
from tidemill.web.serve import serve


async def answer_when(released: asyncio.Event, asked: asyncio.Event) -> Any:
    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        asked.set()
        await released.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})

    return app


async def test_a_request_under_way_is_answered_before_we_leave() -> None:
    released, asked = asyncio.Event(), asyncio.Event()
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    app = await answer_when(released, asked)
    serving = asyncio.create_task(serve(app, "127.0.0.1", 0, ready=ready.set_result))
    async with aiohttp.ClientSession() as session:
        asking = asyncio.create_task(session.get(await ready))
        await asked.wait()
        serving.cancel()
        released.set()
        assert await (await asking).read() == b"done"
    await asyncio.wait([serving])
    assert serving.cancelled()


async def test_the_address_names_the_port_that_was_picked() -> None:
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    app = await answer_when(asyncio.Event(), asyncio.Event())
    serving = asyncio.create_task(serve(app, "127.0.0.1", 0, ready=ready.set_result))
    address = await ready
    assert address.startswith("http://127.0.0.1:")
    assert not address.endswith(":0")
    serving.cancel()
    await asyncio.wait([serving])


async def test_a_port_that_is_taken_is_told_with_what_to_do() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        app = await answer_when(asyncio.Event(), asyncio.Event())
        with pytest.raises(CannotListen, match=rf"port {port} .*choose another port"):
            await serve(app, "127.0.0.1", port, ready=print)
