"""The pages of one host in line for its pace: who is due, and who goes first when not all can."""

import heapq
from datetime import datetime, timedelta

from tidemill.core.live.budget import (
    BOUGHT_AHEAD,
    Demand,
    DuePage,
    best_first,
    is_short,
    list_interval,
    needed_per_second,
)
from tidemill.core.pacing import Pace, with_crawl_delay
from tidemill.engine.live.options import LaneOptions
from tidemill.engine.live.watch import PolledPage

JUDGED_EVERY = timedelta(seconds=5)
"""How often it is reckoned whether a host's pace suffices for its pages."""
TOGETHER = timedelta(milliseconds=50)
"""Pages that are due within this of each other are polled in one turn, and stay together from then on.

What a process pays for waking up, it pays once for all of them: at 50 polls a second that was half of a poll.
"""


class HostLine:
    """The pages of one host that this process polls."""

    def __init__(self, host: str, options: LaneOptions) -> None:
        """Nobody is in line yet."""
        self.host = host
        self.pages: dict[int, PolledPage] = {}
        self.in_flight = 0
        self.served = 0
        self.is_short = False
        self.rests_until: datetime | None = None
        self.crawl_delay: timedelta | None = None
        self._options = options
        self._line: list[tuple[datetime, int, PolledPage]] = []
        self._waiting: dict[int, PolledPage] = {}
        self._number = 0
        self._judged_at: datetime | None = None
        self._slowest: Pace | None = None

    def add(self, page: PolledPage) -> None:
        """Put a page in line."""
        self.pages[page.target_id] = page
        page.line = self
        self._judged_at = self._slowest = None
        self.queue(page)

    def remove(self, page: PolledPage) -> None:
        """Take a page out of the line."""
        page.gone = True
        self.pages.pop(page.target_id, None)
        self._waiting.pop(page.target_id, None)
        self._judged_at = self._slowest = None

    def queue(self, page: PolledPage) -> None:
        """Put a page in line for the moment at which it is due."""
        self._number += 1
        self._waiting.pop(page.target_id, None)
        heapq.heappush(self._line, (page.due_at, self._number, page))

    @property
    def pace(self) -> Pace:
        """The pace of the host: the slowest that any of its pages was claimed with, and what robots.txt asks for."""
        if self._slowest is None:
            self._slowest = max((page.claimed.pace for page in self.pages.values()), key=lambda pace: pace.interval)
        return with_crawl_delay(self._slowest, self.crawl_delay)

    def next_moment(self) -> datetime | None:
        """Return when a page is due next; None when none is in line."""
        return self._line[0][0] if self._line else None

    @property
    def waiting(self) -> list[PolledPage]:
        """The pages that are due and wait for the host's pace."""
        return list(self._waiting.values())

    def judge(self, now: datetime) -> None:
        """Reckon whether the pace suffices; where it does not, the list is asked for more often."""
        if self._judged_at is not None and now - self._judged_at < JUDGED_EVERY:
            return
        self._judged_at = now
        things = [page for page in self.pages.values() if not page.is_list]
        demands = [Demand(page.wanted_interval(self._options, now)) for page in things if not page.watch.is_paused]
        self.is_short = is_short(demands, self.pace) if demands else False
        usual = self._options.polling.lists
        for page in self.pages.values():
            if page.is_list:
                wanted = list_interval(len(things), self.pace, usual) if self.is_short else usual
                if wanted < page.watch.list_interval:
                    page.be_due(min(page.due_at, now + wanted))
                page.watch.list_interval = wanted

    def take(self, now: datetime) -> list[PolledPage]:
        """Return the pages that are polled now, as many as there is room for, best first."""
        self._wake_due(now)
        if not self._waiting or (self.rests_until is not None and now < self.rests_until):
            return []
        self.judge(now)
        room = self._room()
        if room <= 0:
            return []
        waiting = list(self._waiting.values())
        chosen = waiting if len(waiting) <= room else self._best(waiting, room, now)
        for page in chosen:
            del self._waiting[page.target_id]
            page.in_flight = True
        self.in_flight += len(chosen)
        self.served += len(chosen)
        return chosen

    def leave(self, page: PolledPage) -> None:
        """A poll is over; the page is in line for the next one."""
        self.in_flight -= 1
        page.in_flight = False
        if not page.gone:
            self.queue(page)

    def needs(self, now: datetime) -> float:
        """Return how many requests a second its pages need."""
        return needed_per_second(Demand(page.wanted_interval(self._options, now)) for page in self.pages.values())

    def _wake_due(self, now: datetime) -> None:
        """Let those wait for the pace that are due, or would be in a moment anyway."""
        later: list[tuple[datetime, int, PolledPage]] = []
        while self._line and self._line[0][0] <= now + TOGETHER:
            entry = heapq.heappop(self._line)
            due_at, _, page = entry
            if page.gone or page.in_flight or page.due_at != due_at:
                continue
            if due_at <= now or page.may_be_early:
                self._waiting[page.target_id] = page
            else:
                later.append(entry)
        for entry in later:
            heapq.heappush(self._line, entry)

    def _room(self) -> int:
        """Return how many more polls may begin: as many as leave within a second, or are answered side by side."""
        pace = self.pace
        within = int(BOUGHT_AHEAD / pace.interval) if pace.interval else 0
        return max(pace.parallel, within) - self.in_flight

    def _best(self, waiting: list[PolledPage], room: int, now: datetime) -> list[PolledPage]:
        due = [
            DuePage(
                page.target_id,
                page.urgency(now),
                page.checked_at or page.started_at,
                is_list=page.is_list,
                has_moved=page.has_moved,
            )
            for page in waiting
        ]
        return [self._waiting[each.page] for each in best_first(due, self.served, room)]
