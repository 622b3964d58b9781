"""Addresses that are not of the public web: by name, literal, redirect and odd spelling, never asked."""

import msgspec
import pytest

from rig.site import a_site, agenda
from rig.works import the_works
from tidemill.store.schema import jobs
from tidemill.verticals.events.store.tables import events

pytestmark = pytest.mark.shows("F8")

ODD_SPELLINGS = {
    "literal": "http://127.0.0.1:{port}/secret",
    "name": "http://localhost:{port}/secret",
    "own name": "http://intranet.example:{port}/secret",
    "number": "http://2130706433:{port}/secret",
    "hexadecimal": "http://0x7f.1:{port}/secret",
    "octal": "http://0177.0.0.1:{port}/secret",
    "mapped": "http://[::ffff:127.0.0.1]:{port}/secret",
    "loopback six": "http://[::1]:{port}/secret",
    "full width": "http://\uff11\uff12\uff17.\uff10.\uff10.\uff11:{port}/secret",
    "metadata": "http://169.254.169.254/latest/meta-data/",
    "private": "http://10.0.0.1:{port}/secret",
    "anything": "http://0.0.0.0:{port}/secret",
    "credentials": "http://user:password@127.0.0.1:{port}/secret",
    "file": "file:///etc/passwd",
    "nonsense": "http://[oops/secret",
}


@pytest.fixture
async def secret():
    """A server on this machine that nobody outside may reach."""
    async with a_site() as site:
        site.page("/secret", agenda(["Geheim"]))
        yield site


async def test_private_addresses_are_refused_however_they_are_spelled_and_the_rest_goes_on(migrated_url, site, secret):
    site.says(
        "/redirects", f"HTTP/1.1 302 Found\r\nLocation: {secret.origin}/secret\r\nContent-Length: 0\r\n\r\n".encode()
    )
    wanted = {spelling: url.format(port=secret.port) for spelling, url in ODD_SPELLINGS.items()}
    wanted["redirect"] = f"{site.origin}/redirects"
    async with the_works(
        migrated_url, allow_networks=[f"127.0.0.1:{site.port}"], host_addresses={"intranet.example": "127.0.0.1"}
    ) as works:
        key = await works.source(site, paths=[path for path in site.paths if path != "/redirects"])
        await put_targets(works, key, wanted.values())
        await works.enqueue(key)
        await works.system.worker.sign_in()
        await works.system.make_drain().run("http")
        ended = {row["url"]: (row["status"], row["failure"]) for row in await works.rows(jobs)}
        refusals = {spelling: ended[url] for spelling, url in wanted.items()}
        assert secret.asked == []
        assert refusals == {
            **dict.fromkeys(wanted, ("dead", "address_refused")),
            **dict.fromkeys(("file", "nonsense"), ("dead", "bad_url")),
        }
        assert await works.count(events) == 18


async def put_targets(works, source_id, urls):
    """Past the checks of an import, as if somebody had written them into the table."""
    (known, *_) = await works.system.store.agenda.of_source(source_id)
    rows = [msgspec.structs.replace(known.target, id=0, url=url, canonical_url=url) for url in urls]
    await works.system.store.targets.upsert([(row, ["url", "host"]) for row in rows], works.system.clock.now())
