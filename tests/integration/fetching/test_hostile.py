"""No hostile address, redirect or DNS answer reaches a socket; allowed addresses still do."""

import socket
from datetime import timedelta

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from tidemill.core.failure import Failure
from tidemill.core.pacing import Pace
from tidemill.engine.clock import RealClock
from tidemill.fetching.aiohttp_transport import AiohttpTransport
from tidemill.fetching.gated_fetch import Gates
from tidemill.fetching.guard import AddressGuard
from tidemill.fetching.host_pacer import HostPacer
from tidemill.fetching.http import HttpFetcher
from tidemill.fetching.robots import Robots
from tidemill.pipeline.ports import FetchRequest, FetchResult

from .conftest import Serve
from .hostile_table import HOSTILE, LOOPBACK_IN_DISGUISE, hostile_url

pytestmark = pytest.mark.shows("F8")

REFUSED = {Failure.ADDRESS_REFUSED, Failure.BAD_URL}


class CountingGuard(AddressGuard):
    """The guard, and a count of the sockets that it let be opened."""

    opened = 0

    def open_socket(self, host: str, address_info: tuple[int, int, int, str, tuple[str | int, ...]]) -> socket.socket:
        made = super().open_socket(host, address_info)
        self.opened += 1
        return made


class Dns(AbstractResolver):
    """A name server in the enemy's hands: every name has these addresses, the next ones each time it is asked."""

    def __init__(self, *turns: list[str]) -> None:
        self.turns = list(turns)

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        assert family is not None
        addresses = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
        return [
            ResolveResult(hostname=host, host=address, port=port, proto=0, flags=0,
                          family=socket.AF_INET6 if ":" in address else socket.AF_INET)
            for address in addresses
        ]  # fmt: skip

    async def close(self) -> None:
        pass


def fetcher_with(guard: AddressGuard, transport: AiohttpTransport) -> HttpFetcher:
    clock = RealClock()
    gates = Gates(
        clock=clock, guard=guard, robots=Robots(clock, "Tidemill"), pacer=HostPacer(clock), transport=transport
    )
    return HttpFetcher(gates, {"User-Agent": "Tidemill/0.1"})


async def fetch(fetcher: HttpFetcher, url: str, *, obey_robots: bool = False) -> FetchResult:
    pace = Pace(timedelta(0), parallel=9)
    request = FetchRequest(url=url, host="x", pace=pace, obey_robots=obey_robots, timeout=timedelta(seconds=5))
    try:
        return await fetcher.fetch(request)
    finally:
        await fetcher.close()


@pytest.mark.parametrize("obey_robots", [True, False])
@pytest.mark.parametrize("url", HOSTILE)
async def test_no_hostile_address_reaches_a_socket(serve: Serve, url: str, *, obey_robots: bool) -> None:
    victim = await serve({})
    guard = CountingGuard()
    fetcher = fetcher_with(guard, AiohttpTransport(guard, dns=Dns(LOOPBACK_IN_DISGUISE)))
    target = hostile_url(url, victim.port)
    result = await fetch(fetcher, target, obey_robots=obey_robots)
    assert result.failure in REFUSED
    assert (guard.opened, victim.connections) == (0, 0)


@pytest.mark.parametrize("url", HOSTILE)
async def test_no_hostile_redirect_reaches_a_socket(serve: Serve, url: str) -> None:
    victim = await serve({})
    location = hostile_url(url, victim.port)
    moved = f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
    lure = await serve({"/": moved}, "127.0.0.2")
    guard = CountingGuard([f"127.0.0.2:{lure.port}"])
    fetcher = fetcher_with(guard, AiohttpTransport(guard, dns=Dns(LOOPBACK_IN_DISGUISE)))
    result = await fetch(fetcher, f"{lure.origin}/")
    assert result.failure in REFUSED or lure.paths[1:]  # `http:x` and `http:///` are places on the lure itself
    assert victim.connections == 0
    assert guard.opened == 1
    assert lure.connections == 1


async def test_allowed_addresses_still_work(serve: Serve) -> None:
    served = await serve({"/": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhoi"})
    guard = CountingGuard([f"127.0.0.0/8:{served.port}"])
    result = await fetch(fetcher_with(guard, AiohttpTransport(guard)), f"http://0x7f.1:{served.port}/")
    assert (result.body, guard.opened) == (b"hoi", 1)


async def test_a_name_with_one_allowed_address_among_refused_ones_reaches_only_that(serve: Serve) -> None:
    served = await serve({"/": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhoi"}, "127.0.0.3")
    guard = CountingGuard(["127.0.0.3"])
    transport = AiohttpTransport(guard, dns=Dns(["127.0.0.1", "127.0.0.3", "10.0.0.1"]))
    assert (await fetch(fetcher_with(guard, transport), f"http://many.example:{served.port}/")).body == b"hoi"
    assert guard.opened == 1


async def test_a_name_whose_answer_changes_is_refused_when_it_does(serve: Serve) -> None:
    hang_up = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nhoi"
    allowed = await serve({"/": hang_up}, "127.0.0.2")
    guard = CountingGuard(["127.0.0.2"])
    transport = AiohttpTransport(guard, dns=Dns(["127.0.0.2"], ["127.0.0.1"]))
    fetcher = fetcher_with(guard, transport)
    url = f"http://rebinding.example:{allowed.port}/"
    request = FetchRequest(url=url, host="x", pace=Pace(timedelta(0)), obey_robots=False)
    assert (await fetcher.fetch(request)).body == b"hoi"
    assert transport._connector is not None
    transport._connector.clear_dns_cache()
    assert (await fetch(fetcher, url)).failure is Failure.ADDRESS_REFUSED
    assert guard.opened == 1


async def test_an_address_that_slips_past_the_name_check_is_stopped_at_the_socket(serve: Serve) -> None:
    victim = await serve({})
    guard = CountingGuard()
    transport = AiohttpTransport(guard)
    transport._resolver = Dns(["127.0.0.1", "::1"])  # type: ignore[assignment]
    result = await fetch(fetcher_with(guard, transport), f"http://unchecked.example:{victim.port}/")
    assert result.failure is Failure.ADDRESS_REFUSED
    assert (guard.opened, victim.connections) == (0, 0)


async def test_an_allowed_host_reaches_its_private_address_and_another_name_for_it_does_not(serve: Serve) -> None:
    served = await serve({"/": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhoi"})
    guard = CountingGuard(["intranet.example"])
    fetcher = fetcher_with(guard, AiohttpTransport(guard, dns=Dns(["127.0.0.1"])))
    assert (await fetch(fetcher, f"http://intranet.example:{served.port}/")).body == b"hoi"
    assert (await fetch(fetcher, f"http://evil.example:{served.port}/")).failure is Failure.ADDRESS_REFUSED
    assert guard.opened == 1
