"""The world on real sockets: every site on its own loopback address, with its hangs, drips and cuts for real.

In a process: `async with LabServer(world) as server: ...`. As a child, `python -m tidemill.bootstrap.lab_server` prints
one line of JSON with the sources and serves until its standard input closes or it is told to stop.
"""

import argparse
import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

import msgspec
from aiohttp import web

from tidemill.lab.faults import ALL_KINDS
from tidemill.lab.lifetime import print_json, until_stopped
from tidemill.lab.loopback import ONLY_ADDRESS, NoPortError, addresses, listening_sockets
from tidemill.lab.messages import Behaviour, LabRequest, LabResponse
from tidemill.lab.part import SitesOption
from tidemill.lab.wall import wall_time
from tidemill.lab.world import World, WorldTerms, build_world


class ServedRequest(msgspec.Struct, frozen=True):
    """A request as the server saw it: the site's name, the path, and the loop's own monotonic time in seconds."""

    host: str
    path: str
    at: float


class LabServer:
    """Serves a world. `world` is, once started, the same world with its sites at their real addresses.

    Sites are told apart by address where the system has more than one loopback address, and by the Host header
    (`NAME.localhost`) where it has not. `log` holds every request in order of arrival.
    """

    def __init__(self, world: World, *, port: int = 0, now: Callable[[], datetime] = wall_time) -> None:
        """Nothing is opened before the server is entered."""
        self.world = world
        self.log: list[ServedRequest] = []
        self._port = port
        self._now = now
        self._by_name: Mapping[str, str] = {}
        self._closing = asyncio.Event()
        self._runner = web.ServerRunner(web.Server(self._answer, access_log=None, handler_cancellation=True))

    async def __aenter__(self) -> Self:
        """Open the sockets, move the world to them, and serve."""
        hosts = list(self.world.origins)
        try:
            places = addresses(len(hosts))
            listeners = listening_sockets(places, self._port)
        except NoPortError:
            places = [f"{host.removesuffix('.test')}.localhost" for host in hosts]
            listeners = listening_sockets([ONLY_ADDRESS], self._port)
        port = listeners[0].getsockname()[1]
        self._by_name = dict(zip(places, hosts, strict=True)) | {host: host for host in hosts}
        self.world = self.world.moved_to(
            {host: f"http://{place}:{port}" for place, host in zip(places, hosts, strict=True)}
        )
        await self._runner.setup()
        for listener in listeners:
            await web.SockSite(self._runner, listener).start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of everyone who still waits, and close."""
        self._closing.set()
        await self._runner.cleanup()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        host = self._site_asked(request)
        self.log.append(ServedRequest(host, request.path_qs, asyncio.get_running_loop().time()))
        headers = {name.lower(): value for name, value in request.headers.items()}
        answer = self.world.respond(LabRequest(host, request.path_qs, headers), self._now())
        match answer.behaviour:
            case Behaviour.REFUSE:
                return _hang_up(request)
            case Behaviour.HANG:
                await self._closing.wait()
                return _hang_up(request)
            case Behaviour.NORMAL if answer.stream is None:
                return web.Response(status=answer.status, headers=dict(answer.headers), body=answer.body)
            case _:
                return await self._sent_in_pieces(request, answer)

    def _site_asked(self, request: web.BaseRequest) -> str:
        name = request.headers.get("Host", "").rpartition(":")[0] or request.headers.get("Host", "")
        return self._by_name.get(name, name)

    async def _sent_in_pieces(self, request: web.BaseRequest, answer: LabResponse) -> web.StreamResponse:
        response = web.StreamResponse(status=answer.status, headers=dict(answer.headers))
        if answer.stream is None:
            response.content_length = len(answer.body)
        await response.prepare(request)
        if answer.behaviour is Behaviour.CUT:
            await response.write(answer.body[: answer.sent])
            return _hang_up(request)
        pieces = answer.stream() if answer.stream is not None else iter(_split(answer.body, answer.pieces))
        for piece in pieces:
            if answer.pause and await self._closes_within(answer.pause):
                return _hang_up(request)
            await response.write(piece)
        await response.write_eof()
        return response

    async def _closes_within(self, pause: timedelta) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), pause.total_seconds())
        return self._closing.is_set()


def _hang_up(request: web.BaseRequest) -> web.StreamResponse:
    """Close the connection without a word (more)."""
    if request.transport is not None:
        request.transport.close()
    return web.Response()


def _split(body: bytes, pieces: int) -> list[bytes]:
    size = max(1, -(-len(body) // pieces))
    return [body[start : start + size] for start in range(0, len(body), size)]


def world_asked_for(arguments: argparse.Namespace, options: Sequence[SitesOption]) -> World:
    """Draw the world that the command line describes, beginning now."""
    kinds = ALL_KINDS if arguments.faults == "all" else tuple(filter(None, arguments.faults.split(",")))
    period = timedelta(seconds=arguments.seconds)
    terms = WorldTerms(seed=arguments.seed, start=wall_time(), opening=period if arguments.busy else timedelta(0))
    groups = [option.build(getattr(arguments, option.name), terms) for option in options]
    return build_world(terms, groups, kinds=kinds, days=period / timedelta(days=1))


async def serve(arguments: argparse.Namespace, options: Sequence[SitesOption]) -> None:
    """Serve a world until standard input closes or the process is told to stop."""
    async with LabServer(world_asked_for(arguments, options), port=arguments.port) as server:
        sources = server.world.sources(interval_seconds=arguments.interval)
        print_json({"hosts": dict(server.world.origins), "sources": sources})
        await until_stopped()


def main(options: Sequence[SitesOption], program: str) -> None:
    """Read the command line and serve; every kind of site has an option that says how many there are."""
    parser = argparse.ArgumentParser(prog=program, description="Serve the lab on loopback.")
    parser.add_argument("--seed", type=int, default=7)
    for option in options:
        parser.add_argument(f"--{option.name}", type=int, default=option.default, help=option.help)
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--faults", default="", help="'all', or kinds separated by commas")
    parser.add_argument("--seconds", type=float, default=86_400, help="how long the timetable of faults is")
    parser.add_argument("--busy", action="store_true", help="let agendas change during that time")
    parser.add_argument("--interval", type=float, default=2.0, help="seconds between requests to one site")
    asyncio.run(serve(parser.parse_args(), options))
