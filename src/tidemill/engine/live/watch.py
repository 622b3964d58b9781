"""A watch in memory: its thing, its life, the vertical's memory of it, and the pages that are polled."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

import msgspec
import xxhash

from tidemill.core.breaker import Breaker
from tidemill.core.health.contexts import NO_USAGE, ContextUsage, ScraperContext, context_of
from tidemill.core.job import Job
from tidemill.core.live.budget import debt_of
from tidemill.core.live.change import Fence, State, ThingKey
from tidemill.core.live.lifecycle import Life, Lifecycle
from tidemill.core.live.polling import LiveUrgency, PollHistory, interval_for, urgency_of
from tidemill.core.live.rules import ListReading, LiveRules, LiveSite, Outlook, Phase
from tidemill.core.live.status import PageStatus
from tidemill.core.live.timeouts import AdaptiveTimeout
from tidemill.core.snapshots.changes import encode_state
from tidemill.engine.live.options import LaneOptions
from tidemill.pipeline.checkpoints import Claimed
from tidemill.pipeline.dependencies import CurrentState
from tidemill.pipeline.live_ports import ClaimedWatch, PageCheck, WatchCounts, WatchedPage
from tidemill.pipeline.ports import OpenPage

_HOUR = timedelta(hours=1)
_NO_TIME = timedelta(0)
_LIST_OUTLOOK = Outlook(Phase.IN_PLAY)
_OVER = Outlook(Phase.COMPLETED)


class PageQueue(Protocol):
    """Where a page waits to be due."""

    def queue(self, page: "PolledPage") -> None:
        """Put a page in line for the moment at which it is due."""
        ...


class PolledPage:
    """One page of a watch, as this process polls it."""

    def __init__(self, watch: "Watch", page: WatchedPage, options: LaneOptions, now: datetime) -> None:
        """The first poll is due at once."""
        self.watch = watch
        self.site = page.site
        self.missed_lists = page.missed_lists
        self.claimed = page.claimed
        self.host = page.claimed.target.host
        self.target_id = page.claimed.target.id
        self.source_id = page.claimed.source.id
        self._own_timeout = page.claimed.source.timeout
        self._usual = options.timeouts.usual if self._own_timeout is None else self._own_timeout
        self._limits = options.contexts
        self.needs_browser = False
        self.gone = False
        self.line: PageQueue | None = None
        self.due_at = now
        self.started_at = now
        self.checked_at = page.checked_at
        self.changed_at = page.changed_at
        self.in_flight = False
        self.has_moved = False
        self.waits_for = ""
        self.polls = self.changes = self.ignored = self.failures = self.total_failures = self.restarts = 0
        self.errors_at_start = 0
        self.latency: timedelta | None = None
        self.interval = options.polling.in_play
        self._noted = (0, 0, 0, 0)
        self.forget_troubles()
        self.scraper_id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{watch.job.id}/{self.target_id}/{now.isoformat()}"))

    def forget_troubles(self) -> None:
        """Begin with the usual time-out and no errors on record."""
        self.history = PollHistory()
        self.timeout = AdaptiveTimeout(self._usual)
        self.tries = 0
        self.scrape_began: datetime | None = None

    @property
    def is_list(self) -> bool:
        """Whether this is the page of a list."""
        return self.watch.thing is None

    @property
    def may_be_early(self) -> bool:
        """Whether it may be polled a moment before it is due: it waits for its interval, and for nothing else."""
        return not self.failures and not self.waits_for and not self.watch.is_paused

    @property
    def breaker(self) -> Breaker:
        """The breaker of its source, as last seen."""
        return self.claimed.breaker

    def be_due(self, at: datetime) -> None:
        """Be due at another moment; a poll that is under way is not disturbed."""
        self.due_at = at
        if self.line is not None and not self.in_flight and not self.gone:
            self.line.queue(self)

    def take_state(self, state: CurrentState) -> None:
        """Go on with how source, target and breaker stand now; what was read last stays what it is compared with."""
        target = msgspec.structs.replace(
            self.claimed.target, enabled=state.target.enabled, robots_path_blocked=state.target.robots_path_blocked
        )
        self.claimed = msgspec.structs.replace(
            self.claimed, source=state.source, target=target, breaker=state.breaker
        )  # fmt: skip

    def read_well(self, etag: str, last_modified: str, digest: int, reader: str) -> None:
        """Compare the next answer with this one."""
        target = msgspec.structs.replace(
            self.claimed.target,
            etag=etag,
            last_modified=last_modified,
            good_digest=digest,
            good_reader=reader,
            good_page_id=0,
        )
        self.claimed = msgspec.structs.replace(self.claimed, target=target)

    def read_badly(self) -> None:
        """Ask for the whole page the next time: what was answered last could not be read."""
        if self.claimed.target.good_page_id is not None:
            target = msgspec.structs.replace(self.claimed.target, etag="", last_modified="", good_page_id=None)
            self.claimed = msgspec.structs.replace(self.claimed, target=target)

    def next_try(self, longest: timedelta, now: datetime) -> Claimed:
        """Return the page with the time-out of the next try: what is left of the scrape, at most its own."""
        if self.tries == 0 or self.scrape_began is None:
            self.tries, self.scrape_began = 0, now
        limit = min(self.timeout.limit, max(timedelta(seconds=1), longest - (now - self.scrape_began)))
        source = self.claimed.source
        keep_open = OpenPage(self.scraper_id, self.restarts) if self.needs_browser else None
        if source.timeout == limit and self.claimed.keep_open == keep_open:
            return self.claimed
        source = msgspec.structs.replace(source, timeout=limit)
        self.claimed = msgspec.structs.replace(self.claimed, source=source, keep_open=keep_open)
        return self.claimed

    def outlook(self) -> Outlook:
        """Return how its thing stands, for polling."""
        if self.watch.life is None:
            return _LIST_OUTLOOK
        return _OVER if self.watch.life.state is Lifecycle.COMPLETED else self.watch.outlook

    def urgency(self, now: datetime) -> LiveUrgency:
        """Return its class."""
        return urgency_of(self.outlook(), now)

    def wanted_interval(self, options: LaneOptions, now: datetime) -> timedelta:
        """Return how long until the next poll."""
        polling = options.polling
        if self.is_list:
            polling = msgspec.structs.replace(polling, in_play=self.watch.list_interval, busy=self.watch.list_interval)
        return interval_for(self.outlook(), self.history, polling, now)

    def debt(self, now: datetime) -> timedelta:
        """Return how much longer than its interval it has gone unchecked."""
        if self.watch.is_paused:
            return _NO_TIME
        return debt_of(self.checked_at, self.started_at, self.interval, now)

    def status(self, now: datetime) -> PageStatus:
        """Return how it stands, for people."""
        life = self.watch.life
        return PageStatus(
            scraper_id=self.scraper_id,
            thing=self.watch.thing,
            source_id=self.source_id,
            source=self.claimed.source.name,
            target_id=self.target_id,
            url=self.claimed.target.url,
            job_id=self.watch.job.id,
            started_at=self.started_at,
            phase=self.outlook().phase,
            lifecycle=life.state if life else Lifecycle.ACTIVE,
            interval=self.interval,
            checked_at=self.checked_at,
            changed_at=self.changed_at,
            failures=self.failures,
            total_failures=self.total_failures,
            polls=self.polls,
            changes=self.changes,
            ignored=self.ignored,
            latency=self.latency,
            timeout=self.timeout.limit,
            paused_until=life.paused_until if life else None,
            debt=self.debt(now),
            needs_browser=self.needs_browser,
        )

    def context(self, now: datetime, browser: ContextUsage = NO_USAGE) -> ScraperContext:
        """Return it as a scraper context; `browser` is what the browser takes, if the page needs one."""
        return context_of(
            self.status(now), browser if self.needs_browser else NO_USAGE, self._limits,
            errors_at_start=self.errors_at_start, restarts=self.restarts,
        )  # fmt: skip

    def restart(self, now: datetime) -> None:
        """Begin anew: no errors on record, the usual time-out, the whole page at once. Times and totals stay."""
        self.forget_troubles()
        self.read_badly()
        self.started_at = now
        self.errors_at_start = self.failures
        self.restarts += 1
        self.be_due(now)

    def check(self, now: datetime) -> PageCheck:
        """Return what is to be written about it, counted since the last time."""
        before, self._noted = self._noted, (self.polls, self.changes, self.ignored, self.total_failures)
        polls, changes, ignored, failed = (new - old for new, old in zip(self._noted, before, strict=True))
        return PageCheck(
            fence=self.watch.fence,
            thing_id=self.watch.thing_id,
            target_id=self.target_id,
            source_id=self.source_id,
            checked_at=self.checked_at,
            changed_at=self.changed_at,
            interval=self.interval,
            debt=self.debt(now),
            polls=polls,
            changes=changes,
            ignored=ignored,
            failures=self.failures,
            failed=failed,
        )


class Watch:
    """One thing, or one list, that this process watches for an hour; the next hour goes on with the same memory."""

    def __init__(self, claimed: ClaimedWatch, rules: LiveRules, options: LaneOptions, now: datetime) -> None:
        """Begin from what is published, or from nothing."""
        self.job = claimed.job
        self.fence = claimed.fence
        self.ends_at = claimed.due_at.replace(minute=0, second=0, microsecond=0) + _HOUR
        self.thing_id = claimed.thing_id
        self.thing: ThingKey | None = claimed.thing
        self.life: Life | None = claimed.life
        self.outlook = claimed.outlook or Outlook(Phase.UNKNOWN)
        self.rules = rules
        self.counts = WatchCounts()
        self.list_interval = options.polling.lists
        self.hints: dict[str, str] = {}
        self.last_list: ListReading | None = None
        self.is_over = False
        self.last_tried = 0
        published = claimed.published
        self.state: State | None = published.state if published else None
        self.checksum = encode_state(published.state).checksum if published else ""
        self.seq = published.seq if published else 0
        self.pages = [PolledPage(self, page, options, now) for page in claimed.pages]
        self.memory: Any = rules.begin(claimed.thing.key, published, self.sites()) if claimed.thing else None

    def sites(self) -> list[LiveSite]:
        """Return the sites that tell of the thing."""
        return [page.site for page in self.pages if page.site is not None]

    @property
    def is_paused(self) -> bool:
        """Whether the thing is left alone for a while."""
        return self.life is not None and self.life.state is Lifecycle.PAUSED

    @property
    def missed_lists(self) -> int:
        """How many lists in a row missed the thing on every site that tells of it."""
        return min((page.missed_lists for page in self.pages), default=0)

    def go_on(self, job: Job, ends_at: datetime) -> None:
        """Go on with the next hour's job."""
        self.job, self.fence, self.ends_at = job, Fence(job.id, job.fence), ends_at
        self.counts = WatchCounts()
        for page in self.pages:
            old = page.claimed.job
            at_page = msgspec.structs.replace(
                job, source_id=old.source_id, target_id=old.target_id, host=old.host, url=old.url
            )
            page.claimed = msgspec.structs.replace(page.claimed, job=at_page)

    def take_pages(self, pages: Sequence[WatchedPage], options: LaneOptions, now: datetime) -> list[PolledPage]:
        """Poll these pages from now on; return the new ones. Pages that are left out are gone."""
        known = {page.target_id: page for page in self.pages}
        fresh = [
            PolledPage(self, each, options, now) for each in pages if each.claimed.target.id not in known
        ]  # fmt: skip
        kept = {each.claimed.target.id for each in pages}
        for page in self.pages:
            page.gone = page.target_id not in kept
        self.pages = [page for page in self.pages if not page.gone] + fresh
        if self.thing is not None:
            self.memory = self.rules.with_sites(self.memory, self.sites())
        return fresh

    def token(self, number: int, at: datetime) -> int:
        """Return a number that no other entry has: of this watch, in this order, at this moment."""
        text = f"{self.thing_id}/{self.job.id}/{self.fence.fence}/{number}/{at.isoformat()}"
        return xxhash.xxh3_64_intdigest(text.encode()) >> 1
