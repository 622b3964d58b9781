"""A database of all four verticals, made hostile: every text that a stranger may write holds an attack."""

import json
import shutil
import sqlite3
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from integration.web.world import an_event
from rig.clock import NOON, SettableClock, seeded_dice
from rig.match_states import match_state
from rig.rows import a_job, a_letter, a_run, a_source, a_target, put
from rig.shopfront import Market, product_page
from rig.streamed import TallyWriter
from tidemill.bootstrap.system import build
from tidemill.settings import load_settings
from tidemill.store.database.database import open_database
from tidemill.store.schema import (
    dead_letters,
    incidents,
    jobs,
    rejected_records,
    runs,
    source_candidates,
    sources,
    targets,
)
from tidemill.verticals.events.store.tables import events
from tidemill.verticals.listings.lab.sites import entries
from tidemill.verticals.listings.lab.transport import HomesTransport
from tidemill.verticals.listings.lab.world import HomesWorld
from tidemill.verticals.listings.parts import ListingsParts

MARK = "xss-mark"
"""No page has an element of this name, unless an attack got through."""
ATTACKS = (
    f"</title></textarea></script><{MARK}></{MARK}><script>document.title='run'</script>",
    f"\"'><img src=/never-loaded.png onerror=\"document.title='run'\"><{MARK}>",
    '=HYPERLINK("http://evil.example")\r\nBEGIN:VEVENT\r\nEND:VCALENDAR]]><!--',
    "{{ 7*7 }}{% raw %}${7*7}#{7*7}\\u003cscript\\u003e",
    "W" * 400,
    "\u202egnp.exe\u2066 \u0007\ufffe\u200b'\"`;DROP TABLE events;--",
)
BAD_ADDRESS = "javascript:document.title='run'//"
STRANGERS = frozenset((
    "title", "venue_name", "brand", "retailer", "error_message", "last_error", "detail", "diagnosis", "display_name",
    "area", "note", "notes", "resolution_notes", "review_notes", "disabled_reason", "doubt", "series", "site", "place",
    "error_stack", "stack_trace", "tos_approved_by", "actor", "agent", "cause", "diagnosis", "created_by", "made_by",
    "decided_by", "applied_by", "reverted_by", "disabled_by", "reviewed_by", "acknowledged_by", "closed_by",
    "settled_by", "linked_by", "accepted_by", "blessed_by", "address_key", "city", "error_code", "trigger_condition",
    "upc", "event_time", "postal_code", "etag", "last_modified", "words",
))  # fmt: skip
"""Columns of text that pages, people or services write as they like."""
ADDRESSES = frozenset(("url", "final_url"))
FREE_KEYS = STRANGERS | {
    "description", "name", "venue", "organizer", "organiser", "price_text", "reason", "words", "street", "address",
    "neighborhood", "unit", "available_text", "kind_text", "image", "image_url", "detail_url", "link", "value", "text",
    "brand", "sku", "caliber", "short_name", "ground", "by", "how", "player", "message", "region", "country", "label",
}  # fmt: skip
"""Keys of JSON whose text strangers write."""
JSON_COLUMNS = frozenset((
    "raw", "samples", "payload", "record", "card", "tries", "teams", "state", "changes", "shown", "records", "reasons",
    "held_because", "subjects", "held",
))  # fmt: skip


async def a_hostile_world(migrated: Path, folder: Path, clock: SettableClock) -> Path:
    """A file with events, prices, homes, a match and what went wrong, and an attack wherever one may stand."""
    file = Path(shutil.copy(migrated, folder / "tidemill.db"))
    url = f"sqlite:///{file}"
    await _shops(url, clock, folder)
    await _homes(url, clock)
    await _events_and_a_match(url, clock)
    make_hostile(file)
    return file


async def _shops(url: str, clock: SettableClock, folder: Path) -> None:
    market = Market(open_database(url), clock, folder)
    pages = [product_page(), product_page(sku="B", price="20.00"), product_page(price="0.00", sku="Z")]
    await market.shop("acme", pages, visibility="ELIGIBLE")
    await market.run("acme")
    await market.system.close()


async def _homes(url: str, clock: SettableClock) -> None:
    transport = HomesTransport(HomesWorld(7, NOON, 3, homes_each=10), clock)
    system = build(load_settings(database=url), clock=clock, dice=seeded_dice(), transport=transport)
    await system.actions.importer.source_entries(entries()[:2], "test")
    await system.worker.sign_in()
    await system.part(ListingsParts).markets.scrape("nyc", "test")
    while await system.make_drain().run("http") is not None:
        clock.advance(timedelta(seconds=2))
    await system.close()


OWN = 900_001
"""The first key of what no scrape brought in."""


async def _events_and_a_match(url: str, clock: SettableClock) -> None:
    system = build(load_settings(database=url), clock=clock)
    database = system.store.database
    await put(database, sources, a_source(OWN, name="Town hall", city="Haarlem", tags="north"))
    await put(database, targets, a_target(OWN, source_id=OWN, last_status="timeout", notes="note", created_by="ann"))
    ended = {"status": "PARTIAL", "completed_at": NOON, "error_message": "no answer", "error_code": "timeout"}
    await put(database, runs, a_run(OWN, source_id=OWN, **ended))
    around = {"run_id": OWN, "source_id": OWN, "target_id": OWN}
    failed = {"status": "dead", "current_stage": "dead_letter", "failure": "timeout", "last_error": "no answer"}
    keys = range(OWN, OWN + len(ATTACKS))
    await put(database, jobs, *(a_job(key, **around, **failed) for key in keys))
    letter = {"source_id": OWN, "target_id": OWN, "payload": {"url": "x", "title": "y"}, "error_stack": "Traceback"}
    await put(database, dead_letters, *(a_letter(key, **letter) for key in keys))
    rows = [
        an_event(key, f"Jazz {key}", clock.now() + timedelta(days=1, hours=key - OWN), source_id=OWN) for key in keys
    ]
    await put(database, events, *rows)
    await put(database, rejected_records, *(_rejected(key) for key in keys))
    await put(database, incidents, *(_incident(key) for key in keys))
    await put(database, source_candidates, *(_candidate(key) for key in keys))
    await system.actions.sources.disable("Town hall", "ann", "because")
    writer = TallyWriter(database, system.store.change_log, "matches")
    await writer.write("m1", match_state(5))
    await writer.write("m1", match_state(6))
    await system.worker.sign_in()
    await system.close()


def _rejected(key: int) -> dict[str, Any]:
    row: dict[str, Any] = {"id": key, "job_id": key, "run_id": OWN, "source_id": OWN, "page_id": key, "position": 0}
    row |= {"vertical": "events", "verdict": "quarantined", "reason": "no_place", "detail": "x", "created_at": NOON}
    return row | {
        "raw": {"title": "Jazz", "description": "long", "detail_url": "https://a.example/1"},
        "subject": str(key),
    }


def _incident(key: int) -> dict[str, Any]:
    row: dict[str, Any] = {"id": key, "alert": "dead_letters", "severity": "P2", "cause": f"cause {key}"}
    row |= {"detail": "many wait", "opened_at": NOON, "last_seen_at": NOON, "subjects": ["Town hall"]}
    return row


def _candidate(key: int) -> dict[str, Any]:
    url = f"https://c{key}.example"
    row: dict[str, Any] = {"id": key, "canonical_url": url, "url": url, "site": "c.example", "found_at": NOON}
    row |= {"place": "Haarlem", "title": "Agenda", "status": "pending", "method": "rules", "reasons": ["dates"]}
    return row | {"samples": [{"title": "Jazz", "starts": "2026-03-03"}]}


def make_hostile(file: Path) -> None:
    """Put an attack into every text of strangers, another one in each row, and a script where an address stands."""
    connection = sqlite3.connect(file)
    connection.create_function("attacked", 2, lambda key, _: ATTACKS[key % len(ATTACKS)] + f" {key}")
    connection.create_function("poisoned", 2, poisoned)
    for table, columns in _columns(connection):
        for name in columns:
            spoiled = _spoiled("raw" if (table, name) == ("audit_log", "detail") else name, name)
            if spoiled is not None and (table, name) not in KEPT:
                connection.execute(
                    f'UPDATE OR IGNORE "{table}" SET "{name}" = {spoiled} WHERE "{name}" IS NOT NULL'  # noqa: S608
                )
    for key, name in connection.execute("SELECT id, name FROM scraper_sources").fetchall():
        connection.execute("UPDATE scraper_sources SET name = ? WHERE id = ?", (f"{name} {ATTACKS[key % 3]}", key))
    connection.commit()
    connection.close()


KEPT = frozenset((("scraper_sources", "city"), ("municipalities", "region"), ("prices", "title")))


def _columns(connection: sqlite3.Connection) -> list[tuple[str, Sequence[str]]]:
    tables = [
        row[0]
        for row in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%WITHOUT ROWID%'"
        )
    ]
    own = [each for each in tables if "_text" not in each and each not in {"alembic_version", "sqlite_stat1"}]
    written = {"TEXT", "BLOB"}
    return [
        (each, [row[1] for row in connection.execute(f'PRAGMA table_info("{each}")') if row[2] in written])
        for each in own
    ]


def _spoiled(kind: str, name: str) -> str | None:
    """The SQL of what takes a column's place; None for what we write ourselves."""
    if kind in JSON_COLUMNS:
        return f'poisoned(rowid, "{name}")'
    if name in STRANGERS:
        return f'attacked(rowid, "{name}")'
    return f"'{BAD_ADDRESS.replace(chr(39), chr(39) * 2)}' || rowid" if name in ADDRESSES else None


def poisoned(key: int, stored: Any) -> Any:
    """JSON with an attack in every text of strangers; anything else as it is."""
    if not isinstance(stored, str | bytes):
        return stored
    try:
        value = json.loads(stored)
    except ValueError:
        return stored
    spoiled = json.dumps(_poison(value, ATTACKS[key % len(ATTACKS)], ""))
    return spoiled.encode() if isinstance(stored, bytes) else spoiled


def _poison(value: Any, attack: str, key: str) -> Any:
    if isinstance(value, dict):
        return {name: _poison(each, attack, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_poison(each, attack, key) for each in value]
    if not isinstance(value, str) or not value or key not in FREE_KEYS | {"url", ""}:
        return value
    return BAD_ADDRESS if "url" in key or key in {"link", "image"} else attack
