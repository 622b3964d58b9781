"""A gate that cannot ask the database holds a job back; it does not cost the job an attempt, let alone its life."""

from dataclasses import replace
from datetime import timedelta

import pytest

from rig.clock import seeded_dice
from rig.works import Works, the_works
from tidemill.engine.announcer import CommitAnnouncer
from tidemill.engine.drain import Drain
from tidemill.pipeline.ports import StoreLost
from tidemill.store.ledger.breakers_sql import NEW_BREAKER
from tidemill.store.schema import breakers, jobs


class LostBreakers:
    """Breakers whose database is away."""

    async def admit(self, *_):
        msg = "the database does not answer"
        raise StoreLost(msg)


@pytest.mark.shows("N4")
async def test_a_job_whose_breaker_cannot_be_asked_waits(migrated_sqlite_url, site):
    async with the_works(migrated_sqlite_url) as works:
        key = await works.source(site, paths=["/agenda/0"])
        await works.enqueue(key)
        await open_breaker(works, key)
        await works.system.worker.sign_in()
        await drain_of(works).run("http")
        (job,) = await works.rows(jobs)
        assert (job["status"], job["attempts"], job["failure"]) == ("waiting", 0, None)
        assert site.visits("/agenda/0") == 0


async def open_breaker(works: Works, source_id: int) -> None:
    """A source that was given up until an hour ago."""
    ago = works.system.clock.now() - timedelta(hours=1)
    row = {**NEW_BREAKER, "source_id": source_id, "state": "OPEN", "cooldown_until": ago, "changed_at": ago}
    async with works.system.store.database.write() as connection:
        await connection.execute(breakers.insert(), [row])


def drain_of(works: Works) -> Drain:
    system = works.system
    tools = replace(system.tools, breakers=LostBreakers())
    announcer = CommitAnnouncer(system.announce, system.clock)
    return Drain(system.store.ledger, tools, seeded_dice(), announcer, worker_id=system.worker.key)
