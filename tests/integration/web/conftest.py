"""The real app over real HTTP on loopback, on real databases."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from yarl import URL

from rig.clock import NOON, SettableClock
from tidemill.bootstrap.system import System, build
from tidemill.bootstrap.web import Telemetry, web_deps, web_extensions
from tidemill.settings import load_settings
from tidemill.store.database.database import open_database
from tidemill.store.database.migrate import upgrade
from tidemill.telemetry.metrics import Metrics
from tidemill.telemetry.recent_happenings import RecentHappenings
from tidemill.web.app import create_app
from tidemill.web.deps import WebDeps
from tidemill.web.extension import WebExtension
from tidemill.web.serve import serve


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Any
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def error(self) -> dict[str, str]:
        return self.json()


class Browser:
    """Asks the app like a browser or a program would."""

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self.address = address
        self._session = session

    async def get(self, path: str, **headers: str) -> Answer:
        """A GET; the path goes out as it is written."""
        url = URL(self.address + path, encoded=True)
        async with self._session.get(url, headers=headers, allow_redirects=False) as response:
            return Answer(response.status, response.headers, await response.read())

    async def page(self, path: str) -> Answer:
        """A GET by a person."""
        return await self.get(path, Accept="text/html,*/*")


@pytest.fixture
async def system(database_url: str, clock: SettableClock) -> AsyncIterator[System]:
    built = build(load_settings(database=database_url), clock=clock)
    await upgrade(built.store.database)
    yield built
    await built.close()


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with its tables, made once; on a thread, because the caller may be inside an event loop."""
    file = tmp_path_factory.mktemp("migrated") / "tidemill.db"

    async def migrate() -> None:
        database = open_database(f"sqlite:///{file}")
        await upgrade(database)
        await database.close()

    with ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(asyncio.run, migrate()).result()
    return file


@pytest.fixture
async def sqlite_system(migrated_file: Path, tmp_path: Path, clock: SettableClock) -> AsyncIterator[System]:
    file = shutil.copy(migrated_file, tmp_path / "tidemill.db")
    built = build(load_settings(database=f"sqlite:///{file}"), clock=clock)
    yield built
    await built.close()


def complaint(words: str, error: Exception) -> None:
    """No test makes the app break unless it says so."""
    pytest.fail(f"{words}: {error!r}")


def deps_of(system: System) -> WebDeps:
    """What `tidemill up` serves with, but for a fixed version and start, and no figures of this process."""
    return replace(
        web_deps(system, Telemetry(complaint), "127.0.0.1"),
        metrics=Metrics("0.1.0", process=False),
        recent=RecentHappenings(),
        version="0.1.0",
        started_at=NOON - timedelta(hours=1),
    )


@pytest.fixture
def deps(system: System) -> WebDeps:
    return deps_of(system)


@pytest.fixture
async def browser(system: System, deps: WebDeps) -> AsyncIterator[Browser]:
    async for each in browsing(system, deps):
        yield each


@pytest.fixture
async def sqlite_browser(sqlite_system: System) -> AsyncIterator[Browser]:
    async for each in browsing(sqlite_system):
        yield each


async def browsing(
    system: System,
    deps: WebDeps | None = None,
    extensions: Sequence[WebExtension] | None = None,
    **changes: Any,
) -> AsyncIterator[Browser]:
    """The app on a free port, and somebody who asks it; with all verticals, unless it is told which."""
    ready = asyncio.get_running_loop().create_future()
    deps = replace(deps or deps_of(system), **changes)
    app = create_app(deps, web_extensions(system, deps) if extensions is None else extensions)
    serving = asyncio.create_task(
        serve(app, "127.0.0.1", 0, ready=ready.set_result, stopping=deps.streams.hub.close_soon)
    )
    async with aiohttp.ClientSession() as session:
        yield Browser(session, await ready)
    serving.cancel()
    await asyncio.wait([serving])
    await deps.streams.hub.close()
