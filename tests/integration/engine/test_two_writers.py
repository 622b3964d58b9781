"""On PostgreSQL two groups are committed at once, and a source's jobs never wait for another writer's."""

import asyncio

from sqlalchemy import select

from rig.site import a_site
from rig.works import the_works
from tidemill.store.schema import jobs, sources


async def test_a_source_whose_row_somebody_holds_does_not_hold_the_other_writer_up(migrated_postgres_url):
    async with a_site(pages=3) as one, a_site(pages=3) as other, the_works(migrated_postgres_url) as works:
        held = await works.source(one, name="held")
        free = await works.source(other, name="free")
        for key in (held, free):
            await works.enqueue(key)
        await works.system.worker.sign_in()
        async with works.system.store.database.write() as somebody:
            await somebody.execute(select(sources).where(sources.c.id == held).with_for_update())
            draining = asyncio.create_task(works.system.make_drain().run("http"))
            async with asyncio.timeout(60):  # far more than it takes: one writer alone would wait for ever
                while {row["status"] for row in await works.rows(jobs, source_id=free)} != {"done"}:
                    assert not draining.done()
            assert "done" not in {row["status"] for row in await works.rows(jobs, source_id=held)}
        await draining
        assert {row["status"] for row in await works.rows(jobs)} == {"done"}
