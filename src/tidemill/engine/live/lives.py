"""What lists and time do to the things that are watched here: new sites, absence, return, and the archive."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from tidemill.core.live.lifecycle import Lifecycle, after_list, after_time
from tidemill.core.live.rules import ListReading
from tidemill.engine.live.lease import LaneLease
from tidemill.engine.live.options import LaneOptions
from tidemill.engine.live.poller import Poller, wake_pages
from tidemill.engine.live.roster import WatchRoster
from tidemill.engine.live.watch import PolledPage, Watch
from tidemill.pipeline.happenings import Announce, LifeMoved
from tidemill.pipeline.live_ports import WatchLedger
from tidemill.pipeline.ports import Clock

_NOT_AGAIN = timedelta(days=1)


class WatchedLives:
    """Moves the lives of watched things by what is written about them and by the time."""

    def __init__(
        self,
        ledger: WatchLedger,
        roster: WatchRoster,
        lease: LaneLease,
        clock: Clock,
        announce: Announce,
        options: LaneOptions,
    ) -> None:
        """Move the lives of what is on the roster."""
        self._ledger = ledger
        self._roster = roster
        self._lease = lease
        self._clock = clock
        self._announce = announce
        self._options = options

    def see_moved(self, page: PolledPage, reading: ListReading) -> None:
        """Ask at once for what a list shows to have moved."""
        now = self._clock.now()
        hints = {each.source_key: each.hint for each in reading.listed if each.hint}
        moved = {key for key, hint in hints.items() if page.watch.hints.get(key, hint) != hint}
        page.watch.hints = hints
        if not moved:
            return
        for other in self._roster.pages():
            if other.source_id == page.source_id and other.site is not None and other.site.source_key in moved:
                other.has_moved = True
                if not other.watch.is_paused and not other.failures:  # the wait before the next try holds
                    other.be_due(min(other.due_at, now))

    async def write_list(self, page: PolledPage, reading: ListReading, poller: Poller) -> None:
        """Write what a list says that is not written yet, and take in what that means for the things watched here."""
        now = self._clock.now()
        source, adapter = page.claimed.source, page.claimed.target.adapter_id
        for thing, move in await self._ledger.put_list(source, adapter, reading, now):
            before = "" if move.before is move.after else move.before
            self._announce(LifeMoved(now, *thing, before, move.after, move.reason))
        await self.read_facts(poller)

    async def read_facts(self, poller: Poller) -> None:
        """Take in what lists, and other processes, have written about the things that are watched here."""
        mine = {watch.thing_id: watch for watch in self._roster.watches if watch.thing is not None}
        if not mine:
            return
        facts = await self._ledger.facts(list(mine))
        with_other_pages = []
        for thing_id, watch in mine.items():
            known = facts[thing_id].pages
            if known.keys() != {page.target_id for page in watch.pages}:
                with_other_pages.append(watch)
            for page in watch.pages:
                page.missed_lists = known.get(page.target_id, page.missed_lists)
            self._hear_lists(watch, poller)
        if with_other_pages:
            await self._reload(with_other_pages)

    async def _reload(self, watches: Sequence[Watch]) -> None:
        """Poll the pages that tell of things now: sites come and go."""
        now = self._clock.now()
        by_job = {watch.job.id: watch for watch in watches}
        for claimed in await self._ledger.reload([watch.job for watch in watches]):
            watch = by_job[claimed.job.id]
            own = [
                msgspec.structs.replace(
                    page, claimed=msgspec.structs.replace(page.claimed, worker_id=self._lease.worker_id)
                )
                for page in claimed.pages
            ]
            before = list(watch.pages)
            self._roster.add_pages(watch.take_pages(own, self._options, now))
            for page in before:
                if page.gone:
                    self._roster.remove_page(page)

    def _hear_lists(self, watch: Watch, poller: Poller) -> None:
        """Move a thing's life as lists say: absent from all of its sites' lists, or named again."""
        if watch.life is None:
            return
        now, missed = self._clock.now(), watch.missed_lists
        while watch.life.missed_lists != missed:
            is_named = missed < watch.life.missed_lists
            watch.life, move = after_list(watch.life, self._options.lives, is_named=is_named, now=now)
            if move is not None:
                poller.queue_move(watch, watch.life, move)
                wake_pages(watch, now)
            if is_named:
                break

    def age(self, poller: Poller, now: datetime) -> None:
        """Archive things whose time has come; their watch ends when that is written."""
        for watch in self._roster.watches:
            if watch.life is None or watch.is_over:
                continue
            watch.life, move = after_time(watch.life, self._options.lives, now)
            if move is not None:
                poller.queue_move(watch, watch.life, move)
            if watch.life.state is Lifecycle.ARCHIVED:
                watch.is_over = True
                for page in watch.pages:
                    page.be_due(now + _NOT_AGAIN)
