"""Rows to test with: as few words as possible for a page, a job or a letter."""

import gzip
from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

from sqlalchemy import Table, insert

from rig.clock import NOON
from tidemill.store.database.database import Database
from tidemill.store.pages.bodies import Bodies, Body, body_key
from tidemill.store.schema import pages, runs, sources, targets

TEXT = """
    jazz festival orgel concert theater markt lezing museum wandeling film avond kinderen park plein kerk zaal gratis
    kaarten aanvang uitverkocht programma gezelschap première dans workshop literatuur expositie opening zomer winter
"""
WORDS = TEXT.split()


async def put(database: Database, table: Table, *rows: dict[str, Any]) -> None:
    async with database.write() as connection:
        await connection.execute(insert(table), list(rows))


def a_source(key: int = 1, **other: Any) -> dict[str, Any]:
    row = {"id": key, "name": f"source {key}", "vertical": "events", "base_url": "https://a.example"}
    return row | {"adapter_id": "events.generic", "created_at": NOON, "updated_at": NOON} | other


def a_target(key: int = 1, **other: Any) -> dict[str, Any]:
    url = f"https://a.example/{key}"
    row = {"id": key, "source_id": 1, "url": url, "canonical_url": url, "host": "a.example"}
    return row | {"adapter_id": "events.generic", "created_at": NOON, "updated_at": NOON} | other


def a_run(key: int = 1, **other: Any) -> dict[str, Any]:
    row = {"id": key, "source_id": 1, "vertical": "events", "adapter_id": "events.generic", "trigger": "SCHEDULED"}
    return row | {"status": "SUCCESS", "open_jobs": 0, "started_at": NOON} | other


def a_job(key: int, **other: Any) -> dict[str, Any]:
    row = {"id": key, "run_id": 1, "source_id": 1, "target_id": 1, "vertical": "events", "adapter_id": "events.generic"}
    row |= {"lane": "http", "host": "a.example", "url": "https://a.example/1", "trigger": "SCHEDULED"}
    row |= {"due_at": NOON + timedelta(minutes=key), "status": "done", "current_stage": "completed"}
    return row | {"page_id": None, "created_at": NOON, "completed_at": NOON} | other


def a_letter(key: int, **other: Any) -> dict[str, Any]:
    row = {"id": key, "job_id": key, "source_id": 1, "target_id": 1, "stage": "fetch", "error_type": "timeout"}
    row |= {"error_message": "no answer", "payload": {}, "status": "pending", "created_at": NOON, "updated_at": NOON}
    return row | {"resolved_at": None} | other


def a_page(key: int, content: bytes, at: datetime, **other: Any) -> dict[str, Any]:
    row = {"id": key, "job_id": key, "source_id": 1, "target_id": 1, "url": "https://a.example/1", "headers": {}}
    row |= {"final_url": "https://a.example/1", "status_code": 200, "content_type": "text/html", "charset": "utf-8"}
    row |= {"fetcher_used": "http", "fetch_duration_ms": 5, "content_hash": 1, "failure": None}
    return row | {"body_key": body_key(wire_of(content)), "body_length": len(content), "created_at": at} | other


def wire_of(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


async def keep_pages(
    database: Database, bodies: Bodies, contents: Sequence[bytes], rows: Sequence[dict[str, Any]]
) -> None:
    """Keep pages with their bodies, as the ledger does: in one transaction."""
    async with database.write() as connection:
        wires = [wire_of(content) for content in contents]
        await bodies.put(connection, [Body(body_key(wire), wire, "gzip") for wire in wires])
        await connection.execute(insert(pages), list(rows))


async def content_of(database: Database, bodies: Bodies, content: bytes) -> bytes | None:
    key = body_key(wire_of(content))
    async with database.read() as connection:
        return (await bodies.get(connection, [key])).get(key)


async def the_usual(database: Database) -> None:
    """One source with one target and one run."""
    await put(database, sources, a_source())
    await put(database, targets, a_target())
    await put(database, runs, a_run())


def changing_pages(count: int, seed: int = 7) -> list[bytes]:
    """An agenda of some 30 KB on consecutive days: each day a few events go, and as many come."""
    dice = Random(seed)  # noqa: S311 - repeatable on purpose, guards nothing
    events = [_event(dice) for _ in range(60)]
    found = []
    for day in range(count):
        events = [*events[2:], _event(dice), _event(dice)]
        found.append(f"<html><head><title>Dag {day}</title></head>{''.join(events)}</html>".encode())
    return found


def _event(dice: Random) -> str:
    key = dice.randrange(10**9)
    text = " ".join(dice.choices(WORDS, k=45))
    return (
        f'<article class="event" data-id="{key}"><h2><a href="/event/{key}">{text[:40]}</a></h2>'
        f'<time datetime="2026-{dice.randrange(1, 13):02}-{dice.randrange(1, 29):02}T20:00">20:00</time><p>{text}</p>'
        f"</article>\n"
    )
