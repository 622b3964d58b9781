import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from tidemill.lab.simulation.event_log import EventLog
from tidemill.lab.simulation.recorder import Recorder, RecordingTransport
from tidemill.lab.virtual import VirtualClock, run_virtual
from tidemill.lab.world import EPOCH
from tidemill.pipeline.ports import WireFailure, WireRequest, WireResponse

HOSTS = [f"site-{number}.test" for number in range(5)]


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


def request_to(host: str) -> WireRequest:
    return WireRequest(url=f"https://{host}/agenda", headers={}, timeout=timedelta(seconds=30), max_bytes=1_000)


@pytest.mark.parametrize("order", [HOSTS, HOSTS[::-1], [*HOSTS[2:], *HOSTS[:2]]])
def test_requests_cut_off_together_are_noted_in_one_order_however_their_tasks_end(order: list[str]) -> None:
    async def main(clock: VirtualClock) -> list[str]:
        recorder = Recorder(EventLog())
        transport = RecordingTransport(Silent(), clock, recorder, {f"https://{host}": host for host in HOSTS}, 1)
        tasks = [asyncio.create_task(transport.send(request_to(host), at_once)) for host in HOSTS]
        await clock.sleep_until(EPOCH + timedelta(seconds=1))
        for host in order:
            tasks[HOSTS.index(host)].cancel()
        await asyncio.wait(tasks)
        assert not recorder.requests
        recorder.note_cut_off()
        return [request.host for request in recorder.requests]

    assert run_virtual(main, EPOCH) == sorted(HOSTS)
