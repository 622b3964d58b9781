import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from tidemill.lab.eventlog import EventLog
from tidemill.lab.virtual import VirtualClock, run_virtual
from tidemill.lab.witness import Witness, WitnessedTransport
from tidemill.pipeline.ports import WireFailure, WireRequest, WireResponse
from tidemill.verticals.events.lab.sites import Site, build_sites
from tidemill.verticals.events.lab.world import EPOCH

SITES = build_sites(7, 5)


class Silent:
    """Sites that get requests and never answer."""

    async def send(self, request: WireRequest, depart: Callable[[], Awaitable[None]]) -> WireResponse | WireFailure:
        await depart()
        await asyncio.get_running_loop().create_future()
        raise AssertionError(request)

    async def close(self) -> None:
        """Nothing is open."""


async def at_once() -> None:
    """Nothing holds the request back."""


def request_to(site: Site) -> WireRequest:
    return WireRequest(url=f"{site.origin}/agenda", headers={}, timeout=timedelta(seconds=30), max_bytes=1_000)


@pytest.mark.parametrize("order", [SITES, SITES[::-1], [*SITES[2:], *SITES[:2]]])
def test_requests_cut_off_together_are_noted_in_one_order_however_their_tasks_end(order: list[Site]) -> None:
    async def main(clock: VirtualClock) -> list[str]:
        witness = Witness(EventLog())
        transport = WitnessedTransport(Silent(), clock, witness, {site.origin: site for site in SITES}, 1)
        tasks = [asyncio.create_task(transport.send(request_to(site), at_once)) for site in SITES]
        await clock.sleep_until(EPOCH + timedelta(seconds=1))
        for site in order:
            tasks[SITES.index(site)].cancel()
        await asyncio.wait(tasks)
        assert not witness.requests
        witness.note_cut_off()
        return [request.host for request in witness.requests]

    assert run_virtual(main, EPOCH) == sorted(site.host for site in SITES)
