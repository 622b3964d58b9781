"""What a person sees while the demo runs: sources, counters and the latest happenings."""

from collections import Counter, deque
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tidemill.core.outcome import Stage
from tidemill.pipeline.happenings import (
    BreakerMoved,
    Happening,
    JobDead,
    JobRefused,
    JobWaits,
    PageGot,
    RecordsJudged,
    RecordsKept,
    RunClosed,
    RunOpened,
    StageDone,
    StoreTrouble,
)
from tidemill.terminal.showing import STYLES, without_control_codes

LATEST_SHOWN = 8
LONGEST = 110


class Scoreboard:
    """A listener that counts, and draws what it counted."""

    def __init__(self, names: Mapping[int, str], started_at: datetime) -> None:
        """`names` are the sources' names by id."""
        self._names = names
        self._started_at = started_at
        self._pages: Counter[int] = Counter()
        self._records: Counter[int] = Counter()
        self._failures: Counter[int] = Counter()
        self._breakers: dict[int, str] = {}
        self._activity: dict[int, str] = {}
        self._totals: Counter[str] = Counter()
        self._latest: deque[Text] = deque(maxlen=LATEST_SHOWN)

    def listen(self, happening: Happening) -> None:
        """Count a happening, and keep it if a person would want to know."""
        self._count(happening)
        words, style = line_of(happening, self._names)
        if words:
            line = Text(f"{happening.at:%H:%M:%S} ", style="dim")
            self._latest.append(line.append(without_control_codes(words)[:LONGEST], style=style))

    def _count(self, happening: Happening) -> None:
        match happening:
            case StageDone(stage=Stage.FETCH, source_id=source):
                self._pages[source] += 1
            case PageGot(unchanged=unchanged):
                self._totals["pages"] += 1
                self._totals["unchanged"] += unchanged
            case RecordsJudged():
                for name in ("dropped", "quarantined"):
                    self._totals[name] += getattr(happening, name)
            case RecordsKept(source_id=source):
                self._records[source] += happening.inserted + happening.updated
                for name in ("inserted", "updated", "dropped", "quarantined"):
                    self._totals[name] += getattr(happening, name)
            case RunOpened(source_id=source, jobs=jobs):
                self._activity[source] = f"scraping {jobs} pages"
            case RunClosed(summary=summary):
                self._totals["runs"] += 1
                end = "complete" if summary.complete else "not complete"
                self._activity[summary.source_id] = f"{summary.status.lower()}, {end}"
            case _:
                self._count_trouble(happening)

    def _count_trouble(self, happening: Happening) -> None:
        match happening:
            case JobWaits(source_id=source, failure=failure) if failure is not None:
                self._failures[source] += 1
                self._activity[source] = f"retries after {failure}"
            case JobRefused(source_id=source, failure=failure):
                self._totals["refused"] += 1
                self._activity[source] = f"left alone: {failure}"
            case JobDead(source_id=source, failure=failure):
                self._failures[source] += 1
                self._totals["dead letters"] += 1
                self._activity[source] = f"failed: {failure}"
            case BreakerMoved(source_id=source, after=after):
                self._breakers[source] = after

    def draw(self, now: datetime, address: str, left: timedelta | None) -> RenderableType:
        """Return everything at this moment, as rich draws it."""
        parts: list[RenderableType] = [self._head(now, address, left), self._counters(), self._sources()]
        if self._latest:
            parts.append(Panel(Group(*self._latest), title="what happened", title_align="left", border_style="dim"))
        return Group(*parts)

    def _head(self, now: datetime, address: str, left: timedelta | None) -> Text:
        ends = f"ends in {max(0, round(left.total_seconds()))} s" if left is not None else "Ctrl-C ends it"
        ran = round((now - self._started_at).total_seconds())
        return Text.assemble(
            ("Tidemill demo", "bold cyan"), f"  {ran} s  ({ends})", f"   look on at {address}" if address else ""
        )

    def _counters(self) -> Columns:
        order = (
            "pages",
            "unchanged",
            "inserted",
            "updated",
            "dropped",
            "quarantined",
            "refused",
            "dead letters",
            "runs",
        )
        cells = [Text.assemble((f"{self._totals[name]:,}", "bold"), f" {name}") for name in order]
        return Columns(cells, padding=(0, 3))

    def _sources(self) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in ("source", "pages", "records", "failures", "breaker", "now"):
            table.add_column(
                name, justify="right" if name in {"pages", "records", "failures"} else "left", no_wrap=True
            )
        for key, name in self._names.items():
            breaker = self._breakers.get(key, "CLOSED")
            table.add_row(name, f"{self._pages[key]:,}", f"{self._records[key]:,}", f"{self._failures[key]:,}",
                          Text(breaker, style=STYLES[breaker]), self._activity.get(key, "-"))  # fmt: skip
        return table


Line = tuple[str, str]
"""A text and its colour; '' for what is too common to show."""
NO_LINE: Line = ("", "")


def line_of(happening: Happening, names: Mapping[int, str]) -> Line:
    """Return a happening as a line for a person."""
    write = LINES.get(type(happening))
    if write is None:
        return NO_LINE
    words, style = write(happening)
    source = getattr(happening, "source_id", None)
    return (f"{names.get(source, source)}: {words}" if words and source is not None else words), style


def _breaker(moved: BreakerMoved) -> Line:
    if moved.after != "OPEN":
        return f"breaker {moved.after.lower()}", "yellow"
    return "breaker opened" + (f", asked again from {moved.until:%H:%M} UTC" if moved.until else ""), "bold red"


def _waits(waits: JobWaits) -> Line:
    return (f"{waits.failure}, tried again later", "yellow") if waits.failure is not None else NO_LINE


def _closed(closed: RunClosed) -> Line:
    run = closed.summary
    return NO_LINE if run.complete else (f"{run.source_name}: run not complete ({'; '.join(run.doubts)})", "yellow")


def _kept(kept: RecordsKept) -> Line:
    news = kept.inserted or kept.updated
    return (f"{kept.inserted} new events, {kept.updated} changed", "green") if news else NO_LINE


LINES: Mapping[type, Callable[[Any], Line]] = {
    BreakerMoved: _breaker,
    JobWaits: _waits,
    JobDead: lambda dead: (f"dead letter, {dead.failure}: {dead.detail}", "red"),
    JobRefused: lambda refused: (f"left alone, {refused.detail}", "yellow"),
    RunClosed: _closed,
    RecordsKept: _kept,
    StoreTrouble: lambda trouble: (f"database: {trouble.detail}", "bold red"),
}
