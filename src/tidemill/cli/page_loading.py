"""Load a page by hand: through every gate, from a file, or from the store."""

import mimetypes
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
import xxhash

from tidemill.bootstrap.fetchers import build_fetchers
from tidemill.bootstrap.migrations import require_current
from tidemill.bootstrap.system import System, build
from tidemill.cli.system_opening import refuse_if_absent
from tidemill.core.failure import Failure
from tidemill.core.gates import Gate, GateAnswer, GateDecision, allow, breaker_closed, switch_gates
from tidemill.core.pacing import Pace
from tidemill.core.page import Page
from tidemill.core.source import FetcherKind
from tidemill.core.urls import normalize, registrable_domain
from tidemill.core.vertical import fetcher_for
from tidemill.engine.clock import RealClock
from tidemill.fetching.charset import charset_of
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.ports import Fetcher, FetchRequest, FetchResult, FetchStatus, StoreError
from tidemill.settings import Settings
from tidemill.store.database.database import open_database

MAX_FILE_BYTES = 50_000_000
"""Bytes; no agenda is larger."""
BROWSER_NEEDS_DATABASE = "a browser is kept with a database, which says what became of it; `tidemill migrate` makes one"


def is_url(text: str) -> bool:
    """Whether the text is an address rather than a file."""
    return text.startswith(("http://", "https://"))


class Attempt(NamedTuple):
    """One fetch by hand: each gate's answer, in order, and the result."""

    gates: list[GateAnswer]
    result: FetchResult


async def fetch_page(settings: Settings, url: str, *, browser: bool = False) -> FetchResult:
    """Fetch one page through every gate, as a job would."""
    return (await attempt_fetch(settings, url, browser=browser)).result


async def attempt_fetch(settings: Settings, url: str, *, browser: bool = False) -> Attempt:
    """Fetch one page by hand as its source's jobs do, but free of charge, with every gate's answer.

    Where there is a database, its pace holds and the request counts, so that a person at a terminal and the running
    system are never too many together. Switches and breakers are shown and hold back jobs only; compliance,
    robots.txt, pace and guard hold back people too.
    """
    address = normalize(url)
    if not await has_database(settings):
        if browser:
            raise Mistake(BROWSER_NEEDS_DATABASE)
        gates = [allow(Gate.SOURCE, "there is no database here, so no source either: fetched by hand")]
        fetcher = build_fetchers(settings, RealClock(), None)[FetcherKind.HTTP]
        try:
            return await _fetch_if_compliant(fetcher, _request(address, gates), gates)
        finally:
            await fetcher.close()
    system = build(settings)
    try:
        gates, request, kind = await _terms_from_store(system, address)
        return await _fetch_if_compliant(system.fetchers[FetcherKind.BROWSER if browser else kind], request, gates)
    finally:
        await system.close()


async def has_database(settings: Settings) -> bool:
    """Whether there is a database with its tables; looking does not create one."""
    try:
        refuse_if_absent(settings)
    except Mistake:
        return False
    database = open_database(settings.database.get_secret_value())
    try:
        await require_current(database)
    except StoreError:
        return False
    finally:
        await database.close()
    return True


async def _terms_from_store(system: System, address: str) -> tuple[list[GateAnswer], FetchRequest, FetcherKind]:
    """Return the gates' answers on the target with this address, the request on its source's terms, and the fetcher."""
    try:
        target = await system.actions.targets.find(address)
    except Mistake:
        gates = [allow(Gate.SOURCE, "no source has this address: fetched by hand")]
        pace = await system.store.rate_limits.pace_of(registrable_domain(address))
        return gates, _request(address, gates, pace), FetcherKind.HTTP
    present = await system.store.current_state.current(target.source_id, target.id)
    if present is None:
        msg = f"{address} was removed just now"
        raise Mistake(msg)
    source, vertical = present.source, system.verticals.get(present.source.vertical)
    policy = vertical.policy if vertical is not None else None
    gates = [*switch_gates(source, present.target, policy, is_manual=True)]
    gates.append(breaker_closed(present.breaker, RealClock().now()))
    request = _request(address, gates, await system.store.rate_limits.pace_of(target.host))
    terms = {"host": target.host, "headers": source.headers, "options": source.adapter_settings}
    kind = fetcher_for(source, vertical.adapters.get(target.adapter_id) if vertical is not None else None)
    free = kind if kind in {FetcherKind.HTTP, FetcherKind.BROWSER} else FetcherKind.HTTP
    return gates, msgspec.structs.replace(request, **terms), free


def _request(address: str, gates: list[GateAnswer], pace: Pace | None = None) -> FetchRequest:
    host = registrable_domain(address)
    return FetchRequest(url=address, host=host, pace=pace or Pace(), on_gate_answer=gates.append)


async def _fetch_if_compliant(fetcher: Fetcher, request: FetchRequest, gates: list[GateAnswer]) -> Attempt:
    """Fetch, unless compliance forbids the source altogether."""
    refusal = next((one for one in gates if one.gate is Gate.COMPLIANCE and one.verdict is not GateDecision.GO), None)
    if refusal is None:
        return Attempt(gates, await fetcher.fetch(request))
    refused = FetchResult(
        status=FetchStatus.ERROR, url=request.url, failure=refusal.failure, error=f"{refusal.gate}: {refusal.words}"
    )
    return Attempt(gates, refused)


ALLOW_HINT = 'write allow_networks = ["127.0.0.0/8"] in tidemill.toml to let it through'


def page_of(result: FetchResult, now: datetime) -> Page:
    """Return the fetched page; raise Mistake if the fetch failed."""
    if result.failure is not None:
        hint = f"; {ALLOW_HINT}" if result.failure is Failure.ADDRESS_REFUSED else ""
        msg = f"{result.url} cannot be had: {result.failure} ({result.error or result.status_code}){hint}"
        raise Mistake(msg)
    return Page(
        id=0,
        url=result.url,
        final_url=result.final_url or result.url,
        status_code=result.status_code,
        body=result.body,
        charset=result.charset,
        content_type=result.content_type,
        digest=result.digest,
        fetched_at=result.requested_at or now,
    )


def page_from_file(file: Path, url: str, now: datetime) -> Page:
    """Return a saved page; links on it are relative to `url`."""
    if not file.exists():
        msg = f"there is no file {file}; an address begins with http:// or https://"
        raise Mistake(msg)
    if file.stat().st_size > MAX_FILE_BYTES:
        msg = f"{file} is larger than {MAX_FILE_BYTES // 1_000_000} MB"
        raise Mistake(msg)
    body = file.read_bytes()
    kind = mimetypes.guess_type(file.name)[0] or "text/html"
    return Page(
        id=0,
        url=url,
        final_url=url,
        status_code=200,
        body=body,
        charset=charset_of(body, kind),
        content_type=kind,
        digest=xxhash.xxh3_64_intdigest(body),
        fetched_at=now,
    )
