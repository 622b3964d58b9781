"""Stopping in good order: the first signal finishes what is in hand, the second hands it back, both at once."""

import signal

import pytest

from rig.works import stages_done
from tidemill.store.schema import jobs, runs, workers
from tidemill.verticals.events.store.tables import events

pytestmark = pytest.mark.shows("R6")


@pytest.fixture
def orders(works, tmp_path):
    """What to say to the command line for a worker that carries two jobs at a time."""
    file = tmp_path / "settings.toml"
    file.write_text('jobs_in_hand = 2\nallow_networks = ["127.0.0.0/8"]\n')
    return ["--settings", str(file), "--database", works.url, "up", "--no-web"]


async def status_by_path(works):
    return {path: row["status"] for path, row in zip(await works.stages(), await works.rows(jobs), strict=True)}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_first_signal_finishes_what_is_in_hand_and_takes_nothing_new(nursery, site, works, orders, number):
    await works.source(site)
    held = [site.hold("/agenda/0"), site.hold("/agenda/1")]
    async with nursery.child("command", arguments=orders) as worker:
        for gate in held:
            await gate.arrived.wait()
        worker.signal(number)
        await worker.until("print", lambda said: "Finishing" in said["line"])
        for gate in held:
            gate.opened.set()
        assert await worker.ended() == 0
    status = await status_by_path(works)
    assert [path for path, each in status.items() if each == "done"] == ["/agenda/0", "/agenda/1"]
    assert [path for path, each in status.items() if each == "ready"] == site.paths[2:]
    (row,) = await works.rows(workers)
    assert row["ended_at"] is not None


async def test_the_second_signal_stops_at_once_and_everything_resumes_later(nursery, site, works, orders):
    await works.source(site)
    held = [site.hold("/agenda/0"), site.hold("/agenda/1")]
    async with nursery.child("command", arguments=orders) as worker:
        for gate in held:
            await gate.arrived.wait()
        worker.signal(signal.SIGINT)
        await worker.until("print", lambda said: "Finishing" in said["line"])
        worker.signal(signal.SIGINT)
        assert await worker.ended() == 0
    assert set((await status_by_path(works)).values()) == {"ready"}
    async with nursery.child("drain", settings={"database": works.url}) as heir:
        assert await heir.ended() == 0
    assert set((await status_by_path(works)).values()) == {"done"}
    assert {row["attempts"] for row in await works.rows(jobs)} == {0}
    assert set(stages_done(heir.said).values()) == {1}
    assert await works.count(events) == 18
    assert [row["status"] for row in await works.rows(runs)] == ["SUCCESS"]
