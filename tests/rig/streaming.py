"""Streams of tallies over real HTTP, and clients in two languages that follow them."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import aiohttp
import msgspec
import pytest
from fastapi import Depends, FastAPI
from starlette.responses import Response

from rig.clock import seeded_dice
from rig.streamed import VERTICAL
from tidemill.core.snapshots.canonical import canonical, checksum
from tidemill.core.snapshots.sse import EventParser, ServerEvent
from tidemill.pipeline.ports import Clock
from tidemill.services.stream_client import StreamClient
from tidemill.store.database.database import Database
from tidemill.store.snapshots.epochs import Epochs
from tidemill.store.snapshots.log import SnapshotLog
from tidemill.store.snapshots.notifications import commit_notifications
from tidemill.store.snapshots.reads import SnapshotReads
from tidemill.store.snapshots.redis_snapshots import RedisSnapshots
from tidemill.store.snapshots.shared_reads import SharedReads
from tidemill.web.errors import handle_errors
from tidemill.web.serve import serve
from tidemill.web.stream.access import StreamAccess
from tidemill.web.stream.hub import StreamHub
from tidemill.web.stream.resource import CheckTimes, StreamedResource
from tidemill.web.stream.routes import stream_router
from tidemill.web.strict_input import refuse_unknown_parameters

RESOURCE = StreamedResource(
    vertical=VERTICAL, name="tally", path="/api/v1/tallies", summary_fields=("title", "score"), group="cup",
    statuses=("live", "over"),
)  # fmt: skip
PATIENCE = 20
"""Seconds after which a wait has failed; nothing here takes that long."""


@dataclass
class StreamServer:
    """A server of streams that can be restarted on its port, cut and stopped."""

    database: Database
    clock: Clock
    log: SnapshotLog
    checks: CheckTimes | None = None
    shared: RedisSnapshots | None = None
    port: int = 0
    access: StreamAccess = field(init=False)
    _serving: asyncio.Task[None] | None = None

    @property
    def hub(self) -> StreamHub:
        return self.access.hub

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}{RESOURCE.path}"

    async def start(self) -> None:
        reads = SnapshotReads(self.database)

        def notifications(callback: Any) -> Any:
            return commit_notifications(self.database, callback)

        hub = StreamHub(
            self.log,
            SharedReads(reads, self.shared) if self.shared else reads,
            Epochs(self.database, self.clock),
            self.clock,
            checks=self.checks,
            notifications=notifications,
        )
        self.access = StreamAccess(hub, reads.changes)
        app = FastAPI(dependencies=[Depends(refuse_unknown_parameters)])
        handle_errors(app, lambda *_, **__: Response())
        app.include_router(stream_router(RESOURCE, self.access))
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = serve(app, "127.0.0.1", self.port, ready=ready.set_result, stopping=hub.close_soon)
        self._serving = asyncio.create_task(serving)
        self.port = int((await ready).rpartition(":")[2])

    async def stop(self) -> None:
        assert self._serving is not None
        self._serving.cancel()
        await asyncio.wait([self._serving])
        await self.hub.close()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    def cut(self) -> None:
        """Cut every connection at once, in the middle of whatever is sent."""
        for reader in list(self.hub.readers):
            reader.cut()  # type: ignore[attr-defined]


@asynccontextmanager
async def stream_server(
    database: Database,
    clock: Clock,
    log: SnapshotLog,
    checks: CheckTimes | None = None,
    shared: RedisSnapshots | None = None,
) -> AsyncIterator[StreamServer]:
    server = StreamServer(database, clock, log, checks, shared)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


class RawStream:
    """A stream as it comes: events one by one."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response
        self._parser = EventParser()
        self._found: list[ServerEvent] = []

    async def next(self) -> tuple[str, dict[str, Any], str | None]:
        while not self._found:
            async with asyncio.timeout(PATIENCE):
                piece = await self.response.content.readany()
            assert piece, "the stream ended"
            self._found += self._parser.feed(piece)
        event = self._found.pop(0)
        return event.kind, json.loads(event.data), event.event_id

    async def until(self, kind: str) -> tuple[str, dict[str, Any], str | None]:
        while True:
            found = await self.next()
            if found[0] == kind:
                return found

    async def ended(self) -> bool:
        async with asyncio.timeout(PATIENCE):
            return await self.response.content.readany() == b""


@asynccontextmanager
async def raw_stream(session: aiohttp.ClientSession, url: str, **headers: str) -> AsyncIterator[RawStream]:
    async with session.get(url, headers={name.replace("_", "-"): value for name, value in headers.items()}) as response:
        assert response.status == 200, await response.text()
        yield RawStream(response)


class Following(Protocol):
    """A client that follows, whatever it is written in."""

    async def held(self) -> dict[str, tuple[int, str]]:
        """The number and the full hash of the state of each thing."""
        ...

    async def story(self) -> tuple[list[str], int]:
        """The reasons of its resyncs, and how many gaps it met."""
        ...


class PythonFollower:
    def __init__(self, client: StreamClient) -> None:
        self.client = client

    async def held(self) -> dict[str, tuple[int, str]]:
        records = self.client.records.items()
        return {key: (record.seq, checksum(canonical(record.state))) for key, record in records}

    async def story(self) -> tuple[list[str], int]:
        return self.client.follower.resyncs, self.client.follower.gaps


class NodeFollower:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def held(self) -> dict[str, tuple[int, str]]:
        return {key: (seq, digest) for key, (seq, digest) in (await self._ask())["held"].items()}

    async def story(self) -> tuple[list[str], int]:
        told = await self._ask()
        return told["resyncs"], told["gaps"]

    async def _ask(self) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(b"state\n")
        async with asyncio.timeout(PATIENCE):
            return msgspec.json.decode(await self._process.stdout.readline())


@asynccontextmanager
async def following(language: str, server: StreamServer, **wanted: Any) -> AsyncIterator[Following]:
    """A client in Python or JavaScript that follows the server; it waits little before it comes back."""
    if language == "python":
        async with aiohttp.ClientSession() as session:
            client = StreamClient(
                session, server.address, RESOURCE.name, dice=seeded_dice(), pause=_little, heartbeat=5, **wanted
            )
            running = asyncio.create_task(client.run())
            try:
                yield PythonFollower(client)
            finally:
                client.stop()
                running.cancel()
                await asyncio.wait([running])
        return
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine")
    script = Path(__file__).parent / "stream_client.js"
    options = {"address": server.address, "name": RESOURCE.name, **wanted}
    process = await asyncio.create_subprocess_exec(
        node, str(script), json.dumps(options), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield NodeFollower(process)
    finally:
        process.kill()
        await process.communicate()


async def _little(_seconds: float) -> None:
    await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.02)


async def ends_identical(follower: Following, database: Database, keys: list[str]) -> None:
    """Wait until the client holds what the server holds, byte for byte."""
    reads = SnapshotReads(database)
    wanted = {each.thing.key: (each.seq, each.checksum) for each in await reads.latest_of(VERTICAL, keys)}
    assert sorted(wanted) == sorted(keys)
    held: dict[str, tuple[int, str]] = {}
    try:
        async with asyncio.timeout(PATIENCE):
            while (held := await follower.held()) != wanted:
                await _little(0)
    except TimeoutError:
        assert held == wanted
