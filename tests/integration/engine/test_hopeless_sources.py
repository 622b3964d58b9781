"""A name or a certificate that is wrong is not tried again: its host is left alone and a person is called."""

import asyncio
from datetime import timedelta

import pytest

from tidemill.store.schema import breakers, dead_letters, hosts, jobs

pytestmark = pytest.mark.shows("F4")


async def test_a_tls_error_is_not_retried_holds_the_host_and_calls_a_person(nursery, site, works):
    async def speak_plainly(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    plain = await asyncio.start_server(speak_plainly, "127.0.0.1", 0)
    origin = f"https://127.0.0.1:{plain.sockets[0].getsockname()[1]}"
    aims = [{"url": f"{origin}/{number}", "schedule": "0 6 * * *"} for number in range(3)]
    one_by_one = {"interval_seconds": 0, "burst": 1, "parallel": 1}
    await works.enqueue(await works.source(site, base_url=origin, targets=aims, pace=one_by_one))
    async with nursery.child("drain", settings={"database": works.url}) as worker:
        assert await worker.ended() == 0
        (called,) = worker.kinds("PersonNeeded")
    plain.close()
    assert called["failure"] == "tls_failed"
    states = sorted(row["status"] for row in await works.rows(jobs))
    assert states == ["dead", "ready", "ready"]  # the others wait for their host
    (host,) = await works.rows(hosts)
    assert host["opens_at"] > works.system.clock.now() + timedelta(minutes=50)
    assert await works.rows(breakers) == [], "a wrong certificate says nothing about the source's other hosts"
    assert [row["error_type"] for row in await works.rows(dead_letters)] == ["tls_failed"]
