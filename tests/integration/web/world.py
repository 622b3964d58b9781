"""A small world for the app to show."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from rig.clock import NOON
from rig.mill import event
from rig.rows import a_job, a_letter, a_run, a_source, a_target, put
from tidemill.bootstrap.system import System
from tidemill.store.schema import breakers, dead_letters, jobs, runs, sources, targets
from tidemill.verticals.events.record import StructuredLocation
from tidemill.verticals.events.store.tables import events

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title><svg onload=alert(1)>",
    "{{ 7 * 7 }} & <b>bold</b>",
    "Robert'); DROP TABLE events;--",
)


def an_event(key: int, title: str = "Jazz", date: datetime | None = None, **other: Any) -> dict[str, Any]:
    moment = date or NOON + timedelta(days=1)
    whole = event(title, other.get("source_id", 1), moment, "De Zaal")
    record = msgspec.structs.replace(
        whole,
        description=other.pop("description", "An evening of jazz."),
        detail_url=other.pop("detail_url", "https://a.example/jazz"),
        category=other.get("category", "music"),
        event_time="20:30",
        latitude=other.get("latitude", 52.38),
        longitude=other.get("longitude", 4.64),
        source_name="Town hall",
        structured_location=StructuredLocation(city=other.pop("city", "Haarlem")),
    )
    row = {"id": key, "source_id": 1, "identity": f"event {key}", "identity_hash": key}
    row |= {"event_fingerprint": f"{key}", "title": title}
    row |= {"event_date": moment, "ends_at": None, "event_time": "20:30", "venue_name": "De Zaal", "category": "music"}
    row |= {"latitude": 52.38, "longitude": 4.64, "status": "scheduled", "checksum": 1, "page_id": 1}
    row |= {"record": msgspec.json.encode(record), "first_seen_at": NOON, "last_seen_at": NOON, "updated_at": NOON}
    return row | other


async def furnish(system: System, titles: tuple[str, ...] = ("Jazz", "Film"), name: str = "Town hall") -> None:
    """A source with a target, a run, a dead job with its letter, and events; somebody is at work."""
    database = system.store.database
    await put(database, sources, a_source(name=name, city="Haarlem"))
    await put(database, targets, a_target(next_due_at=NOON + timedelta(hours=1)))
    await put(
        database,
        runs,
        a_run(
            urls_attempted=2, urls_succeeded=1, urls_failed=1, records_accepted=2, completed_at=NOON, status="PARTIAL"
        ),
    )
    await put(database, jobs, a_job(1, status="dead", current_stage="dead_letter", failure="timeout"))
    await put(database, dead_letters, a_letter(1, payload={"host": "a.example"}))
    rows = [an_event(key, title, NOON + timedelta(days=key)) for key, title in enumerate(titles, start=1)]
    if rows:
        await put(database, events, *rows)
    await system.worker.sign_in()


async def open_breaker(system: System) -> None:
    row = {"source_id": 1, "state": "OPEN", "failure_count": 5, "cooldown_until": NOON + timedelta(minutes=30)}
    await put(system.store.database, breakers, row | {"consecutive_opens": 1, "changed_at": NOON})


async def only_late(system: System, late: str) -> None:
    """One piece of periodic work last went well an hour ago, all others just now."""
    for name in system.ticks.chores:
        await tick_went_well(system, name, ago=timedelta(hours=1 if name == late else 0))


async def tick_went_well(system: System, name: str, ago: timedelta) -> None:
    slot = NOON - ago
    await system.store.slots.take(name, slot, 1, slot)
    await system.store.slots.finish(name, slot, "ok", "", slot)
