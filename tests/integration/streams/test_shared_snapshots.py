"""What machines share in Redis about live things: the ten keys, and what becomes of readers when Redis or the database
is away."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import insert

from rig.clock import NOON
from rig.live_world import AwayDatabase
from rig.redis import RedisServer
from rig.streamed import VERTICAL, TallyWriter
from rig.streaming import PATIENCE, stream_server
from tidemill.core.health.contexts import ScraperContext
from tidemill.core.health.recovery import RecoveryAction, RecoveryEntry, RecoveryOutcome
from tidemill.core.live.change import Provenance
from tidemill.core.live.lifecycle import Lifecycle
from tidemill.core.live.rules import Phase
from tidemill.core.services.degradation import Service
from tidemill.core.snapshots.shared_keys import SharedNames
from tidemill.core.source import Source
from tidemill.engine.clock import RealClock
from tidemill.pipeline.health_ports import LaneReport
from tidemill.store.database.database import open_database
from tidemill.store.database.keys import Ids
from tidemill.store.live.shared_mirror import SharedMirror
from tidemill.store.schema import cached_values
from tidemill.store.snapshots.reads import SnapshotReads
from tidemill.store.snapshots.redis_connection import RedisConnection, open_redis
from tidemill.store.snapshots.redis_snapshots import RedisSnapshots
from tidemill.store.snapshots.shared_reads import SharedReads
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.upkeep.live_health import LiveHealthRepository

pytestmark = [pytest.mark.shows("M3"), pytest.mark.inventory(104)]
NAMES = {VERTICAL: SharedNames("tally", "tallies")}
SECOND = timedelta(seconds=1)


class Reported:
    """Hears how Redis goes."""

    def __init__(self) -> None:
        self.said: list[str] = []

    async def report(self, service: Service, trouble: str) -> None:
        assert service is Service.REDIS
        self.said.append(trouble)


@pytest.fixture
def reported() -> Reported:
    return Reported()


@pytest.fixture
async def connection(redis: RedisServer, reported: Reported, clock) -> AsyncIterator[RedisConnection]:
    opened = open_redis(redis.url, clock, reported.report)
    assert opened is not None
    yield opened
    await opened.close()


@pytest.fixture
def shared(connection: RedisConnection) -> RedisSnapshots:
    return RedisSnapshots(connection, NAMES)


@pytest.fixture
async def database(migrated_sqlite_url) -> AsyncIterator[AwayDatabase]:
    opened = AwayDatabase(open_database(migrated_sqlite_url).engine)
    yield opened
    await opened.close()


@pytest.fixture
def mirror(connection, shared, database, writer) -> SharedMirror:
    reads, health = SnapshotReads(database), LiveHealthRepository(database, Ids(database))
    made = SharedMirror(connection, shared, reads, health, database, NAMES, lambda: {"grade": "healthy"})
    writer.log.on_publish(made.changed)
    return made


def keys(redis: RedisServer) -> set[str]:
    reply = redis.say("KEYS", "tidemill:*").decode().split("\r\n")
    return {line.removeprefix("tidemill:") for line in reply if line.startswith("tidemill:")}


def ttl(redis: RedisServer, key: str) -> int:
    return int(redis.say("TTL", f"tidemill:{key}")[1:].strip())


def value(redis: RedisServer, *words: str) -> Any:
    return msgspec.json.decode(redis.say(*words).split(b"\r\n", 1)[1].rsplit(b"\r\n", 1)[0])


def context(key: str, **other: Any) -> ScraperContext:
    return msgspec.structs.replace(
        ScraperContext(
            scraper_id=f"s-{key}",
            vertical=VERTICAL,
            thing_key=key,
            url=f"https://site.example/{key}",
            source="site",
            start_time=NOON,
            last_update_time=NOON,
            phase=Phase.IN_PLAY,
            total_updates=7,
            total_errors=2,
        ),
        **other,
    )


async def test_each_of_the_ten_keys_is_there_with_its_life(redis, mirror, writer: TallyWriter, database):
    for points in range(1, 9):
        await writer.score("a", points, provenance={"score": Provenance("site", 0.9, NOON)})
    await writer.write("b", {"status": "over", "title": "b"})
    health = LiveHealthRepository(database, Ids(database))
    for number in range(102):
        await health.keep_recovery(
            RecoveryEntry(
                entry_id=f"e{number:03}",
                timestamp=NOON + number * SECOND,
                action_type=RecoveryAction.BROWSER_RECYCLE,
                trigger_condition="age",
                outcome=RecoveryOutcome.SUCCESS,
                duration_seconds=1.0,
                metadata={},
            )
        )
    every = [field for field in Source.__struct_fields__ if field != "id"]
    source = Source(
        id=0, name="site", vertical=VERTICAL, base_url="https://site.example", adapter_id="x.y", precedence=70
    )
    await SourceRepository(database, Ids(database)).upsert([(source, every)], NOON)
    async with database.write() as connection:
        roster = {"name": "roster:north", "value": "one\ntwo", "expires_at": NOON + timedelta(hours=12)}
        await connection.execute(insert(cached_values), roster)
    await mirror.copy_changed()
    paused = context("b", lifecycle=Lifecycle.PAUSED, paused_until=NOON + 300 * SECOND, error_count=5)
    await mirror.publish(LaneReport(contexts=[context("a"), paused]), NOON + SECOND)
    await mirror._shared.note_missing(VERTICAL, "nobody")

    assert keys(redis) == {
        "tally_latest:a", "tally_latest:b", "tally_history:a", "tally_history:b", "tally_monitor:a", "tally_monitor:b",
        "roster:north", "freshness_index", "paused_tallies", "health_summary", "audit_log", "domain_config:site",
        "negative_cache:tally:nobody",
    }  # fmt: skip
    lives = {"tally_latest:a": 15, "tally_latest:b": 86_400, "tally_history:a": 3_600, "roster:north": 43_200}
    lives |= {"health_summary": 5, "negative_cache:tally:nobody": 60}
    for key, seconds in lives.items():
        assert seconds - 3 <= ttl(redis, key) <= seconds, key
    for key in ("tally_monitor:a", "freshness_index", "paused_tallies", "audit_log", "domain_config:site"):
        assert ttl(redis, key) == -1, key

    latest = value(redis, "GET", "tidemill:tally_latest:a")
    assert latest["normalized_payload"] == writer.states["a"]
    assert (latest["id"], latest["domain_id"], latest["sequence_number"]) == ("a", "site", 8)
    assert latest["provenance"]["score"]["confidence"] == 0.9
    assert redis.say("LLEN", "tidemill:tally_history:a") == b":5\r\n"
    assert value(redis, "LINDEX", "tidemill:tally_history:a", "1")["normalized_payload"]["score"] == {"home": 7}
    monitor = value(redis, "GET", "tidemill:tally_monitor:b")
    assert (monitor["paused"], monitor["consecutive_failure_count"], monitor["priority_state"]) == (True, 5, "LIVE")
    assert (monitor["total_scrapes"], monitor["total_failures"]) == (9, 2)
    assert redis.say("SMEMBERS", "tidemill:paused_tallies").endswith(b"$1\r\nb\r\n")
    assert redis.say("ZSCORE", "tidemill:freshness_index", "tally:a").split(b"\r\n")[1] == b"%d" % NOON.timestamp()
    assert redis.say("LLEN", "tidemill:audit_log") == b":100\r\n"
    assert value(redis, "LINDEX", "tidemill:audit_log", "0")["entry_id"] == "e101"
    assert value(redis, "GET", "tidemill:domain_config:site")["precedence_weight"] == 70
    assert value(redis, "GET", "tidemill:roster:north") == ["one", "two"]
    assert value(redis, "GET", "tidemill:health_summary") == {"grade": "healthy"}


async def test_what_was_paused_and_is_watched_no_more_leaves_the_index(redis, mirror, writer):
    await writer.score("a", 1)
    await mirror.publish(LaneReport(contexts=[context("a", lifecycle=Lifecycle.PAUSED)]), NOON)
    await mirror.publish(LaneReport(contexts=[context("a")]), NOON)
    assert redis.say("SCARD", "tidemill:paused_tallies") == b":0\r\n"
    await mirror.publish(LaneReport(), NOON)
    assert redis.say("ZCARD", "tidemill:freshness_index") == b":0\r\n"


async def test_after_a_flush_everything_that_is_watched_is_there_again(redis, mirror, writer):
    await writer.score("a", 1)
    report = LaneReport(contexts=[context("a")])
    await mirror.copy_changed()
    await mirror.publish(report, NOON)
    redis.say("FLUSHALL")
    assert keys(redis) == set()
    await mirror.publish(report, NOON + SECOND)
    await mirror.copy_changed()
    assert {"tally_latest:a", "tally_history:a", "tally_monitor:a", "freshness_index"} <= keys(redis)


async def test_what_changes_while_redis_is_away_is_copied_when_it_is_back(redis, mirror, writer, reported, clock):
    await writer.score("a", 1)
    redis.kill()
    await mirror.copy_changed()
    assert reported.said[-1].startswith("Redis does not answer")
    await writer.score("a", 2)
    await mirror.publish(LaneReport(contexts=[context("a")]), NOON)  # is left alone meanwhile
    redis.start()
    clock.advance(20 * SECOND)
    await mirror.copy_changed()
    assert reported.said[-1] == ""
    assert value(redis, "GET", "tidemill:tally_latest:a")["sequence_number"] == 2


async def test_a_reader_is_never_given_an_older_state_than_the_database_has(redis, mirror, shared, writer, database):
    reads = SharedReads(SnapshotReads(database), shared)
    await writer.score("a", 1)
    await mirror.copy_changed()
    await writer.score("a", 2)  # and its copy is not made yet
    [found] = await reads.latest_of(VERTICAL, ["a"])
    assert found.state["score"] == {"home": 2}
    assert value(redis, "GET", "tidemill:tally_latest:a")["sequence_number"] == 2  # whoever reads puts it there too
    redis.say("SET", "tidemill:tally_latest:a", '{"id": "a", "sequence_number": 2}')  # somebody else's work
    assert await reads.latest_of(VERTICAL, ["a"]) == [found]


async def test_while_redis_is_away_the_database_serves_and_the_other_way_round(redis, mirror, shared, writer, database):
    reads = SharedReads(SnapshotReads(database), shared)
    await writer.score("a", 1)
    await mirror.copy_changed()
    database.is_away = True
    [found] = await reads.latest_of(VERTICAL, ["a"])
    assert found.encoded == msgspec.json.encode(writer.states["a"], order="sorted")
    database.is_away = False
    redis.kill()
    assert await reads.latest_of(VERTICAL, ["a"]) == [found]


async def test_over_http_a_flush_or_a_dead_redis_is_not_noticed_and_a_dead_database_is_said(
    redis, shared, mirror, writer, database, session
):
    clock = RealClock()
    await writer.score("a", 1, clock.now())
    await mirror.copy_changed()
    async with stream_server(database, clock, writer.log, shared=shared) as server:
        for trouble in (lambda: None, lambda: redis.say("FLUSHALL"), redis.kill):
            trouble()
            async with session.get(f"{server.address}/a") as response:
                assert (response.status, (await response.json())["score"]) == (200, {"home": 1})
        redis.start()
        async with session.get(f"{server.address}/nobody") as response:
            assert response.status == 404
        await writer.score("a", 2, clock.now())
        async with session.get(f"{server.address}/a") as response:
            assert (await response.json())["score"] == {"home": 2}
        database.is_away = True
        async with asyncio.timeout(PATIENCE):
            async with session.get(f"{server.address}/a") as response:
                answer = await response.json()
        assert (response.status, answer["score"], answer["_metadata"]["seq"]) == (200, {"home": 2}, 2)


async def test_one_machine_tells_the_others_what_does_not_exist(redis, shared, writer, database, clock, session):
    async with (
        stream_server(database, clock, writer.log, shared=shared) as server,
        session.get(f"{server.address}/x") as response,
    ):
        assert response.status == 404
    assert 57 <= ttl(redis, "negative_cache:tally:x") <= 60
    async with stream_server(database, clock, writer.log, shared=shared) as other:
        await writer.score("x", 1)
        async with session.get(f"{other.address}/x") as response:
            assert response.status == 404  # known from the first one
