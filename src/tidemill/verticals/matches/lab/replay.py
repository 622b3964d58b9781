"""A match replayed without the engine: sites, adapters, rules and the entries of the log, in virtual time."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.live.change import Change, Published
from tidemill.core.live.rules import THING_ROLE, LiveSite, Telling, Told, ToldNothing, ToldSame
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.snapshots.patches import diff
from tidemill.core.source import Source
from tidemill.core.vertical import Context
from tidemill.lab.messages import Behaviour, LabRequest, LabResponse
from tidemill.verticals.matches.lab.sites import BOARD, PRECEDENCE, SITES, MatchSites, match_path, site_id
from tidemill.verticals.matches.lab.timeline import TrueMatch
from tidemill.verticals.matches.lab.view import state_number
from tidemill.verticals.matches.rules import LIVE_RULES
from tidemill.verticals.matches.sources import ADAPTERS

EVERY = timedelta(seconds=2.5)
_ADAPTERS = dict(zip(SITES, ("matches.feed", "matches.embedded", "matches.scoreboard"), strict=True))
_FAILURES = {401: Failure.FORBIDDEN, 404: Failure.NOT_FOUND, 429: Failure.RATE_LIMITED}
_SERVER_ERRORS = 500
_BEHAVIOURS = {
    Behaviour.HANG: Failure.TIMED_OUT,
    Behaviour.REFUSE: Failure.CONNECTION_LOST,
    Behaviour.CUT: Failure.TRUNCATED_BODY,
    Behaviour.DRIP: Failure.TIMED_OUT,
}


class ReplayedEntry(msgspec.Struct, frozen=True):
    """An entry of the log as the replay would commit it."""

    at: datetime
    change: Change
    patch: Mapping[str, Any]


class ReplayOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a replay brought about: the log, what was counted as ignored, and the rows of the vertical."""

    entries: Sequence[ReplayedEntry]
    ignored: Mapping[str, int]
    rows: Sequence[Any]
    failures: Mapping[str, int]
    tellings: int
    state: Mapping[str, Any]
    phase: str


class SiteReader:
    """Reads one site's page of one match, again and again; an unchanged page is not read."""

    def __init__(self, host: str, match: TrueMatch, sites: MatchSites) -> None:
        """Read the page of `match` at `host`."""
        self.site = LiveSite(
            source_id=SITES.index(host) + 1, source=host.partition(".")[0], source_key=site_id(host, match),
            precedence=PRECEDENCE[host],
        )  # fmt: skip
        self._host = host
        self._match = match
        self._sites = sites
        self._adapter = ADAPTERS[_ADAPTERS[host]]
        self._path = match_path(host, self.site.source_key)
        self._source = Source(
            id=self.site.source_id, name=self.site.source, vertical="matches", base_url=f"https://{host}",
            adapter_id=self._adapter.id,
        )  # fmt: skip
        self._shown: tuple[Any, ...] | None = None
        self._last: bytes | None = None
        self._is_readable = False

    def begin_anew(self) -> None:
        """Know of no page any more, as a process that takes a watch over."""
        self._shown, self._last, self._is_readable = None, None, False

    def tell(self, at: datetime) -> Telling:
        """Return what the site tells now."""
        scheduled = self._sites.scheduled(self._host, at)
        names = tuple(each.kind for each in scheduled)
        shown = (state_number(self._match, at, scheduled), names)
        if shown == self._shown and self._is_readable:
            return ToldSame(self.site, at)
        answer = self._sites.respond(LabRequest(self._host, self._path), (), at)
        failure = _failure(answer)
        self._is_readable = failure is None
        if failure is not None:
            self._shown = None
            return ToldNothing(self.site, at, failure)
        body = self._drawn(answer, at)
        if body == self._last:
            self._shown = shown
            return ToldSame(self.site, at)
        told = self._read(body, answer.headers.get("content-type", ""), at)
        self._is_readable = isinstance(told, Told)
        if isinstance(told, Told):
            self._shown, self._last = shown, body
        return told

    def _drawn(self, answer: LabResponse, at: datetime) -> bytes:
        """The page as it is read: of the board, what a browser has after the script has run."""
        if self._host != BOARD or b"board.js" not in answer.body:
            return answer.body
        scheduled = self._sites.scheduled(self._host, at)
        drawn, _ = self._sites.page(self._host, self._path, at, scheduled, drawn=True)
        return drawn or b""

    def _read(self, body: bytes, kind: str, at: datetime) -> Telling:
        url = f"https://{self._host}{self._path}"
        page = Page(
            id=1, url=url, final_url=url, status_code=200, body=body, charset="utf-8", content_type=kind, digest=0,
            fetched_at=at,
        )  # fmt: skip
        context = Context(self._source, url, at, {"live": THING_ROLE})
        found = self._adapter.read(page, context)
        reading = found if isinstance(found, Fail) else LIVE_RULES.read_thing(found, context)
        if isinstance(reading, Fail):
            return ToldNothing(self.site, at, reading.failure)
        return Told(self.site, at, reading)


def replay(
    match: TrueMatch,
    sites: MatchSites,
    *,
    hosts: Sequence[str] = SITES,
    every: timedelta = EVERY,
    restart_every: timedelta | None = None,
) -> ReplayOutcome:
    """Let sites tell a match from its announcement to ten minutes after its end.

    With `restart_every` the memory is thrown away now and then, and the watch begins anew from what is stored.
    """
    readers = [SiteReader(host, match, sites) for host in hosts]
    memory = LIVE_RULES.begin(match.played.id, None, [reader.site for reader in readers])
    entries: list[ReplayedEntry] = []
    ignored: dict[str, int] = {}
    failures: dict[str, int] = {}
    rows: list[Any] = []
    state: Mapping[str, Any] = {}
    begun = match.moments[0].at
    tellings = 0
    for at, reader in _polls(match, readers, every):
        if restart_every is not None and at - begun >= restart_every and state:
            begun = at
            published = Published(state=state, seq=len(entries), changed_at=entries[-1].at)
            memory = LIVE_RULES.begin(match.played.id, published, [each.site for each in readers])
            for each in readers:
                each.begin_anew()
        telling = reader.tell(at)
        tellings += 1
        if isinstance(telling, ToldNothing):
            failures[telling.failure.value] = failures.get(telling.failure.value, 0) + 1
        merged = LIVE_RULES.merge(memory, telling)
        memory = merged.memory
        rows += merged.rows
        if merged.ignored:
            ignored[merged.ignored] = ignored.get(merged.ignored, 0) + 1
        if merged.change is not None:
            entries.append(ReplayedEntry(at, merged.change, diff(state, merged.change.state)))
            state = merged.change.state
    return ReplayOutcome(
        entries=entries, ignored=ignored, rows=rows, failures=failures, tellings=tellings, state=state,
        phase=LIVE_RULES.outlook(memory).phase.value,
    )  # fmt: skip


def _polls(match: TrueMatch, readers: Sequence[SiteReader], every: timedelta) -> Iterator[tuple[datetime, SiteReader]]:
    at, end = match.moments[0].at, match.ends_at + timedelta(minutes=10)
    offset = every / len(readers)
    while at < end:
        for place, reader in enumerate(readers):
            yield at + offset * place, reader
        at += every


def _failure(answer: LabResponse) -> Failure | None:
    if answer.behaviour is not Behaviour.NORMAL:
        return _BEHAVIOURS[answer.behaviour]
    if answer.status >= _SERVER_ERRORS:
        return Failure.SERVER_ERROR
    return _FAILURES.get(answer.status)
