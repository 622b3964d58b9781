"""Statements that go to the driver by a short way must say the same as by the long one, on both databases."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import bindparam, func, select

from tidemill.store.bulk import read_all, write_many
from tidemill.store.schema import hosts

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
INSERT = hosts.insert()
NAMED = select(hosts).where(hosts.c.host.in_(bindparam("b_keys", expanding=True))).order_by(hosts.c.host)
BUSY_BY = (
    select(hosts.c.host, func.coalesce(hosts.c.served_at, hosts.c.opens_at).label("when"), hosts.c.has_work)
    .where(hosts.c.opens_at <= bindparam("b_now"), hosts.c.host.in_(bindparam("b_keys", expanding=True)))
    .where(hosts.c.interval_ms.in_(bindparam("b_paces", expanding=True)))
    .order_by(hosts.c.host)
    .limit(bindparam("b_limit"))
)


@pytest.fixture
async def connection(database):
    rows = [
        {
            "host": f"{name}.test",
            "interval_ms": pace,
            "burst": 1,
            "parallel": 2,
            "opens_at": NOON,
            "has_work": pace > 1000,
        }
        for name, pace in (("a", 1000), ("b", 2000), ("c", 3000))
    ]
    async with database.write() as connection:
        await write_many(connection, INSERT, rows)
    async with database.write() as connection:
        yield connection


async def by_the_long_way(connection, statement, parameters):
    return [dict(row) for row in (await connection.execute(statement, parameters)).mappings()]


@pytest.mark.parametrize("keys", [[], ["b.test"], ["a.test", "c.test", "nobody.test"]])
async def test_a_list_of_any_length_finds_what_it_names(connection, keys):
    found = await read_all(connection, NAMED, {"b_keys": keys})
    assert found == await by_the_long_way(connection, NAMED, {"b_keys": keys})
    assert [row["host"] for row in found] == [key for key in keys if key != "nobody.test"]


async def test_moments_and_truths_come_back_as_their_columns_have_them(connection):
    asked = {"b_now": NOON, "b_keys": ["c.test", "a.test", "b.test"], "b_paces": [2000, 3000], "b_limit": 5}
    found = await read_all(connection, BUSY_BY, asked)
    assert found == await by_the_long_way(connection, BUSY_BY, asked)
    assert found == [
        {"host": "b.test", "when": NOON, "has_work": True},
        {"host": "c.test", "when": NOON, "has_work": True},
    ]
