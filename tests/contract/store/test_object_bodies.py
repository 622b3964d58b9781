"""Bodies in an S3-compatible store: kept, packed, pruned and tidied as those in the database are."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer
from sqlalchemy import delete, select, update

from rig.clock import NOON
from rig.rows import a_page, changing_pages, content_of, keep_pages
from rig.site import a_site
from rig.works import the_works
from tidemill.engine.clock import wall_time
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.ports import StoreLost
from tidemill.services.s3 import S3Store
from tidemill.settings import load_settings
from tidemill.store.database.database import Database, open_database
from tidemill.store.pages.compaction import compact
from tidemill.store.pages.object_bodies import SHARDS_AT_ONCE, ObjectBodies
from tidemill.store.schema import jobs, page_bodies, pages
from tidemill.store.upkeep.retention import prune

DAY = timedelta(days=1)
BUCKET = "pages"
KEY = "a key"  # pragma: allowlist secret


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A program that speaks the protocol."""
    moto = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    moto.start()
    _, port = moto.get_host_and_port()
    yield f"http://127.0.0.1:{port}"
    moto.stop()


@pytest.fixture
def bucket(server: str) -> Any:
    resource = boto3.resource(
        "s3", endpoint_url=server, region_name="us-east-1", aws_access_key_id=KEY, aws_secret_access_key=KEY
    )
    made = resource.create_bucket(Bucket=BUCKET)
    made.objects.all().delete()
    yield made
    resource.meta.client.close()


def open_store(url: str, bucket: str = BUCKET) -> S3Store:
    return S3Store(bucket, "raw", url=url, region="us-east-1", key=KEY, secret=KEY)


@pytest.fixture
async def database(migrated_postgres_url: str) -> AsyncIterator[Database]:
    opened = open_database(migrated_postgres_url)
    yield opened
    await opened.close()


@pytest.fixture
async def bodies(database: Database, server: str, bucket: Any) -> AsyncIterator[ObjectBodies]:  # noqa: ARG001 - made
    kept = ObjectBodies(database, open_store(server))
    yield kept
    await kept.close()


def names(bucket: Any) -> set[str]:
    return {each.key for each in bucket.objects.all()}


async def keep_days(database: Database, bodies: ObjectBodies, contents: list[bytes]) -> None:
    rows = [a_page(1 + day, content, NOON + day * DAY) for day, content in enumerate(contents)]
    await keep_pages(database, bodies, contents, rows)


async def tidy_all(bodies: ObjectBodies) -> int:
    """A day's turns over the whole store, long after everything was put there."""
    later = wall_time() + DAY
    return sum([await bodies.tidy(later + turn * timedelta(hours=1)) for turn in range(256 // SHARDS_AT_ONCE)])


async def test_bodies_are_in_the_store_and_their_rows_hold_none(
    database: Database, bodies: ObjectBodies, bucket: Any
) -> None:
    contents = changing_pages(3)
    await keep_days(database, bodies, contents)
    assert len(names(bucket)) == 3
    assert all(name.startswith("raw/") for name in names(bucket))
    async with database.read() as connection:
        assert set((await connection.execute(select(page_bodies.c.body))).scalars()) == {None}
    for content in contents:
        assert await content_of(database, bodies, content) == content


async def test_compaction_packs_what_is_in_the_store_and_tidying_removes_the_former_objects(
    database: Database, bodies: ObjectBodies, bucket: Any
) -> None:
    contents = changing_pages(10)
    await keep_days(database, bodies, contents)
    before = sum(each.size for each in bucket.objects.all())
    assert (await compact(database, bodies, NOON + 100 * DAY)).pages == 10
    assert await tidy_all(bodies) == 10
    assert len(names(bucket)) == 10
    assert sum(each.size for each in bucket.objects.all()) < before / 2
    for content in contents:
        assert await content_of(database, bodies, content) == content


async def test_retention_takes_pages_away_and_tidying_their_objects(
    database: Database, bodies: ObjectBodies, bucket: Any
) -> None:
    await keep_days(database, bodies, changing_pages(4))
    async with database.write() as connection:
        await connection.execute(delete(pages).where(pages.c.id <= 3))
    await prune(database, bodies, {}, NOON + 100 * DAY)
    await tidy_all(bodies)
    assert len(names(bucket)) == 1


async def test_an_object_whose_row_is_on_its_way_is_left_alone(bodies: ObjectBodies, server: str, bucket: Any) -> None:
    store, now = open_store(server), wall_time()
    first = int(now.timestamp() // 3_600) * SHARDS_AT_ONCE % 256  # what is looked through in this hour
    await store.put([(f"{first:02x}{'00' * 15}-1", b"just now")])
    assert await bodies.tidy(now) == 0
    assert len(names(bucket)) == 1
    assert await tidy_all(bodies) == 1
    assert not names(bucket)
    await store.close()


async def test_a_store_that_is_away_or_refuses_is_trouble_that_passes(server: str) -> None:
    away, refusing = open_store("http://127.0.0.1:9"), open_store(server, "no-such-bucket")
    with pytest.raises(StoreLost, match="does not answer"):
        await away.put([("name", b"data")])
    with pytest.raises(StoreLost, match="refuses"):
        await refusing.put([("name", b"data")])
    for store in (away, refusing):
        await store.close()


async def test_a_damaged_object_is_a_lost_page_and_not_a_wrong_one(
    database: Database, bodies: ObjectBodies, bucket: Any
) -> None:
    contents = changing_pages(1)
    await keep_days(database, bodies, contents)
    async with database.write() as connection:
        await connection.execute(update(page_bodies).values(length=page_bodies.c.length + 1))
    assert await content_of(database, bodies, contents[0]) is None
    assert names(bucket)


@pytest.mark.shows("D2")
async def test_a_run_keeps_its_pages_in_the_store(migrated_postgres_url: str, server: str, bucket: Any) -> None:
    options = {"pages_store": f"s3://{BUCKET}/raw", "pages_store_url": server, "pages_store_key": KEY}
    async with (
        a_site(pages=6) as site,
        the_works(migrated_postgres_url, None, **options, pages_store_secret=KEY) as works,
    ):
        await works.enqueue(await works.source(site))
        await works.system.worker.sign_in()
        await works.system.make_drain().run("http")
        assert {row["status"] for row in await works.rows(jobs)} == {"done"}
        assert len(names(bucket)) == 6
        page = (await works.rows(pages))[0]
        assert (await works.system.store.ledger.materials.page(page["id"])).body


async def test_a_store_of_pages_needs_postgresql(sqlite_url: str) -> None:
    with pytest.raises(Mistake, match="needs PostgreSQL"):
        async with the_works(sqlite_url, pages_store="s3://pages"):
            pass


def test_an_address_of_a_store_is_checked() -> None:
    with pytest.raises(ValueError, match="pages_store"):
        load_settings(pages_store="http://pages")
