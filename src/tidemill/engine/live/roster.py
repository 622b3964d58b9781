"""What this process watches: watches by their jobs, and their pages in line at their hosts."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from tidemill.core.source import FetcherKind
from tidemill.core.vertical import fetcher_for
from tidemill.engine.live.host_line import HostLine
from tidemill.engine.live.options import LaneOptions
from tidemill.engine.live.watch import PolledPage, Watch
from tidemill.engine.live.writer import LiveWriter
from tidemill.pipeline.dependencies import StageDependencies
from tidemill.pipeline.fetch import adapter_of
from tidemill.pipeline.live_ports import ClaimedWatch, WatchedPage


class WatchRoster:
    """The watches of one process. `unwanted` is called with a host at which nothing is polled any more."""

    def __init__(self, stages: StageDependencies, options: LaneOptions, unwanted: Callable[[str], None]) -> None:
        """Nothing is watched yet."""
        self._stages = stages
        self._options = options
        self._unwanted = unwanted
        self.by_job: dict[int, Watch] = {}
        self.lines: dict[str, HostLine] = {}

    @property
    def watches(self) -> list[Watch]:
        """All watches."""
        return list(self.by_job.values())

    def pages(self) -> Iterable[PolledPage]:
        """Return the pages of all watches."""
        return (page for watch in self.by_job.values() for page in watch.pages)

    def of_thing(self, thing_id: int) -> list[Watch]:
        """Return the watch of a thing, if it is watched here."""
        return [watch for watch in self.by_job.values() if watch.thing is not None and watch.thing_id == thing_id]

    def room(self, free_memory: int | None) -> int:
        """Return how many more watches fit: within the cap, and while memory is free."""
        if free_memory is not None and free_memory < self._options.least_free_bytes:
            return 0
        return max(0, self._options.most_watches - len(self.by_job))

    def _browser_watches(self) -> int:
        return sum(any(page.needs_browser for page in watch.pages) for watch in self.by_job.values())

    def has_browser_room(self) -> bool:
        """Return whether one more watch with a browser page fits."""
        return self._browser_watches() < self._options.most_browser_watches

    def begin(self, claimed: Sequence[ClaimedWatch], writer: LiveWriter, now: datetime) -> list[ClaimedWatch]:
        """Begin to watch; return those that are refused, because there are enough browser pages."""
        browsers = self._browser_watches()
        refused = []
        for each in claimed:
            needs_browser = any(self.needs_browser(page) for page in each.pages)
            if needs_browser and browsers >= self._options.most_browser_watches:
                refused.append(each)
                continue
            browsers += needs_browser
            self._begin(each, writer, now)
        return refused

    def _begin(self, claimed: ClaimedWatch, writer: LiveWriter, now: datetime) -> None:
        rules = self._stages.verticals[claimed.job.vertical].live
        if rules is None:
            return
        watch = Watch(claimed, rules, self._options, now)
        self.by_job[claimed.job.id] = watch
        if watch.thing is not None:
            writer.begin(watch.thing_id, watch.seq)
        self.add_pages(watch.pages)
        if watch.life is not None and watch.life.paused_until is not None:
            for page in watch.pages:
                page.be_due(max(now, watch.life.paused_until))

    def needs_browser(self, page: WatchedPage | PolledPage) -> bool:
        """Return whether a page is shown by a browser."""
        claimed = page.claimed
        vertical = self._stages.verticals[claimed.job.vertical]
        return fetcher_for(claimed.source, adapter_of(claimed, vertical)) is FetcherKind.BROWSER

    def add_pages(self, pages: Iterable[PolledPage]) -> None:
        """Put pages in line at their hosts."""
        for page in pages:
            page.needs_browser = self.needs_browser(page)
            line = self.lines.get(page.host)
            if line is None:
                line = self.lines[page.host] = HostLine(page.host, self._options)
            line.add(page)

    def remove(self, watch: Watch) -> None:
        """Watch no longer."""
        self.by_job.pop(watch.job.id, None)
        for page in watch.pages:
            self.remove_page(page)

    def remove_page(self, page: PolledPage) -> None:
        """Poll a page no longer."""
        line = self.lines.get(page.host)
        if line is not None:
            line.remove(page)
            if not line.pages:
                del self.lines[page.host]
                self._unwanted(page.host)

    def rekey(self, before: int, watch: Watch) -> None:
        """Keep a watch under its next hour's job."""
        del self.by_job[before]
        self.by_job[watch.job.id] = watch
