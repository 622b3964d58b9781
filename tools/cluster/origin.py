"""The sites that a cluster under test scrapes: 60 host names, each with pages, faults and a memory of who came when.

Run as `python -m tools.cluster.origin PORT FILE`; at SIGTERM the moments of all requests are written to FILE.
"""

import json
import random
import signal
import sys
import time
from collections import defaultdict
from pathlib import Path

from aiohttp import web

PAGE = """<html><head><title>{name}</title><script type="application/ld+json">{event}</script></head>
<body><h1>{name}</h1>{filler}</body></html>"""
BUSY, BROKEN, RESET = 0.02, 0.01, 0.01
"""Shares of first visits that meet a 503, a 500 and a connection that ends."""
FILLER = "<p>Doors open half an hour before it begins; tickets are sold at the box office.</p>" * 100


class Origin:
    """Every third first visit or so meets a fault; the next one is served."""

    def __init__(self, seed: int) -> None:
        """Nobody has come yet."""
        self.arrivals: dict[str, list[tuple[float, str]]] = defaultdict(list)
        self.visits: dict[str, int] = defaultdict(int)
        self._dice = random.Random(seed)  # noqa: S311 - faults, not secrets

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one request, badly now and then."""
        host = request.host.partition(":")[0]
        self.arrivals[host].append((time.monotonic(), request.path))
        if request.path == "/robots.txt":
            raise web.HTTPNotFound
        key = host + request.path
        self.visits[key] += 1
        if self.visits[key] == 1 and (fault := self._fault(request)) is not None:
            return fault
        return web.Response(text=page_of(host, request.path), content_type="text/html")

    def _fault(self, request: web.Request) -> web.Response | None:
        dice = self._dice.random()
        if dice < BUSY:
            return web.Response(status=503)
        if dice < BUSY + BROKEN:
            return web.Response(status=500, text="oops")
        if dice < BUSY + BROKEN + RESET and request.transport is not None:
            request.transport.abort()
        return None


def page_of(host: str, path: str) -> str:
    """A page with one event of its own."""
    number = int(path.rpartition("/")[2])
    name = f"Concert {number} at {host}"
    event = {"@context": "https://schema.org", "@type": "Event", "name": name,
             "startDate": f"2027-{1 + number % 12:02}-{1 + number % 28:02}T20:00:00+01:00", "url": f"http://{host}/concert/{number}",
             "location": {"@type": "Place", "name": f"Hall {number} of {host}",
                          "address": {"addressLocality": "Dordrecht"}}}  # fmt: skip
    return PAGE.format(name=name, event=json.dumps(event), filler=FILLER)


def main(port: int, file: Path) -> None:
    """Serve until told to stop."""
    origin = Origin(1)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", origin.answer)
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(web.GracefulExit()))
    try:
        web.run_app(app, host="127.0.0.1", port=port, print=None, access_log=None, handle_signals=False)
    finally:
        file.write_text(json.dumps({"arrivals": origin.arrivals, "visits": origin.visits}))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
