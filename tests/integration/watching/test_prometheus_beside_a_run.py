"""A real Prometheus and a real Alertmanager beside a real run: panels have data, and an alert reaches a webhook."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from aiohttp import web
from sqlalchemy import update

from integration.watching.test_deployed_rules import panel_queries
from rig.clock import SettableClock
from rig.hostile_crowd import free_port
from rig.lab_works import LabWorks, lab_works
from rig.prometheus import PrometheusServer, a_prometheus, an_alertmanager, until
from rig.rows import a_letter, put
from tidemill.bootstrap.web import Telemetry, serve_web
from tidemill.store.schema import dead_letters
from tidemill.verticals.events.lab.sites import build_sites

pytestmark = pytest.mark.shows("H6")

SITES = build_sites(7, 3)
OBJECTIVES = [{"vertical": "events", "within": "36h"}]
QUICK = "1s"


class Inbox:
    """The webhook of somebody who is told by Alertmanager."""

    def __init__(self) -> None:
        """Nothing has come yet."""
        self.alerts: list[dict[str, Any]] = []

    async def take(self, request: web.Request) -> web.Response:
        """Take a message."""
        self.alerts += (await request.json())["alerts"]
        return web.Response()

    def told(self, name: str, status: str) -> list[dict[str, Any]]:
        """The messages about an alert in this state."""
        return [each for each in self.alerts if (each["labels"]["alertname"], each["status"]) == (name, status)]


@asynccontextmanager
async def an_inbox() -> AsyncIterator[tuple[Inbox, str]]:
    inbox = Inbox()
    app = web.Application()
    app.router.add_post("/alerts", inbox.take)
    runner = web.AppRunner(app)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield inbox, f"http://127.0.0.1:{port}/alerts"
    finally:
        await runner.cleanup()


def quick_rules(deploy: Path, folder: Path) -> Path:
    """The rules as they are deployed, evaluated every second."""
    rules = yaml.safe_load((deploy / "rules.yml").read_text())
    for group in rules["groups"]:
        group["interval"] = QUICK
    file = folder / "rules.json"
    file.write_text(json.dumps(rules))
    return file


def quick_config(deploy: Path, rules: Path, target: str, manager: str) -> dict[str, Any]:
    """Prometheus' configuration as it is deployed, with the addresses of this test."""
    config: dict[str, Any] = yaml.safe_load((deploy / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": QUICK, "evaluation_interval": QUICK}
    config["rule_files"] = [str(rules)]
    config["scrape_configs"][0]["static_configs"] = [{"targets": [target]}]
    config["alerting"]["alertmanagers"][0]["static_configs"] = [{"targets": [manager]}]
    return config


def quick_manager(deploy: Path, inbox: str) -> dict[str, Any]:
    """Alertmanager's configuration as it is deployed, without its waits, and with the address of this test."""
    config: dict[str, Any] = yaml.safe_load((deploy / "alertmanager.yml").read_text())
    config["route"] |= {"group_wait": "0s", "group_interval": QUICK}
    config["receivers"][0]["webhook_configs"][0]["url"] = inbox
    return config


@asynccontextmanager
async def served(works: LabWorks) -> AsyncIterator[str]:
    def complain(words: str, error: Exception) -> None:
        pytest.fail(f"{words}: {error!r}")

    telemetry = Telemetry(complain)
    works.system.announce.add(telemetry.listeners)
    async with serve_web(works.system, telemetry, "127.0.0.1", 0) as address:
        yield address.removeprefix("http://")


async def scrape_and_watch(works: LabWorks) -> None:
    """A round of everything that a running system does."""
    await works.scrape()
    for name in ("objectives", "alerts", "outbox", "health"):
        await works.system.ticks.run_now(name)
    works.clock.advance(timedelta(hours=25))


@pytest.mark.inventory(64)
async def test_panels_have_data_and_an_alert_fires_end_to_end(
    migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path, project_root: Path
) -> None:
    deploy = project_root / "deploy"
    async with (
        lab_works(migrated_sqlite_url, clock, tmp_path, SITES, objectives=OBJECTIVES) as works,
        served(works) as target,
        an_inbox() as (inbox, address),
        an_alertmanager(quick_manager(deploy, address), tmp_path, free_port()) as manager,
        a_prometheus(
            quick_config(deploy, quick_rules(deploy, tmp_path), target, manager), tmp_path, free_port()
        ) as prometheus,
    ):  # fmt: skip
        await scrape_and_watch(works)
        await until(lambda: prometheus.values("scrape_urls_attempted_total > 0"))
        await scrape_and_watch(works)
        await panels_have_data(prometheus, deploy)
        await the_objective_is_shown(target)
        await an_alert_comes_and_goes(works, prometheus, inbox)


async def the_objective_is_shown(target: str) -> None:
    async with aiohttp.ClientSession(f"http://{target}") as session:
        async with session.get("/api/v1/objectives") as answer:
            (objective,) = (await answer.json())["items"]
        assert (objective["name"], objective["is_good"], objective["allowed_minutes"]) == ("events", True, 403.2)
        assert objective["active"] == objective["checked"] > 0
        for address in ("/objectives", "/objectives?name=events"):
            async with session.get(address, headers={"Accept": "text/html"}) as answer:
                page = await answer.text()
                assert answer.status == 200, page
            assert "of the budget is left" in page
        async with session.get("/objectives?name=%3Cscript%3E", headers={"Accept": "text/html"}) as answer:
            assert answer.status == 404
            assert "<script>" not in await answer.text()


async def panels_have_data(prometheus: PrometheusServer, deploy: Path) -> None:
    missing = {f"{title}: {query}": query for title, query in panel_queries(deploy)}

    async def none_missing() -> bool:
        for panel, query in list(missing.items()):
            if await prometheus.values(query):
                del missing[panel]
        return not missing

    try:
        await until(none_missing)
    except TimeoutError:
        assert missing == {}


async def an_alert_comes_and_goes(works: LabWorks, prometheus: PrometheusServer, inbox: Inbox) -> None:
    database = works.system.store.database
    assert "dead_letters" not in await prometheus.firing()
    await put(
        database, dead_letters, *(a_letter(key, job_id=key, created_at=works.clock.now()) for key in range(1, 52))
    )
    works.clock.advance(timedelta(minutes=1))  # past what the web app remembers
    await until(lambda: _told(inbox, "dead_letters", "firing"))
    (told, *_) = inbox.told("dead_letters", "firing")
    assert told["labels"]["severity"] == "P2"
    assert told["annotations"]["runbook_url"] == "docs/runbooks/dead-letters.md"
    async with database.write() as connection:
        await connection.execute(update(dead_letters).values(status="discarded"))
    works.clock.advance(timedelta(minutes=1))
    await until(lambda: _told(inbox, "dead_letters", "resolved"))


async def _told(inbox: Inbox, name: str, status: str) -> list[dict[str, Any]]:
    await asyncio.sleep(0)  # noqa: TID251 - passes the turn, waits for no time
    return inbox.told(name, status)
