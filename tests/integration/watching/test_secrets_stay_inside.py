"""Secrets planted in addresses, headers, settings, exceptions and pages are in nothing that is written or shown."""

import io
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from sqlalchemy import select

from rig.clock import SettableClock, seeded_dice
from rig.loud_adapter import NAME
from tidemill.bootstrap.system import System, build
from tidemill.bootstrap.web import Telemetry, serve_web
from tidemill.core.failure import Failure
from tidemill.core.run import Trigger
from tidemill.core.services.degradation import Service
from tidemill.lab.standins.slack import PATH, SlackStandin
from tidemill.lab.standins.talk import StandinTransport
from tidemill.pipeline.ports import WireFailure, WireRequest, WireResponse
from tidemill.settings import Settings
from tidemill.store.database.database import open_database
from tidemill.store.schema import alert_outbox, dead_letters, incidents, jobs, scraper_errors, service_status
from tidemill.telemetry.logs import log_listener, make_logger

pytestmark = pytest.mark.shows("H8")

IN_URL, IN_HEADER, IN_SETTING, IN_PAGE, IN_ERROR = (
    "ur1s3cr3t", "head3rs3cr3t", "s3tt1ngs3cr3t", "pag3s3cr3t", "3rr0rs3cr3t",
)  # fmt: skip
SECRETS = (IN_URL, IN_HEADER, IN_SETTING, IN_PAGE, IN_ERROR, "T000/B000/secret")
SLACK = "https://hooks.slack.example"
PAGE = f'<html><body><a href="/next?session={IN_PAGE}">next</a><p>token={IN_PAGE}</p></body></html>'
SOURCE = {
    "name": "loud", "vertical": "events", "base_url": "https://loud.example", "adapter": NAME,
    "headers": {"Authorization": f"Bearer {IN_HEADER}"}, "pace": {"interval_seconds": 0, "burst": 9, "parallel": 9},
    "targets": [f"/page?api_key={IN_URL}", f"/unreachable?api_key={IN_URL}"],
}  # fmt: skip
PAGES = ("/", "/work", "/dead-letters", "/targets", "/runs", "/incidents", "/incidents/{incident}", "/settings",
         "/system", "/sources", "/api-guide")  # fmt: skip
READS = (
    "/metrics", "/status", "/health", "/api/v1/incidents", "/api/v1/alerts/outbox", "/api/v1/rounds", "/api/v1/jobs",
    "/api/v1/jobs/{job}", "/api/v1/dead-letters", "/api/v1/dead-letters/{letter}", "/api/v1/targets",
    "/api/v1/targets/{target}", "/api/v1/pages", "/api/v1/pages/{page}", "/api/v1/why/letter:{letter}",
    "/api/v1/why/job:{job}", "/dead-letters/rows.csv", "/targets/rows.csv",
)  # fmt: skip


class LoudSite:
    """A site whose page holds keys, and a connection whose errors quote what was sent."""

    async def send(
        self, request: WireRequest, _send_after: Callable[[], Awaitable[None]]
    ) -> WireResponse | WireFailure:
        """Answer, or fail loudly."""
        if "/robots.txt" in request.url:
            return WireResponse(status_code=404, headers={})
        if "/unreachable" in request.url:
            words = f"no certificate for {request.url} with {dict(request.headers)}, Authorization: Bearer {IN_HEADER}"
            return WireFailure(failure=Failure.TLS_FAILED, detail=words)
        return WireResponse(status_code=200, headers={"content-type": "text/html; charset=utf-8"}, body=PAGE.encode())

    async def close(self) -> None:
        """Nothing is open."""


@dataclass
class Loud:
    """A system full of secrets, what it logged, and what Slack was told."""

    system: System
    log: io.StringIO
    slack: SlackStandin
    address: str


@asynccontextmanager
async def loud(url: str, clock: SettableClock, folder: Path) -> AsyncIterator[Loud]:
    log, slack = io.StringIO(), SlackStandin()
    logged = log_listener(make_logger("debug", "json", log), "debug")
    telemetry = Telemetry(lambda *_: pytest.fail("a listener failed"), logged)
    values: dict[str, Any] = {
        "slack_webhook": SLACK + PATH, "api_token": IN_SETTING * 3, "search_key": IN_SETTING, "pages_folder": folder,
        "reader_processes": 0,
    }  # fmt: skip
    settings = Settings(**values)
    system = build(
        settings, announce=telemetry.listeners, clock=clock, dice=seeded_dice(), database=open_database(url),
        transport=StandinTransport({SLACK: slack}, clock, LoudSite()),
    )  # fmt: skip
    done = await system.actions.importer.source_entries([SOURCE], "ann")
    assert not done.problems, done.problems
    await system.worker.sign_in()
    async with serve_web(system, telemetry, "127.0.0.1", 0) as address:
        yield Loud(system, log, slack, address)
    await system.close()


async def everything_fails(system: System, clock: SettableClock) -> None:
    """One run of both targets, until they are dead letters and people are told."""
    (source,) = await system.store.sources.every()
    await system.dispatcher.enqueue(await system.store.agenda.of_source(source.id), Trigger.MANUAL)
    while await system.make_drain().run("http") is not None:
        clock.advance(timedelta(minutes=1))
    await system.services.degraded(Service.SEARCH, f"refused api_key={IN_SETTING}")
    for name in ("close_runs", "alerts", "outbox"):
        await system.ticks.run_now(name)
    clock.advance(timedelta(minutes=6))
    for name in ("alerts", "outbox"):
        await system.ticks.run_now(name)


def leaks(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret in text]


async def rows_of(system: System, *columns: object) -> str:
    async with system.store.database.read() as connection:
        found = (await connection.execute(select(*columns))).all()  # type: ignore[call-overload]
    return "\n".join(map(str, found))


async def test_no_planted_secret_is_in_anything_that_is_written_or_shown(
    migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path
) -> None:
    async with loud(migrated_sqlite_url, clock, tmp_path) as works:
        await everything_fails(works.system, clock)
        letters = await works.system.store.views.dead_letters(limit=10)
        assert len(letters) == 2
        assert len(works.slack.messages) >= 1
        found = {
            "log": leaks(works.log.getvalue()),
            "notices": leaks(msgspec.json.encode([each for _, each in works.slack.messages]).decode()),
            "letters": leaks(await rows_of(works.system, dead_letters.c.error_message, dead_letters.c.error_stack)),
            "jobs": leaks(await rows_of(works.system, jobs.c.last_error)),
            "scraper errors": leaks(await rows_of(works.system, scraper_errors.c.error_message, scraper_errors.c.url)),
            "services": leaks(await rows_of(works.system, service_status.c.reason)),
            **{table.name: leaks(await rows_of(works.system, *table.c)) for table in (incidents, alert_outbox)},
        }
        for letter in [each for each in letters if each.stage == "parse"]:
            content = await works.system.actions.bundles.bundle(letter.id, "ann")
            with zipfile.ZipFile(io.BytesIO(content)) as bundle:
                inside = b"".join(bundle.read(each) for each in bundle.namelist())
            found[f"bundle {letter.id}"] = leaks(inside.decode(errors="replace"))
        (incident, *_) = await works.system.actions.incidents.every()
        (read,) = [each for each in letters if each.stage == "parse"]
        (page, *_) = await works.system.store.views.pages(limit=1)
        keys = {"letter": read.id, "job": read.job_id, "target": read.target_id, "page": page.id}
        async with aiohttp.ClientSession() as session:
            for path in (*PAGES, *READS):
                shown = path.format(incident=incident.id, **keys)
                async with session.get(works.address + shown, headers={"Accept": "text/html"}) as answer:
                    found[shown] = leaks(await answer.text())
                    assert answer.status != 404, shown
        assert {place: secrets for place, secrets in found.items() if secrets} == {}
        assert "loud.example" in works.log.getvalue()
