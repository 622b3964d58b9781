"""One slow host beside fifty fast ones: the fast ones hardly notice, in virtual time."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest

from rig.clock import seeded_dice
from rig.site import agenda
from tidemill.bootstrap import system as bootstrap
from tidemill.bootstrap.listeners import Listeners
from tidemill.core.run import Trigger
from tidemill.lab.virtual import run_virtual
from tidemill.pipeline.happenings import StageDone
from tidemill.pipeline.ports import WireResponse
from tidemill.settings import load_settings
from tidemill.store.database.database import Database
from tidemill.store.database.migrate import upgrade
from tidemill.store.database.sqlite import fleeting_engine

pytestmark = pytest.mark.shows("O3")

EPOCH = datetime(2026, 11, 2, 6, 0, tzinfo=UTC)
FAST, SLOW = timedelta(milliseconds=200), timedelta(seconds=25)
PACE = timedelta(seconds=2)
PAGES = 12
HOSTS = 50
NOT_FOUND = WireResponse(status_code=404, headers={})


class Unequal:
    """A transport to hosts that are fast, but for those whose name begins with slow."""

    def __init__(self, clock):
        self._clock = clock

    async def send(self, request, before_send):
        parts = urlsplit(request.url)
        await before_send()
        takes = SLOW if parts.hostname.startswith("slow") else FAST
        await self._clock.sleep_until(self._clock.now() + takes)
        if parts.path == "/robots.txt":
            return NOT_FOUND
        page = agenda([f"Concert {parts.hostname}{parts.path}"], EPOCH + timedelta(days=30))
        return WireResponse(status_code=200, headers={"content-type": "text/html"}, body=page.encode())

    async def close(self):
        """Nothing to let go of."""


def source(host):
    return {
        "name": host, "vertical": "events", "base_url": f"http://{host}.example", "adapter": "events.generic",
        "pace": {"interval_seconds": PACE.total_seconds(), "burst": 1, "parallel": 1},
        "targets": [{"url": f"http://{host}.example/{number}", "schedule": "0 6 * * *"} for number in range(PAGES)],
    }  # fmt: skip


async def longest_of_the_fast(file, slow, in_hand, clock):
    """When the last page of a fast host was kept, counted from the start."""
    kept = {}

    def listen(happening):
        if isinstance(happening, StageDone) and happening.stage == "persist":
            kept[happening.source_id] = happening.at

    system = bootstrap.build(
        load_settings(database=f"sqlite:///{file}", jobs_in_hand=in_hand),
        announce=Listeners(listen),
        clock=clock,
        dice=seeded_dice(),
        database=Database(fleeting_engine(file)),
        transport=Unequal(clock),
    )
    await upgrade(system.store.database)
    fast = [f"fast{number}" for number in range(HOSTS)]
    await system.actions.importer.source_entries([source(host) for host in (*slow, *fast)], "test")
    sources = {each.name: each.id for each in await system.store.sources.every()}
    for host in (*slow, *fast):
        await system.dispatcher.enqueue(await system.store.agenda.of_source(sources[host]), Trigger.MANUAL)
    await system.worker.sign_in()
    begin = clock.now()
    await system.make_drain().run("http")
    await system.close()
    assert len(kept) == len(sources)
    return max(kept[sources[host]] for host in fast) - begin


@pytest.mark.parametrize(("slow", "in_hand"), [(1, 256), (10, 24)])
def test_slow_hosts_hold_up_no_fast_ones(tmp_path, slow, in_hand):
    slow_ones = [f"slow{number}" for number in range(slow)]
    took = run_virtual(lambda clock: longest_of_the_fast(tmp_path / "t.db", slow_ones, in_hand, clock), EPOCH)
    requests = PAGES + 1  # robots.txt counts
    ideal = PACE * (requests - 1) + FAST
    assert took <= 1.3 * ideal
