"""A site that shows nothing without JavaScript: an empty shell, a script, and an API that the script asks.

`async with ScriptedSite(pages=20) as site: ...` serves it on loopback. Its pages carry what a browser should leave
out (pictures, fonts, films, trackers), and any of them can be told to hang the browser the next time it is asked for.
"""

import asyncio
from types import TracebackType
from typing import Self

import msgspec
from aiohttp import web

from tidemill.lab.loopback import ONLY_ADDRESS

SHELL = """<!DOCTYPE html>
<html lang="nl"><head><meta charset="utf-8"><title>Agenda</title>
<style>@font-face { font-family: Fancy; src: url(/fancy.woff2); } body { font-family: Fancy; }</style>
<script src="https://www.google-analytics.com/analytics.js"></script>
<script src="/app.js" defer></script></head>
<body><h1>Agenda</h1><main id="agenda"><p>Even geduld…</p></main>
<img src="/banner.png" alt=""><video src="/film.mp4" autoplay></video></body></html>
"""

SCRIPT = """
const main = document.getElementById("agenda");
fetch(`/api${location.pathname}.json`).then(answer => answer.json()).then(events => {
  main.replaceChildren(...events.map(event => {
    const card = document.createElement("article");
    card.innerHTML = `<h2></h2><time></time><p></p>`;
    card.querySelector("h2").textContent = event.name;
    card.querySelector("time").setAttribute("datetime", event.startDate);
    card.querySelector("p").textContent = event.location.name;
    return card;
  }));
  const data = document.createElement("script");
  data.type = "application/ld+json";
  data.textContent = JSON.stringify(events);
  document.head.append(data);
});
"""

HANGS = "<!DOCTYPE html><html><body><p>Even geduld…</p><script>while (true) {}</script></body></html>"

_HTML = "text/html"


class ScriptedSite:
    """The site under way: where it is, what it has been asked, and which pages hang next."""

    def __init__(self, pages: int = 10, host: str = ONLY_ADDRESS) -> None:
        """With so many pages, `/agenda/0` and on, one event on each."""
        self.paths = [f"/agenda/{number}" for number in range(pages)]
        self.asked: list[str] = []
        self.hanging: set[str] = set()
        self.arrivals = asyncio.Condition()
        self._host = host
        self._port = 0
        self._runner = web.ServerRunner(web.Server(self._answer, access_log=None), shutdown_timeout=0)

    @property
    def origin(self) -> str:
        """Where it is."""
        return f"http://{self._host}:{self._port}"

    async def __aenter__(self) -> Self:
        """Open a socket on a free port and serve."""
        await self._runner.setup()
        place = web.TCPSite(self._runner, self._host, 0)
        await place.start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self._runner.cleanup()

    async def until_asked(self, times: int) -> None:
        """Wait until so many pages of the agenda have been asked for."""
        async with self.arrivals:
            await self.arrivals.wait_for(lambda: sum(path.startswith("/agenda/") for path in self.asked) >= times)

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        path = request.path
        self.asked.append(path)
        async with self.arrivals:
            self.arrivals.notify_all()
        if path in self.hanging:
            self.hanging.discard(path)
            return web.Response(text=HANGS, content_type=_HTML)
        if path in self.paths:
            return web.Response(text=SHELL, content_type=_HTML)
        if path == "/app.js":
            return web.Response(text=SCRIPT, content_type="text/javascript")
        if path.startswith("/api/agenda/"):
            number = int(path.removeprefix("/api/agenda/").removesuffix(".json"))
            return web.Response(body=msgspec.json.encode([event(number)]), content_type="application/json")
        return web.Response(status=404)


def event(number: int) -> dict[str, object]:
    """The event on one page."""
    return {
        "@context": "https://schema.org",
        "@type": "Event",
        "name": f"Concert nummer {number}",
        "startDate": f"2027-{number % 12 + 1:02}-{number % 27 + 1:02}T20:00:00+01:00",
        "location": {"@type": "Place", "name": "De Molen", "address": "Molenweg 1, Utrecht"},
        "description": f"Een avond met muziek, de {number}e van het seizoen.",
    }
