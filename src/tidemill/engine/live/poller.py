"""One poll: a page is asked for through the gates of `pipeline.fetch`, read, and merged into its thing."""

import traceback
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidemill.core.breaker import Closed
from tidemill.core.failure import MEANING, Failure
from tidemill.core.health.failed_tries import FailedTry, ResolutionMethod
from tidemill.core.live.change import Change, ChangeKind
from tidemill.core.live.lifecycle import Life, Move, after_failure, after_reading
from tidemill.core.live.polling import after_error, after_poll
from tidemill.core.live.reachability import Reachability, after_asking, is_our_network_away
from tidemill.core.live.rules import ListReading, Merged, Outlook, Told, ToldNothing, ToldSame
from tidemill.core.live.site_failures import SiteFailures, after_good_reading, counts_against_site
from tidemill.core.live.timeouts import after_answer
from tidemill.core.outcome import Advance, Fail, Outcome, Snooze
from tidemill.core.retry import next_wait
from tidemill.core.snapshots.canonical import BadState
from tidemill.core.snapshots.changes import encode_state
from tidemill.core.vertical import Context
from tidemill.engine.live.host_line import HostLine
from tidemill.engine.live.options import LaneOptions
from tidemill.engine.live.watch import PolledPage, Watch
from tidemill.engine.live.writer import LiveWriter
from tidemill.pipeline.checkpoints import Claimed, Fetched, Unchanged
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.fetch import adapter_of, fetch, reader_of
from tidemill.pipeline.happenings import Announce, PagePolled
from tidemill.pipeline.health_ports import HealthSink
from tidemill.pipeline.live_ports import BreakerWord, HostLesson, PendingEntry
from tidemill.pipeline.ports import Dice, FetchResult, StoreLost
from tidemill.pipeline.reader_functions.function import FunctionReaders
from tidemill.pipeline.reader_functions.live_pages import TOLD, PolledBody

ASKS_AGAIN = timedelta(seconds=30)
"""How long a page waits that a gate refuses: its source may be switched on again."""
AWAY = timedelta(seconds=5)
READ_JUST_NOW = timedelta(seconds=30)
"""A thing of which a page was read so lately is not paused for the failures of another page."""
MILLISECOND = timedelta(milliseconds=1)

TakeList = Callable[[PolledPage, ListReading], None]


class LiveTroubles:
    """What polls met that breakers, hosts and other processes should know; written a little later, in one go."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.words: dict[int, BreakerWord] = {}
        self.lessons: dict[str, HostLesson] = {}
        self._failures: dict[int, SiteFailures] = {}
        self._reachability = Reachability()

    def asked(self, host: str, failure: Failure | None, now: datetime) -> None:
        """A host was asked, and answered or not; what a cut of our own network brought about is not held against it."""
        self._reachability = after_asking(self._reachability, host, failure, now)
        if failure is not None and self.is_network_away:
            self.words = {key: word for key, word in self.words.items() if all(word.answers)}
            self._failures.clear()

    @property
    def is_network_away(self) -> bool:
        """Whether nothing at all can be reached: no site is to blame for that, and no thing."""
        return is_our_network_away(self._reachability)

    def well(self, page: PolledPage) -> None:
        """A page was read well; the breaker hears of it if it has anything against the source."""
        known = self._failures.get(page.source_id)
        if known is not None and known.by_page:
            self._failures[page.source_id] = after_good_reading(known)
        if page.breaker != _TRUSTED or page.source_id in self.words:
            self._say(page, well=True)

    def unwell(self, page: PolledPage, pages: int, threshold: int, *, is_hopeless: bool) -> None:
        """A page failed in a way that speaks against its site; one page alone never opens a breaker of several."""
        known = self._failures.get(page.source_id, SiteFailures())
        after, counts = counts_against_site(known, page.target_id, pages, threshold)
        self._failures[page.source_id] = after
        if counts or not isinstance(page.breaker, Closed):
            self._say(page, well=False, is_hopeless=is_hopeless)

    def lesson(self, host: str, rests_until: datetime | None, crawl_delay: timedelta | None) -> None:
        """A host asked for something."""
        self.lessons[host] = HostLesson(host, rests_until, crawl_delay)

    def _say(self, page: PolledPage, *, well: bool, is_hopeless: bool = False) -> None:
        before = self.words.get(page.source_id)
        answers = [*(before.answers if before else ()), well]
        hopeless = is_hopeless or (before.is_hopeless if before else False)
        self.words[page.source_id] = BreakerWord(page.source_id, page.claimed.source.vertical, answers, hopeless)


_TRUSTED = Closed()


class Poller:
    """Polls pages and turns what they say into entries for the writer."""

    def __init__(
        self,
        deps: StageDependencies,
        options: LaneOptions,
        dice: Dice,
        writer: LiveWriter,
        troubles: LiveTroubles,
        health: HealthSink,
        announce: Announce,
        *,
        take_list: TakeList,
        readers: FunctionReaders,
    ) -> None:
        """`take_list` is called with what a list page says; `readers` read what pages say."""
        self._deps = deps
        self._options = options
        self._dice = dice
        self._writer = writer
        self._troubles = troubles
        self._health = health
        self._announce = announce
        self._take_list = take_list
        self._readers = readers
        self._entries = 0

    async def poll(self, page: PolledPage, line: HostLine) -> None:
        """Ask for a page once, and put down what came; never raises but when it is cancelled."""
        began = self._deps.clock.now()
        claimed = page.next_try(self._options.timeouts.scrape, began)
        page.waits_for = ""
        try:
            outcome = await self._asked(claimed)
            if not page.gone:
                await self._take(page, line, claimed, outcome, began)
        except Exception as error:  # noqa: BLE001 - a bug in one page's rules must not stop the others
            self._fail(page, line, _bug(error), None, began)

    async def _asked(self, claimed: Claimed) -> Outcome:
        try:
            return await fetch(claimed, self._deps)
        except StoreLost as trouble:
            return Snooze(self._deps.clock.now() + AWAY, f"the database cannot be asked: {trouble}")

    async def _take(
        self, page: PolledPage, line: HostLine, claimed: Claimed, outcome: Outcome, began: datetime
    ) -> None:
        match outcome:
            case Advance(produced=Unchanged(result=result)):
                page.watch.counts.unchanged += 1
                if page.watch.last_list is not None:
                    self._take_list(page, page.watch.last_list)  # it misses the same things once more
                self._merge(page, ToldSame(page.site, _asked_at(result, began)) if page.site else None, None)
                self._went_well(page, line, result, began)
            case Advance(produced=Fetched() as fetched):
                await self._read(page, line, claimed, fetched, began)
            case Snooze(until=until, reason=reason):
                page.due_at, page.waits_for = max(until, began), reason
                page.tries = 0
            case Fail(failure=failure, detail=detail) if MEANING[failure].is_refusal:
                page.watch.counts.refused += 1
                page.due_at, page.waits_for = began + ASKS_AGAIN, detail
            case Fail() as fail:
                met = fail.evidence.result if isinstance(fail.evidence, Fetched) else None
                self._fail(page, line, fail, met, began)
            case Advance():
                self._fail(page, line, Fail(Failure.BUG, "a poll cannot be answered from the store"), None, began)

    async def _read(
        self, page: PolledPage, line: HostLine, claimed: Claimed, fetched: Fetched, began: datetime
    ) -> None:
        vertical = self._deps.verticals[claimed.job.vertical]
        reading = await self._reading(page, claimed, fetched)
        if page.gone:
            return
        if isinstance(reading, Fail):
            page.read_badly()
            self._fail(page, line, reading, fetched.result, began)
            return
        page_read = fetched.page
        page.read_well(page_read.etag, page_read.last_modified, page_read.digest, reader_of(claimed, vertical))
        if isinstance(reading, ListReading):
            page.watch.counts.listed = len(reading.listed)
            page.watch.counts.truncated += not reading.is_complete
            page.watch.last_list = reading
            self._take_list(page, reading)
            page.history = after_poll(page.history, changed=False)
        elif page.site is not None:
            told = Told(page.site, _asked_at(fetched.result, began), reading)
            self._merge(page, told, fetched)
        self._went_well(page, line, fetched.result, began)

    async def _reading(self, page: PolledPage, claimed: Claimed, fetched: Fetched) -> Any:
        """Return what a reader says of the page, in the vertical's own value, or a failure."""
        vertical = self._deps.verticals[claimed.job.vertical]
        adapter = adapter_of(claimed, vertical)
        if adapter is None or vertical.live is None:
            return Fail(Failure.UNKNOWN_ADAPTER, f"no adapter {claimed.target.adapter_id!r}")
        stored = fetched.page
        context = Context(claimed.source, stored.final_url, stored.fetched_at, claimed.target.parameters)
        polled = PolledBody(
            vertical=vertical.name, adapter_id=adapter.id, page=stored, context=context, is_list=page.is_list
        )
        told = await self._readers.call(TOLD, polled)
        if isinstance(told, Fail):
            return told
        if told.failure is not None:
            return Fail(told.failure, told.detail, stack=told.stack)
        return told.listed if page.is_list else msgspec.json.decode(told.thing, type=vertical.live.reading_type)

    def _merge(self, page: PolledPage, telling: Told | ToldSame | None, fetched: Fetched | None) -> None:
        """Let the vertical's rules say what a telling changes, and queue that."""
        watch = page.watch
        if telling is None or watch.thing is None or watch.life is None:
            page.history = after_poll(page.history, changed=False)
            return
        merged = watch.rules.merge(watch.memory, telling)
        watch.memory = merged.memory
        before, watch.outlook = watch.outlook, watch.rules.outlook(merged.memory)
        if merged.ignored:
            page.ignored += 1
            watch.counts.ignored += 1
        changed = self._queue_change(page, merged, telling.at, fetched)
        page.history = after_poll(page.history, changed=changed)
        page.has_moved = False
        life, move = after_reading(watch.life, watch.outlook.phase, self._deps.clock.now())
        watch.life = life
        if move is not None:
            self.queue_move(watch, life, move)
            wake_pages(watch, self._deps.clock.now())
        elif before != watch.outlook and not changed:
            self._put(watch, outlook=watch.outlook)

    def _queue_change(self, page: PolledPage, merged: Merged, at: datetime, fetched: Fetched | None) -> bool:
        watch, change = page.watch, merged.change
        encoded = None
        if change is not None:
            try:
                encoded = encode_state(change.state)
            except BadState as error:
                raise RuleBrokenError(str(error)) from error
            if encoded.checksum == watch.checksum and change.kind is ChangeKind.DELTA:
                change = encoded = None
        if change is None and not merged.rows:
            return False
        evidence = None if change is None or fetched is None else _storable(fetched)
        source = _told_by(change, page.site.source if page.site else "")
        self._put(
            watch, at, change=change, source=source, evidence=evidence, rows=merged.rows, job=page.claimed.job,
            outlook=watch.outlook,
        )  # fmt: skip
        if change is None or encoded is None:
            return False
        watch.state, watch.checksum = change.state, encoded.checksum
        page.changes += 1
        watch.counts.changes += 1
        page.changed_at = self._deps.clock.now()
        return True

    def queue_move(self, watch: Watch, life: Life, move: Move) -> None:
        """Queue a move of a thing's life: a row, and an entry in its log if it has a state that readers know."""
        change = None if watch.state is None else Change(state=watch.state, kind=ChangeKind.STATUS, reason=move.reason)
        self._put(watch, change=change, life=life, move=move, outlook=watch.outlook)

    def _put(self, watch: Watch, at: datetime | None = None, *, outlook: Outlook | None = None, **fields: Any) -> None:
        if watch.thing is None:
            return
        self._entries += 1
        at = at or self._deps.clock.now()
        known: dict[str, Any] = {"job": watch.job, "token": watch.token(self._entries, at), "read_at": at}
        self._writer.put(
            PendingEntry(
                fence=watch.fence, thing_id=watch.thing_id, thing=watch.thing, outlook=outlook, **(known | fields)
            )
        )

    def _went_well(self, page: PolledPage, line: HostLine, result: FetchResult, began: datetime) -> None:
        now, counts = self._deps.clock.now(), page.watch.counts
        page.polls += 1
        counts.polls += 1
        counts.good += 1
        page.checked_at = now
        page.tries = 0
        if page.failures:
            page.failures = 0
            method = (
                ResolutionMethod.AUTO_RETRY if isinstance(page.breaker, Closed) else ResolutionMethod.CIRCUIT_BREAKER
            )
            self._health.resolved(page.scraper_id, now, method)
        page.latency = result.duration
        page.timeout = after_answer(page.timeout, result.duration, self._options.timeouts)
        page.interval = page.wanted_interval(self._options, now)
        page.due_at = max(began + page.interval, now)
        self._troubles.asked(page.host, None, now)
        self._troubles.well(page)
        self._learn(page, line, result)
        self._polled(page, result, None)

    def _learn(self, page: PolledPage, line: HostLine, result: FetchResult) -> None:
        """Note a Crawl-delay that is new, and how long the host wants to be left alone."""
        if result.crawl_delay is not None and result.crawl_delay != line.crawl_delay:
            line.crawl_delay = result.crawl_delay
            self._troubles.lesson(page.host, None, result.crawl_delay)
        if result.retry_after is not None and result.failure is not None:
            line.rests_until = self._deps.clock.now() + result.retry_after
            self._troubles.lesson(page.host, line.rests_until, None)

    def _fail(self, page: PolledPage, line: HostLine, fail: Fail, result: FetchResult | None, began: datetime) -> None:
        """Put down a failed try: the page is asked less often, the thing may be paused, its site may be to blame."""
        now, watch = self._deps.clock.now(), page.watch
        meaning = MEANING[fail.failure]
        page.polls += 1
        page.failures += 1
        page.total_failures += 1
        page.tries += 1
        watch.counts.polls += 1
        watch.counts.failed += 1
        watch.counts.drifted += meaning.is_drift
        page.history = after_error(page.history, now)
        self._note(page, fail, now)
        if result is not None:
            self._learn(page, line, result)
            page.timeout = after_answer(page.timeout, result.duration, self._options.timeouts)
        self._plan_retry(page, fail, began, now)
        self._troubles.asked(page.host, fail.failure, now)
        if meaning.trips_breaker and not self._troubles.is_network_away:
            hopeless = fail.failure in {Failure.DNS_FAILED, Failure.TLS_FAILED}
            policy = self._deps.verticals[page.claimed.job.vertical].policy
            siblings = sum(other.source_id == page.source_id for other in line.pages.values())
            self._troubles.unwell(page, max(1, siblings), policy.breaker.threshold, is_hopeless=hopeless)
        self._hurt(page, fail, now)
        self._polled(page, result, fail.failure)

    def _plan_retry(self, page: PolledPage, fail: Fail, began: datetime, now: datetime) -> None:
        """Plan the next try: the retries of one scrape have waits of their own, within its time."""
        policy = self._deps.verticals[page.claimed.job.vertical].policy
        page.interval = page.wanted_interval(self._options, now)
        page.due_at = max(began + page.interval, now)
        wait = None
        if MEANING[fail.failure].retry:
            wait = next_wait(policy.retry, page.tries, self._dice.random(), fail.retry_after)
        spent = now - (page.scrape_began or now)
        if wait is None or spent + wait >= self._options.timeouts.scrape:
            page.tries = 0
        if wait is not None:
            page.due_at = max(page.due_at, now + wait)

    def _hurt(self, page: PolledPage, fail: Fail, now: datetime) -> None:
        """Tell the thing: its memory, and its life, which the fifth failure in a row pauses.

        Failures of one site count for nothing there while another site tells of the thing, and none while our own
        network is away.
        """
        watch = page.watch
        if watch.life is None or page.site is None:
            return
        merged = watch.rules.merge(watch.memory, ToldNothing(page.site, now, fail.failure))
        watch.memory = merged.memory
        watch.outlook = watch.rules.outlook(merged.memory)
        self._queue_change(page, merged, now, None)  # another site is believed now, and may be further
        if self._troubles.is_network_away or _is_read_elsewhere(page, now):
            return
        watch.life, move = after_failure(watch.life, self._options.lives, now)
        if move is not None:
            self.queue_move(watch, watch.life, move)
        if watch.is_paused and watch.life.paused_until is not None:
            pause_pages(watch, watch.life.paused_until)

    def _note(self, page: PolledPage, fail: Fail, now: datetime) -> None:
        self._health.failed(
            FailedTry(
                scraper_id=page.scraper_id,
                at=now,
                failure=fail.failure,
                operation="parse" if MEANING[fail.failure].is_drift else "fetch",
                thing_key=page.watch.thing.key if page.watch.thing else "",
                message=fail.detail,
                stack=fail.stack,
                url=page.claimed.target.url,
                attempt=page.tries,
            )
        )

    def _polled(self, page: PolledPage, result: FetchResult | None, failure: Failure | None) -> None:
        job = page.claimed.job
        code, took = (result.status_code, result.duration // MILLISECOND) if result else (0, 0)
        now = self._deps.clock.now()
        self._announce(
            PagePolled(
                now, job.id, job.run_id, page.source_id, page.host, code, took, page.changed_at == now, failure,
                page.claimed.target.adapter_id,
            )
        )  # fmt: skip


class RuleBrokenError(Exception):
    """A vertical's rules made a state that cannot be kept."""


def pause_pages(watch: Watch, until: datetime) -> None:
    """Leave a thing's pages alone until a moment; then one of them is tried, each in its turn, and the rest wait on."""
    watch.last_tried = (watch.last_tried + 1) % max(1, len(watch.pages))
    for at, page in enumerate(watch.pages):
        page.tries = 0
        page.be_due(until if at == watch.last_tried else until + timedelta(days=1))


def wake_pages(watch: Watch, now: datetime) -> None:
    """Poll all of a thing's pages again: it is no longer paused, or goes on."""
    for page in watch.pages:
        if page.due_at > now + page.interval:
            page.be_due(now)


def _is_read_elsewhere(page: PolledPage, now: datetime) -> bool:
    """Return whether another page of the thing was read well just now."""
    return any(
        other is not page
        and not other.failures
        and other.checked_at is not None
        and now - other.checked_at <= READ_JUST_NOW
        for other in page.watch.pages
    )


def _told_by(change: Change | None, asked: str) -> str:
    """Return whose word a change is: that of the site that was asked, or of one that is believed instead of it."""
    if change is None or not change.provenance or any(each.source == asked for each in change.provenance.values()):
        return asked
    return max(change.provenance.values(), key=lambda each: each.at).source


def _asked_at(result: FetchResult, began: datetime) -> datetime:
    return result.requested_at or began


def _storable(fetched: Fetched) -> Fetched:
    """Return a page that can wait in a file: its headers are plain."""
    return msgspec.structs.replace(
        fetched, result=msgspec.structs.replace(fetched.result, headers=dict(fetched.result.headers))
    )


def _bug(error: Exception) -> Fail:
    return Fail(Failure.BUG, f"{type(error).__name__}: {error}"[:500], stack=traceback.format_exc())
