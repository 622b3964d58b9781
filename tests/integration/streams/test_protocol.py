"""Every endpoint, event and rule of the delta protocol, as a client sees it on the wire."""

import asyncio
import socket
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from rig.clock import NOON
from rig.streamed import VERTICAL
from rig.streaming import PATIENCE, raw_stream, stream_server
from tidemill.core.live.change import ChangeKind
from tidemill.core.snapshots.canonical import canonical, checksum
from tidemill.core.snapshots.sse import EventParser
from tidemill.store.snapshots.reads import SnapshotReads
from tidemill.web.stream.limits import StreamLimits
from tidemill.web.stream.resource import CheckState

pytestmark = pytest.mark.shows("X8")


def digest(state):
    return checksum(canonical(state))[:16]


async def until(condition):
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.005)


class Checks:
    """When things were last checked, as a test sets it."""

    def __init__(self):
        self.states = {}

    async def refresh(self):
        pass

    def check_of(self, vertical, key):
        assert vertical == VERTICAL
        return self.states.get(key)


async def test_a_stream_begins_with_a_snapshot_and_goes_on_with_deltas(server, session, writer):
    await writer.score("a", 1)
    async with raw_stream(session, f"{server.address}/a/stream") as stream:
        headers = stream.response.headers
        assert headers["Content-Type"] == "text/event-stream"
        assert (headers["Cache-Control"], headers["X-Accel-Buffering"]) == ("no-store", "no")
        kind, data, cursor = await stream.next()
        assert (kind, data["tally"], data["seq"], data["conflated"]) == ("snapshot", "a", 1, False)
        assert (data["state"], data["checksum"]) == (writer.states["a"], digest(writer.states["a"]))
        assert cursor == f"{server.hub.epoch}.1"
        await writer.score("a", 2, NOON + timedelta(seconds=3), skipped=2)
        kind, data, cursor = await stream.next()
        assert (kind, data["seq"], data["prev"], data["source"], data["skipped"]) == ("delta", 2, 1, "site", 2)
        assert data["patch"] == {"score": {"home": 2}, "notes": {"1.2": 2}}
        assert data["checksum"] == digest(writer.states["a"])
        assert datetime.fromisoformat(data["checked_at"]) == NOON + timedelta(seconds=3)
        assert cursor == f"{server.hub.epoch}.2"


async def test_corrections_and_moves_between_statuses_are_events_of_their_own(server, session, writer):
    await writer.score("a", 5)
    async with raw_stream(session, f"{server.address}/a/stream") as stream:
        await stream.next()
        await writer.score("a", 4, kind=ChangeKind.CORRECTION, reason="said twice", was={"score": 5})
        kind, data, _ = await stream.next()
        assert (kind, data["reason"], data["was"], data["prev"]) == ("correction", "said twice", {"score": 5}, 1)
        await writer.move("a", "ACTIVE", "PAUSED")
        kind, data, cursor = await stream.next()
        assert (kind, data["from"], data["to"], data["seq"]) == ("status", "ACTIVE", "PAUSED", 3)
        assert "checked_at" not in data  # a move is no reading
        assert cursor is not None


@pytest.mark.parametrize("way", ["header", "query"])
async def test_a_reader_goes_on_after_its_cursor_and_misses_nothing(server, session, writer, way):
    await writer.score("a", 1)
    async with raw_stream(session, f"{server.address}/a/stream") as stream:
        _, _, cursor = await stream.next()
    assert cursor
    for points in (2, 3, 4):
        await writer.score("a", points)
    url = f"{server.address}/a/stream"
    headers: dict[str, str] = {}
    if way == "header":
        headers["Last_Event_ID"] = cursor
    else:
        url += f"?after={cursor}"
    async with raw_stream(session, url, **headers) as stream:
        assert [(await stream.next())[1]["seq"] for _ in range(3)] == [2, 3, 4]
    assert server.hub.counts.resumed == 1


async def test_cursors_older_than_the_ring_are_served_from_the_log(server, session, writer):
    for points in range(1, 6):
        await writer.score("a", points)
        await writer.score("b", points)
    await server.restart()  # its ring is empty
    await server.hub.start()
    async with raw_stream(session, f"{server.address}/a/stream?after={server.hub.epoch}.3") as stream:
        told = [await stream.next() for _ in range(3)]
        assert [(kind, data["seq"]) for kind, data, _ in told] == [("delta", 3), ("delta", 4), ("delta", 5)]


@pytest.mark.parametrize(
    ("cursor", "reason"), [("00000000.1", "epoch_changed"), ("EPOCH.99", "unknown"), ("EPOCH.1", "too_old")]
)
async def test_who_cannot_be_told_each_change_is_told_so_first(server, session, writer, cursor, reason):
    for points in (1, 2):
        await writer.score("a", points, NOON - timedelta(hours=49))
    await server.hub.start()
    url = f"{server.address}/a/stream?after={cursor.replace('EPOCH', server.hub.epoch)}"
    async with raw_stream(session, url) as stream:
        assert (await stream.next())[:2] == ("resync", {"reason": reason})
        kind, data, _ = await stream.next()
        assert (kind, data["state"]) == ("snapshot", writer.states["a"])


async def test_of_several_first_snapshots_only_the_last_has_a_cursor(server, session, writer):
    """Whoever is cut between them must get them all again."""
    for key in "abc":
        await writer.score(key, 1)
    async with raw_stream(session, f"{server.address}/stream?tally=a&tally=b&tally=c") as stream:
        cursors = [(await stream.next())[2] for _ in range(3)]
    assert cursors == [None, None, f"{server.hub.epoch}.3"]


async def test_what_cannot_be_asked_for_is_refused_with_what_to_do(server, session, writer):
    await writer.score("a", 1)

    async def status(path, **headers):
        async with session.get(server.address + path, headers=headers) as response:
            return response.status

    assert await status("/a/stream?after=nonsense") == 400
    assert await status("/a/stream", **{"Last-Event-ID": "0.0"}) == 400
    assert await status("/x/stream") == 404
    assert await status("/stream") == 422
    assert await status("/stream?status=live&tally=a") == 422
    assert await status("/stream?" + "&".join(f"tally={number}" for number in range(51))) == 422
    assert await status("/a/stream?heartbeat=4") == 422
    assert await status("/a/stream?heartbeat=31") == 422
    assert await status("/a/stream?nonsense=1") == 422
    assert await status("?limit=501") == 422
    assert await status("?status=lvie") == 422
    assert await status("/stream?status=lvie") == 422
    assert await status("/a/changes?after=-1") == 422
    assert await status("/stream?tally=a&tally=x") == 404
    async with session.head(f"{server.address}/a/stream") as response:
        assert (response.status, response.headers["Content-Type"]) == (200, "text/event-stream")
    await until(lambda: server.access.limits.open == 0)


async def test_a_token_has_20_streams_and_a_process_2000_readers(server, session, writer):
    await writer.score("a", 1)
    server.access.limits = StreamLimits(most=3, per_token=2)
    token = {"Authorization": "Bearer one"}
    url = f"{server.address}/a/stream"
    async with session.get(url, headers=token), session.get(url, headers=token):
        async with session.get(url, headers=token) as third:
            assert (third.status, third.headers["Retry-After"]) == (429, "5")
        async with session.get(url), session.get(url) as fourth:
            assert (fourth.status, fourth.headers["Retry-After"]) == (503, "5")
    await until(lambda: server.access.limits.open == 0)
    assert StreamLimits()._most == 2_000
    assert StreamLimits()._per_token == 20


async def test_a_heartbeat_tells_ages_and_cursor_when_nothing_else_is_told(server, session, writer, clock):
    await writer.score("a", 1)
    async with raw_stream(session, f"{server.address}/a/stream?heartbeat=5") as stream:
        await stream.next()
        clock.advance(timedelta(seconds=4.9))
        await server.hub.look()
        clock.advance(timedelta(seconds=0.1))
        await server.hub.look()
        kind, data, cursor = await stream.next()
        assert (kind, data["ages"], data["cursor"], cursor) == ("heartbeat", {"a": 5.0}, f"{server.hub.epoch}.1", None)


async def test_stale_and_fresh_are_told_once_per_move_and_to_whoever_joins(database, session, writer, clock):
    checks = Checks()
    await writer.score("a", 1)
    async with stream_server(database, clock, writer.log, checks) as server:
        async with raw_stream(session, f"{server.address}/a/stream?heartbeat=30") as stream:
            assert (await stream.next())[0] == "snapshot"
            checks.states["a"] = CheckState(NOON, "s1", "breaker")
            clock.advance(timedelta(seconds=29.9))
            await server.hub.look()
            clock.advance(timedelta(seconds=0.1))
            for _ in range(3):
                await server.hub.look()
            kind, data, cursor = await stream.next()
            assert (kind, data["level"], data["age"], data["reason"]) == ("stale", "warn", 30.0, "breaker")
            assert (datetime.fromisoformat(data["since"]), cursor) == (NOON, None)
            async with raw_stream(session, f"{server.address}/a/stream") as late:
                assert [(await late.next())[0] for _ in range(2)] == ["snapshot", "stale"]
            clock.advance(timedelta(seconds=90))
            await server.hub.look()
            kind, data, _ = await stream.until("stale")
            assert (data["level"], data["age"]) == ("error", 120.0)
            checks.states["a"] = CheckState(clock.now(), "s1")  # checked, and nothing has changed
            await server.hub.look()
            assert (await stream.until("fresh"))[1]["age"] == 0.0
        checks.states.clear()
        clock.advance(timedelta(seconds=40))
        async with raw_stream(session, f"{server.address}/a/stream") as stream:
            assert (await stream.until("stale"))[1]["reason"] == "no_worker"


async def test_a_break_in_which_little_is_asked_is_fresh(database, session, writer, clock):
    checks = Checks()
    checks.states["a"] = CheckState(NOON, "s", rests=timedelta(seconds=30))
    await writer.score("a", 1)
    async with (
        stream_server(database, clock, writer.log, checks) as server,
        raw_stream(session, f"{server.address}/a/stream?heartbeat=5") as stream,
    ):
        assert (await stream.next())[0] == "snapshot"
        for seconds, freshness in ((44, "fresh"), (59, "stale")):
            clock.set(NOON + timedelta(seconds=seconds))
            await server.hub.look()
            assert (await stream.next())[0] == "heartbeat"
            async with session.get(f"{server.address}/a") as response:
                assert (await response.json())["_metadata"]["freshness"] == freshness
        clock.set(NOON + timedelta(seconds=60))
        await server.hub.look()
        kind, data, _ = await stream.next()
        assert (kind, data["level"]) == ("stale", "warn")


async def test_a_thing_that_is_over_is_never_stale(server, session, writer, clock):
    await writer.write("a", {"status": "over"})
    clock.advance(timedelta(hours=3))
    async with raw_stream(session, f"{server.address}/a/stream?heartbeat=5") as stream:
        assert (await stream.next())[0] == "snapshot"
        clock.advance(timedelta(seconds=5))
        await server.hub.look()
        assert (await stream.next())[0] == "heartbeat"


async def test_some_fields_are_streamed_with_their_own_chain_and_checksum(server, session, writer):
    await writer.score("a", 1)
    async with raw_stream(session, f"{server.address}/a/stream?fields=score,status") as stream:
        _, data, _ = await stream.next()
        seen = {"status": "live", "score": {"home": 1}}
        assert (data["state"], data["checksum"]) == (seen, digest(seen))
        await writer.write("a", {**writer.states["a"], "title": "other"})  # not one of the fields
        await writer.score("a", 2)
        _, data, cursor = await stream.next()
        assert (data["seq"], data["prev"], data["patch"]) == (3, 1, {"score": {"home": 2}})
        assert data["checksum"] == digest({**seen, "score": {"home": 2}})
    await writer.score("a", 3)
    async with raw_stream(session, f"{server.address}/a/stream?fields=score&after={cursor}") as stream:
        kind, data, _ = await stream.next()
        assert (kind, data["state"], data["conflated"]) == ("snapshot", {"score": {"home": 3}}, True)


async def test_who_comes_back_for_a_part_has_no_gap_in_what_did_not_change_meanwhile(server, session, writer):
    for key in ("a", "b", "c"):
        await writer.score(key, 1)
    async with session.get(f"{server.address}/c") as response:
        cursor = response.headers["X-Stream-Cursor"]
    async with raw_stream(session, f"{server.address}/stream?status=live&fields=score&after={cursor}") as stream:
        await until(lambda: server.hub.counts.resumed == 1)
        await writer.score("a", 2)
        kind, data, cursor = await stream.next()
        assert (kind, data["tally"], data["seq"], data["state"]) == ("snapshot", "a", 2, {"score": {"home": 2}})
        assert (data["conflated"], cursor) == (True, f"{server.hub.epoch}.4")
        await writer.score("a", 3)
        kind, data, _ = await stream.next()
        assert (kind, data["prev"], data["patch"]) == ("delta", 2, {"score": {"home": 3}})
        await writer.score("d", 1)
        kind, data, _ = await stream.next()
        assert (kind, data["tally"], data["prev"]) == ("delta", "d", 0)


async def test_what_is_committed_while_a_reader_comes_back_is_told(server, session, writer, monkeypatch):
    await writer.score("a", 1)
    async with session.get(f"{server.address}/a") as response:
        cursor = response.headers["X-Stream-Cursor"]
    listed = server.hub.reads.listed

    async def slowly(*asked, **named):
        found = await listed(*asked, **named)
        await writer.score("a", 2)  # after the look at the things, before the reader goes on from the newest change
        return found

    monkeypatch.setattr(server.hub.reads, "listed", slowly)
    async with raw_stream(session, f"{server.address}/stream?status=live&fields=score&after={cursor}") as stream:
        kind, data, _ = await stream.next()
        assert (kind, data["seq"], data["state"]) == ("snapshot", 2, {"score": {"home": 2}})


async def test_readers_are_told_goodbye_before_the_server_stops(server, session, writer):
    await writer.score("a", 1)
    async with raw_stream(session, f"{server.address}/a/stream") as stream:
        await stream.next()
        stopping = asyncio.create_task(server.restart())
        assert (await stream.next())[:2] == ("bye", {"reason": "restart", "retry_ms": 2000})
        assert await stream.ended()
        await stopping


async def slow_reader(server, path):
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(0)
    await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", server.port))
    reader, sender = await asyncio.open_connection(sock=connection, limit=4096)
    sender.write(f"GET /api/v1/tallies{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    await until(lambda: server.hub.counts.delivered >= 0 and server.hub.readers)
    return reader, sender


async def clog(server, writer):
    """Write until the slow reader's connection takes no more."""
    [reader] = server.hub.readers
    number = 0
    while reader.sending_since is None:
        number += 1
        await writer.write("a", {"status": "live", "filling": f"{number}" + "x" * 20_000})
        await asyncio.wait([asyncio.get_running_loop().create_future()], timeout=0.005)
    return reader


async def test_a_slow_reader_gets_one_snapshot_instead_of_what_it_missed(server, writer):
    await writer.score("a", 1)
    reader, sender = await slow_reader(server, "/a/stream")
    await clog(server, writer)
    for number in range(33):
        await writer.write("a", {"status": "live", "n": number})
    await asyncio.wait([asyncio.create_task(server.hub.catch_up())])
    parser = EventParser()
    told: list[Any] = []
    async with asyncio.timeout(PATIENCE):
        while not told or told[-1]["seq"] < writer.seqs["a"]:
            found = parser.feed((await reader.read(65536)).replace(b"\r\n", b""))
            told += [msgspec.json.decode(each.data[: each.data.rindex("}") + 1]) for each in found]
    assert told[-1]["conflated"] is True
    assert told[-1]["state"] == writer.states["a"]
    assert server.hub.counts.conflated == 1
    sender.close()


async def test_a_reader_that_accepts_nothing_for_30_seconds_is_cut_off(server, writer, clock):
    await writer.score("a", 1)
    _, sender = await slow_reader(server, "/a/stream")
    reader = await clog(server, writer)
    clock.advance(timedelta(seconds=29))
    reader.tick(clock.now())
    assert server.hub.counts.cut == 0
    clock.advance(timedelta(seconds=1))
    reader.tick(clock.now())
    await until(lambda: not server.hub.readers)
    assert (server.hub.counts.cut, server.access.limits.open) == (1, 0)
    sender.close()


@pytest.mark.shows("M5")
@pytest.mark.inventory(66)
async def test_one_thing_is_answered_whole_with_how_fresh_it_is(database, session, writer, clock):
    checks = Checks()
    checks.states["a"] = CheckState(NOON + timedelta(seconds=9), "scraper-1")
    await writer.score("a", 1)
    await writer.score("b", 1)
    async with stream_server(database, clock, writer.log, checks) as server:
        clock.set(NOON + timedelta(seconds=12))
        async with session.get(f"{server.address}/a") as response:
            body = await response.json()
        headers = response.headers
        about = body.pop("_metadata")
        assert body == writer.states["a"]
        assert headers["ETag"] == f'"{server.hub.epoch}.1"'
        assert (headers["X-Data-Freshness"], headers["X-Data-Age-Seconds"]) == ("2026-03-02T12:00:09Z", "3")
        assert headers["X-Stream-Cursor"] == f"{server.hub.epoch}.1"
        assert (about["data_age_seconds"], about["scraper_id"], about["source"]) == (3.0, "scraper-1", "site")
        assert (about["seq"], about["checksum"], about["freshness"]) == (1, checksum(canonical(body)), "fresh")
        assert about["scraped_at"] == "2026-03-02T12:00:09Z"
        async with session.get(f"{server.address}/a", headers={"If-None-Match": headers["ETag"]}) as response:
            assert (response.status, await response.read()) == (304, b"")
            assert response.headers["X-Data-Age-Seconds"] == "3"
        clock.advance(timedelta(seconds=13))
        async with session.get(f"{server.address}/a") as response:
            assert (await response.json())["_metadata"]["freshness"] == "stale"  # fresh for 15 s while live
        async with session.head(f"{server.address}/a") as response:
            assert response.headers["X-Data-Age-Seconds"] == "16"


async def test_a_list_leads_to_a_stream_without_a_gap(server, session, writer):
    for key in "abc":
        await writer.score(key, 1)
    async with session.get(f"{server.address}?status=live&limit=2") as response:
        page = await response.json()
    assert [each["id"] for each in page["items"]] == ["a", "b"]
    assert (page["items"][0]["score"], page["next"]) == ({"home": 1}, "b")
    assert {"seq", "checked_at", "data_age_seconds", "freshness", "status"} <= page["items"][0].keys()
    await writer.score("a", 2)
    async with raw_stream(session, f"{server.address}/a/stream?after={page['stream_cursor']}") as stream:
        assert (await stream.next())[1]["seq"] == 2
    async with session.get(f"{server.address}?cursor=b") as response:
        page = await response.json()
    assert ([each["id"] for each in page["items"]], page["next"]) == (["c"], None)


async def test_every_change_is_there_for_good_in_order(server, session, writer):
    for points in range(1, 6):
        await writer.score("a", points)
    async with session.get(f"{server.address}/a/changes?after=1&limit=3") as response:
        page = await response.json()
    assert ([each["seq"] for each in page["items"]], page["next"]) == ([2, 3, 4], 4)
    assert page["items"][0]["patch"] == {"score": {"home": 2}, "notes": {"1.2": 2}}
    async with session.get(f"{server.address}/a/changes?after=4") as response:
        page = await response.json()
    assert ([each["seq"] for each in page["items"]], page["next"]) == ([5], None)


@pytest.mark.inventory(105)
async def test_that_there_is_no_such_thing_is_remembered_for_a_minute(server, session, writer, clock, database):
    async def status():
        async with session.get(f"{server.address}/a") as response:
            return response.status

    assert await status() == 404
    await writer.score("a", 1)
    assert await SnapshotReads(database).latest(VERTICAL, "a") is not None
    clock.advance(timedelta(seconds=59.9))
    assert await status() == 404
    clock.advance(timedelta(seconds=0.1))
    assert await status() == 200
