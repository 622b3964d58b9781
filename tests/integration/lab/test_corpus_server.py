import asyncio
import json
import sys
from datetime import date, timedelta

import aiohttp

from tidemill.lab.corpus_server import CorpusServer
from tidemill.verticals.events.lab.corpus import Corpus

CORPUS = Corpus(date(2026, 11, 2))
PAGES = {"/bench/": CORPUS.page}


async def test_pages_robots_and_everything_else_are_answered_on_every_address() -> None:
    async with CorpusServer(PAGES, hosts=3) as server, aiohttp.ClientSession() as client:
        assert len(set(server.origins)) == 3
        for number, origin in enumerate(server.origins):
            async with client.get(f"{origin}/bench/{number}") as answer:
                assert await answer.read() == CORPUS.page(number)
                assert answer.content_type == "text/html"
            async with client.get(f"{origin}/robots.txt") as answer:
                assert "Disallow:\n" in await answer.text()
            for nonsense in ("/", "/bench/", "/bench/x", "/bench/1234567"):
                async with client.get(origin + nonsense) as answer:
                    assert answer.status == 404
        assert server.served == 3 * 6


async def test_requests_on_one_connection_are_answered_in_order() -> None:
    async with CorpusServer(PAGES) as server:
        host, _, port = server.origins[0].removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        for part in (b"GET /bench/1 HTTP/1.1\r\n", b"Host: x\r\n\r\nGET /bench/2 HTTP/1.1\r\nHost: x\r\n\r\n"):
            writer.write(part)
            await writer.drain()
        for number in (1, 2):
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.partition(b"Content-Length: ")[2].split(b"\r\n")[0])
            assert await reader.readexactly(length) == CORPUS.page(number)
        writer.close()
        await writer.wait_closed()


async def test_a_request_without_end_is_hung_up_on() -> None:
    async with CorpusServer(PAGES) as server:
        host, _, port = server.origins[0].removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /bench/1 HTTP/1.1\r\nX: " + b"x" * 100_000)
        try:
            assert await reader.read() == b""
        except ConnectionError:
            pass  # the same, told by the system
        finally:
            writer.close()


async def test_a_slow_address_takes_its_time_and_the_others_do_not() -> None:
    slow = {0: timedelta(milliseconds=200)}
    async with CorpusServer(PAGES, hosts=2, slow=slow) as server, aiohttp.ClientSession() as client:
        finished = []

        async def get(origin: str) -> None:
            async with client.get(f"{origin}/bench/1") as answer:
                await answer.read()
            finished.append(origin)

        await asyncio.gather(*(get(origin) for origin in server.origins))
        assert finished == list(reversed(server.origins))


async def test_a_child_process_says_where_it_is_and_ends_when_told() -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tidemill.bootstrap.corpus_server", "--hosts", "2", "--first-day", "2026-11-02",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    origins = json.loads(await child.stdout.readline())["origins"]
    async with aiohttp.ClientSession() as client, client.get(f"{origins[1]}/bench/7") as answer:
        assert await answer.read() == CORPUS.page(7)
    child.stdin.close()
    assert await asyncio.wait_for(child.wait(), 10) == 0
