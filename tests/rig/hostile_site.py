"""A site of good pages with hostile ones among them, as a process of its own."""

import asyncio
import gzip
import json
import sys
from collections.abc import Callable
from functools import lru_cache

EVENTS_PER_PAGE = 16
FILLER = "<p>" + "Wat er te doen is in de stad, deze week en daarna. " * 40 + "</p>"
MENU = "".join(f'<li class="menu-item"><a href="/pagina/{each}">Pagina {each}</a></li>' for each in range(200))
ROBOTS = b"User-agent: *\nAllow: /\n"


def good_page(number: int) -> bytes:
    """An agenda with events of its own."""
    events = [
        {"@context": "https://schema.org", "@type": "Event", "name": f"Concert {number} {each}",
         "startDate": f"2027-03-{each + 1:02}T20:00:00+01:00", "location": {"@type": "Place", "name": f"Zaal {each}"},
         "description": f"Avond {number} met {each} muzikanten uit de hele regio. " * 6}
        for each in range(EVENTS_PER_PAGE)
    ]  # fmt: skip
    return page(json_ld(json.dumps(events)) + MENU)


def page(body: str) -> bytes:
    """A page around some markup."""
    return f"<!doctype html><html><head><title>Agenda</title></head><body>{FILLER}{body}</body></html>".encode()


def json_ld(text: str) -> str:
    """Structured data, good or bad."""
    return f'<script type="application/ld+json">{text}</script>'


def many_events(size: int) -> bytes:
    """Far more events than any agenda has."""
    one = '{"@type":"Event","name":"Markt %d","startDate":"2027-04-01T10:00:00+02:00"}'
    return page(json_ld("[" + ",".join(one % number for number in range(size * 250)) + "]"))


SHAPES: dict[str, Callable[[int], bytes]] = {
    "escapes": lambda size: page(json_ld('{"@type":"Event","name":"' + '\\"' * (size * 4_000))),
    "balanced-divs": lambda size: page("<div>" * (size * 25_000) + "x" + "</div>" * (size * 25_000)),
    "attributes": lambda size: page("<div " + " ".join(f"a{each}=1" for each in range(size * 80_000)) + ">x</div>"),
    "options": lambda size: page("<select>" + "<option>" * (size * 120_000) + "</select>"),
    "gzip-members": lambda size: gzip.compress(b"") * (size * 80_000),
    "many-events": many_events,
    "repeated-json": lambda size: page(json_ld('{"@graph":[' * (size * 8_000))),
    "formatting": lambda size: page("<a><b><i>" * (size * 8_000) + "x"),
    "foster": lambda size: page("<table>" + "<b><table>" * (size * 4_000)),
    "digits": lambda size: page(f"<p>{'1' * (size * 80_000)} maart {'2-' * (size * 80_000)}</p>" * 2),
}
"""Shapes that took a parser, a regular expression or a decompressor far longer than their size would say."""


@lru_cache(maxsize=64)
def hostile_page(number: int) -> tuple[str, bytes]:
    """The shape and the body of one hostile page."""
    names = list(SHAPES)
    shape = names[number % len(names)]
    return shape, SHAPES[shape](1 + number // len(names) % 5)


def answer(path: str) -> tuple[bytes, bytes]:
    """The headers and the body for a path."""
    if path == "/robots.txt":
        return b"Content-Type: text/plain\r\n", ROBOTS
    _, kind, number = path.split("/")
    if kind == "good":
        return b"Content-Type: text/html; charset=utf-8\r\n", good_page(int(number))
    shape, body = hostile_page(int(number))
    packed = b"Content-Encoding: gzip\r\n" if shape == "gzip-members" else b""
    return b"Content-Type: text/html; charset=utf-8\r\n" + packed, body


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer requests on one connection."""
    try:
        while request := await reader.readuntil(b"\r\n\r\n"):
            headers, body = answer(request.split(b" ", 2)[1].decode())
            writer.write(b"HTTP/1.1 200 OK\r\n" + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main(hosts: int, hostile: int) -> None:
    """Serve one free port on several loopback addresses until killed, and say which once the pages are made."""
    for number in range(hostile):
        hostile_page(number)
    first = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = first.sockets[0].getsockname()[1]
    for host in range(2, hosts + 1):
        await asyncio.start_server(serve, f"127.0.0.{host}", port)
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await first.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
