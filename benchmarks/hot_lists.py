"""What the lists that programs ask for most are worth: `python -m benchmarks.hot_lists`.

Requests a second of each list from the web app as `tidemill up` serves it, beside a bare Starlette app that answers the
very same bytes from memory, both on one processor with the same callers.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import aiohttp

from benchmarks.servers import ROOT
from integration.web.world import an_event, furnish
from rig.clock import NOON
from rig.migrated import migrate
from rig.rows import put
from tidemill.bootstrap.system import build
from tidemill.settings import load_settings
from tidemill.verticals.events.store.tables import events

EVENTS = 2_000
CALLERS = 16
LISTS = (
    "/api/v1/events", "/api/v1/exports/events", "/api/v1/sources", "/api/v1/targets", "/api/v1/runs", "/api/v1/jobs",
    "/api/v1/dead-letters", "/events", "/sources",
)  # fmt: skip
BARE = """
import asyncio, json, pathlib, sys
import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

folder = pathlib.Path(sys.argv[1])
kinds = json.loads((folder / "kinds.json").read_text())

def answering(number, kind):
    body = (folder / str(number)).read_bytes()
    async def answer(request):
        return Response(body, media_type=kind)
    return answer

routes = [Route(path, answering(number, kind)) for number, (path, kind) in enumerate(kinds)]
app = Starlette(routes=routes)
config = uvicorn.Config(app, port=int(sys.argv[2]), log_level="error", access_log=False)
asyncio.run(uvicorn.Server(config).serve())
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--port", type=int, default=18_420)
    arguments = parser.parse_args()
    asyncio.run(measured(arguments.seconds, arguments.port))


async def measured(seconds: float, port: int) -> None:
    with tempfile.TemporaryDirectory(prefix="tidemill-lists-") as name:
        folder = Path(name)
        url = await filled(folder)
        own = [sys.executable, "-m", "tidemill", "--database", url, "up", "--role", "web", "--port", str(port)]
        async with serving(own, port):
            await copy_answers(folder, port)
            ours = {path: await rate(port, path, seconds) for path in LISTS}
        bare = [sys.executable, "-c", BARE, str(folder), str(port + 1)]
        async with serving(bare, port + 1):
            theirs = {path: await rate(port + 1, path, seconds) for path in LISTS}
    print(f"{'requests a second, 16 callers':34} {'tidemill':>10} {'Starlette':>10}")
    for path in LISTS:
        print(f"{path:34} {ours[path]:10,.0f} {theirs[path]:10,.0f}")


async def filled(folder: Path) -> str:
    """A database with what the lists show."""
    url = f"sqlite:///{folder / 'tidemill.db'}"
    migrate(url)
    system = build(load_settings(database=url))
    await furnish(system, titles=())
    rows = [an_event(key, f"Event {key}", NOON + timedelta(days=2_000, hours=key)) for key in range(1, EVENTS + 1)]
    await put(system.store.database, events, *rows)
    await system.close()
    return url


@asynccontextmanager
async def serving(command: list[str], port: int) -> AsyncIterator[None]:
    """A server in a process of its own, until the block ends."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        while not await answers(port):
            assert process.returncode is None, "the server ended"
        yield
    finally:
        process.terminate()
        await process.wait()


async def answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def copy_answers(folder: Path, port: int) -> None:
    """Keep what we answer, for the bare app to answer too."""
    kinds = []
    async with aiohttp.ClientSession() as session:
        for number, path in enumerate(LISTS):
            async with session.get(f"http://127.0.0.1:{port}{path}", headers={"Accept": "*/*"}) as response:
                response.raise_for_status()
                (folder / str(number)).write_bytes(await response.read())
                kinds.append((path, response.content_type))
    (folder / "kinds.json").write_text(json.dumps(kinds))


async def rate(port: int, path: str, seconds: float) -> float:
    """Requests that are answered a second."""
    url = f"http://127.0.0.1:{port}{path}"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CALLERS)) as session:

        async def ask(until: float) -> int:
            count = 0
            while time.perf_counter() < until:
                async with session.get(url) as response:
                    await response.read()
                    count += response.status == 200
            return count

        await ask(time.perf_counter() + 0.3)  # the first requests make plans and templates
        began = time.perf_counter()
        done = sum(await asyncio.gather(*(ask(began + seconds) for _ in range(CALLERS))))
        return done / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
