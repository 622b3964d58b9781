"""Read a page by hand as a job would: adapter, then rules, record by record."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from tidemill.bootstrap.verticals import VERTICALS
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import RawRecord
from tidemill.core.source import Source
from tidemill.core.urls import host_of
from tidemill.core.verdict import Accepted
from tidemill.core.vertical import Context, Vertical, unknown_adapter
from tidemill.interop.adapter_table import scheme_of
from tidemill.operations.mistakes import Mistake, NotFound, unknown_name
from tidemill.pipeline.page_reading import read_with_adapter

MAX_SELECTORS_BYTES = 1_000_000


class JudgedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One raw record with its verdict."""

    verdict: str
    reason: str
    detail: str
    identity: str
    record: Any
    raw: RawRecord


class PageReading(msgspec.Struct, frozen=True, kw_only=True):
    """What was read from a page; `failure` says why it could not be read."""

    url: str
    adapter: str
    failure: str | None = None
    detail: str = ""
    declared_empty: bool = False
    total: int | None = None
    next_url: str | None = None
    follow: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    records: tuple[JudgedRecord, ...] = ()


def find_vertical(name: str) -> Vertical:
    """Return the vertical by that name; raise NotFound if there is none."""
    if name not in VERTICALS:
        raise NotFound(unknown_name("vertical", name, VERTICALS))
    return VERTICALS[name]


def vertical_of(adapter: str | None, otherwise: str) -> Vertical:
    """Return the vertical that has this adapter; the usual one if no adapter is named or known."""
    if adapter is None:
        return VERTICALS[otherwise]
    owner = next((each for each in VERTICALS.values() if adapter in each.adapters), None)
    if owner is None:
        names = [name for each in VERTICALS.values() for name in each.adapters]
        raise NotFound(unknown_adapter(adapter, VERTICALS[otherwise].adapters if scheme_of(adapter) else names))
    return owner


def trial_source(
    vertical: Vertical,
    adapter: str | None,
    selectors: Mapping[str, Any],
    *,
    url: str = "",
    city: str = "",
    time_zone: str = "Europe/Amsterdam",
    language: str = "nl",
) -> Source:
    """Return a source that exists only for this reading."""
    chosen = adapter or default_adapter(vertical, by_selectors=bool(selectors))
    if chosen not in vertical.adapters:
        raise NotFound(unknown_adapter(chosen, vertical.adapters))
    settings = {"selectors": dict(selectors)} if selectors else {}
    return Source(
        id=0,
        name=host_of(url) if url else "try",
        vertical=vertical.name,
        base_url=url,
        adapter_id=chosen,
        adapter_settings=settings,
        city=city,
        time_zone=time_zone,
        language=language,
    )


def default_adapter(vertical: Vertical, *, by_selectors: bool) -> str:
    """Return the adapter that reads any site: the one for selectors where some are given, else the vertical's first."""
    made_for_them = (f"{vertical.name}.{name}" for name in ("selectors", "template"))
    wanted = next((name for name in made_for_them if name in vertical.adapters), None) if by_selectors else None
    return wanted or next(iter(vertical.adapters))


def read_selectors(given: str) -> dict[str, Any]:
    """Return selectors from JSON or from a file of JSON."""
    if not given:
        return {}
    text = given
    if not given.lstrip().startswith("{"):
        with Path(given).open("rb") as file:
            text = file.read(MAX_SELECTORS_BYTES).decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except ValueError as error:
        msg = f"the selectors are not JSON: {error}"
        raise Mistake(msg) from error
    if not isinstance(found, dict):
        msg = 'the selectors are an object, such as {"item": ".event", "title": "h3"}'
        raise Mistake(msg)
    return found


def read_page(page: Page, vertical: Vertical, source: Source, now: datetime) -> PageReading:
    """Read the page and judge every record on it."""
    context = Context(source, page.final_url or page.url, now)
    adapter = vertical.adapters[source.adapter_id]
    name = f"{adapter.id} {adapter.version}"
    reading = read_with_adapter(adapter, page, context)
    if isinstance(reading, Fail):
        return PageReading(url=page.url, adapter=name, failure=reading.failure, detail=reading.detail)
    return PageReading(
        url=page.url,
        adapter=name,
        declared_empty=reading.declared_empty,
        total=reading.total,
        next_url=reading.next_url,
        follow=tuple(reading.follow),
        notes=tuple(reading.notes),
        records=tuple(judge_record(raw, vertical, context) for raw in reading.records),
    )


def judge_record(raw: RawRecord, vertical: Vertical, context: Context) -> JudgedRecord:
    """Return one record with its verdict."""
    verdict = vertical.judge(raw, context)
    if isinstance(verdict, Accepted):
        return JudgedRecord(
            verdict="accepted", reason="", detail="", identity=verdict.identity, record=verdict.record, raw=raw
        )
    name = type(verdict).__name__.lower()
    return JudgedRecord(verdict=name, reason=verdict.reason, detail=verdict.detail, identity="", record=None, raw=raw)
