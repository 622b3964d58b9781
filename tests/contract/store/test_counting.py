"""Hosts with a pace of their own: counted, claimed and paced apart from their registrable domain."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from rig.mill import Mill
from tidemill.core.pacing import Pace
from tidemill.core.source import Source
from tidemill.operations.importing import Importer
from tidemill.operations.plans import KnownAdapters
from tidemill.store.ledger.host_assignment import HostAssignment
from tidemill.store.schema import hosts, jobs, targets
from tidemill.store.schema.rows import pace_of
from tidemill.store.sources.hosts import Paces
from tidemill.store.sources.sources import SourceRepository
from tidemill.store.sources.targets import TargetRepository

pytestmark = pytest.mark.shows("F6")

KNOWN = KnownAdapters({"events": {"events.generic"}})
QUICK = Pace(timedelta(milliseconds=500), 1, 2)
OWN = {"api.jazz.example": QUICK}
FILE = """\
- {name: jazz, vertical: events, base_url: https://www.jazz.example, adapter: events.generic,
   pace: {interval_seconds: 10}, targets: [/agenda, https://api.jazz.example/list, https://api.jazz.example:8443/list]}
"""
PER_HOST = FILE.replace("pace: ", "settings: {pace_per: host}, pace: ")


async def bring_in(mill: Mill, text: str, own: dict[str, Pace]) -> Source:
    paces = Paces(own=own)
    repository = SourceRepository(mill.database, mill.ids, paces)
    importer = Importer(repository, TargetRepository(mill.database, mill.ids, paces), mill.clock, KNOWN)
    assert not (await importer.sources_file(text.encode(), "ans")).problems
    source = await repository.find("jazz")
    assert source is not None
    return source


async def counted(mill: Mill) -> dict[str, str]:
    """The host of each target, by its address."""
    async with mill.database.read() as connection:
        rows = await connection.execute(select(targets.c.url, targets.c.host))
        return {row.url.removeprefix("https://"): row.host for row in rows}


async def paces(mill: Mill) -> dict[str, Pace]:
    async with mill.database.read() as connection:
        return {row["host"]: pace_of(row) for row in (await connection.execute(select(hosts))).mappings()}


APART = {
    "www.jazz.example/agenda": "jazz.example",
    "api.jazz.example/list": "api.jazz.example",
    "api.jazz.example:8443/list": "api.jazz.example",
}
TOGETHER = dict.fromkeys(APART, "jazz.example")


async def test_a_host_of_its_own_is_counted_by_itself_at_the_pace_that_the_settings_give_it(mill: Mill) -> None:
    await bring_in(mill, FILE, OWN)
    assert await counted(mill) == APART
    assert await paces(mill) == {"jazz.example": Pace(timedelta(seconds=10)), "api.jazz.example": QUICK}


async def test_its_jobs_do_not_wait_for_the_rest_of_the_domain(mill: Mill) -> None:
    await mill.enqueue((await bring_in(mill, FILE, OWN)).id)
    worker = await mill.worker()
    first = await mill.claim(worker)
    assert sorted(each.job.host for each in first) == ["api.jazz.example", "jazz.example"]
    assert {each.job.host: each.pace for each in first}["api.jazz.example"] == QUICK
    mill.clock.advance(timedelta(seconds=1))
    assert [each.job.host for each in await mill.claim(worker)] == ["api.jazz.example"]


async def test_a_pace_that_is_given_later_takes_targets_and_open_jobs_along(mill: Mill) -> None:
    await mill.enqueue((await bring_in(mill, FILE, {})).id)
    assert await counted(mill) == TOGETHER
    assert await HostAssignment(mill.database, Paces(own=OWN)).settle(mill.clock.now()) == 2
    assert await counted(mill) == APART
    assert sorted(row["host"] for row in await mill.rows(jobs)) == ["api.jazz.example"] * 2 + ["jazz.example"]
    assert (await paces(mill))["api.jazz.example"] == QUICK
    assert len(await mill.claim(await mill.worker())) == 2


async def test_a_pace_that_is_taken_back_brings_them_home(mill: Mill) -> None:
    await mill.enqueue((await bring_in(mill, FILE, OWN)).id)
    assert await HostAssignment(mill.database, Paces()).settle(mill.clock.now()) == 2
    assert await counted(mill) == TOGETHER
    assert len(await mill.claim(await mill.worker())) == 1


async def test_another_pace_for_the_same_host_holds_from_the_next_start(mill: Mill) -> None:
    await bring_in(mill, FILE, OWN)
    slow = Pace(timedelta(seconds=60))
    assert await HostAssignment(mill.database, Paces(own={"api.jazz.example": slow})).settle(mill.clock.now()) == 0
    assert (await paces(mill))["api.jazz.example"] == slow


async def test_a_source_that_counts_by_host_stays_as_it_is(mill: Mill) -> None:
    await bring_in(mill, PER_HOST, {})
    expected = {**APART, "www.jazz.example/agenda": "www.jazz.example"}
    assert await counted(mill) == expected
    assert await HostAssignment(mill.database, Paces()).settle(mill.clock.now()) == 0
    assert await counted(mill) == expected
    assert set((await paces(mill)).values()) == {Pace(timedelta(seconds=10))}


async def test_a_target_that_is_brought_in_again_stays_where_it_is_counted(mill: Mill) -> None:
    await bring_in(mill, FILE, OWN)
    await bring_in(mill, FILE, OWN)
    assert await counted(mill) == APART
