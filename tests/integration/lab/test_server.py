import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from datetime import timedelta

import aiohttp
import pytest

from tidemill.lab.faults import Fault, HugePage, Outage, ScheduledFault, SlowDrip, TimeOut, Timetable, TruncatedBody
from tidemill.lab.loopback import NoPortError, listening_sockets
from tidemill.lab.server import LabServer
from tidemill.lab.world import EPOCH, World
from tidemill.verticals.events.lab.group import agenda_sites, agenda_world, true_events, world_of
from tidemill.verticals.events.lab.sites import build_sites

pytestmark = pytest.mark.shows("X5")


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


def ill_world(fault: Fault) -> World:
    [site] = build_sites(7, 1)
    return world_of([site], Timetable([ScheduledFault(host=site.host, kind="x", fault=fault, begins=EPOCH)]))


def serving(world: World) -> LabServer:
    return LabServer(world, now=lambda: EPOCH)


def first_page(server: LabServer) -> str:
    site = next(iter(agenda_sites(server.world).values()))
    return site.origin + site.paths[0]


async def test_every_site_answers_at_an_address_of_its_own(client: aiohttp.ClientSession) -> None:
    async with serving(agenda_world(5)) as server:
        for host, site in agenda_sites(server.world).items():
            async with client.get(site.origin + site.paths[0]) as answer:
                text = await answer.text()
            assert answer.status == 200
            assert all(
                event.page != site.paths[0] or f"{event.id}" in text for event in true_events(server.world, host, EPOCH)
            )
        assert len({site.origin for site in agenda_sites(server.world).values()}) == 5
        assert [seen.host for seen in server.log] == list(agenda_sites(server.world))
        assert [seen.at for seen in server.log] == sorted(seen.at for seen in server.log)


async def test_a_site_can_be_named_in_the_host_header(client: aiohttp.ClientSession) -> None:
    async with serving(agenda_world(2)) as server:
        one, other = agenda_sites(server.world).values()
        async with client.get(one.origin + "/robots.txt", headers={"Host": other.host}) as answer:
            assert answer.status == 200
        assert [seen.host for seen in server.log] == [other.host]


async def test_an_unchanged_page_answers_304(client: aiohttp.ClientSession) -> None:
    async with serving(agenda_world(1)) as server:
        async with client.get(first_page(server)) as answer:
            etag = answer.headers["ETag"]
        async with client.get(first_page(server), headers={"If-None-Match": etag}) as again:
            assert again.status == 304


async def test_a_hang_never_answers_and_lets_the_server_close(client: aiohttp.ClientSession) -> None:
    async with serving(ill_world(TimeOut())) as server:
        waiting = asyncio.create_task(client.get(first_page(server)).__aenter__())
        while not server.log:
            await asyncio.wait([waiting], timeout=0.01)
        assert not waiting.done()
    with pytest.raises(aiohttp.ClientConnectionError):
        await waiting


async def test_a_refusal_breaks_the_connection(client: aiohttp.ClientSession) -> None:
    async with serving(ill_world(Outage())) as server:
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await client.get(first_page(server)).__aenter__()


async def test_a_drip_comes_in_pieces(client: aiohttp.ClientSession) -> None:
    async with (
        serving(ill_world(SlowDrip(timedelta(milliseconds=20), 4))) as server,
        client.get(first_page(server)) as answer,
    ):
        started = asyncio.get_running_loop().time()
        body = await answer.read()
        assert asyncio.get_running_loop().time() - started > 0.05
        assert len(body) == answer.content_length


async def test_a_cut_body_is_shorter_than_it_was_announced(client: aiohttp.ClientSession) -> None:
    async with serving(ill_world(TruncatedBody(0.4))) as server, client.get(first_page(server)) as answer:
        with pytest.raises(aiohttp.ClientPayloadError):
            await answer.read()


async def test_a_huge_page_unpacks_to_its_size(client: aiohttp.ClientSession) -> None:
    async with serving(ill_world(HugePage(20))) as server, client.get(first_page(server)) as answer:
        size = 0
        async for piece in answer.content.iter_any():
            size += len(piece)
        assert size == 20_000_000


async def test_it_falls_back_to_names_where_only_one_address_is_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_one(hosts: list[str], port: int) -> object:
        if hosts != ["127.0.0.1"]:
            raise NoPortError
        return listening_sockets(hosts, port)

    monkeypatch.setattr("tidemill.lab.server.listening_sockets", only_one)
    async with serving(agenda_world(2)) as server, aiohttp.ClientSession() as client:
        port = next(iter(agenda_sites(server.world).values())).origin.rpartition(":")[2]
        for host, site in agenda_sites(server.world).items():
            assert site.origin == f"http://{host.removesuffix('.test')}.localhost:{port}"
            name = site.origin.removeprefix("http://")
            async with client.get(f"http://127.0.0.1:{port}/robots.txt", headers={"Host": name}) as answer:
                assert answer.status == 200
        assert [seen.host for seen in server.log] == list(agenda_sites(server.world))


def test_a_port_that_is_taken_is_refused_by_name() -> None:
    [taken] = listening_sockets(["127.0.0.11"])
    with contextlib.closing(taken), pytest.raises(NoPortError, match="no port is free"):
        listening_sockets(["127.0.0.11"], taken.getsockname()[1])


@pytest.mark.parametrize("ending", ["stdin", "sigterm"])
async def test_a_child_process_says_where_it_is_and_ends_when_told(ending: str, client: aiohttp.ClientSession) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tidemill.bootstrap.lab_server", "--sites", "3", "--faults", "all", "--seconds", "60",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    described = json.loads(await child.stdout.readline())
    assert len(described["sources"]) == 3
    async with client.get(described["sources"][0]["base_url"] + "/robots.txt") as answer:
        assert "User-agent" in await answer.text()
    if ending == "stdin":
        child.stdin.close()
    else:
        child.terminate()
    assert await asyncio.wait_for(child.wait(), 10) == 0
