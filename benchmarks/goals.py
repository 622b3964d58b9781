"""What the figures should be, and whether they are."""

from collections.abc import Sequence
from statistics import median

import msgspec

from benchmarks.contest import Run
from benchmarks.extremes import Measured
from benchmarks.task import Figures

NOISE = 0.9
"""Speeds within a tenth of each other count as the same: two runs of the same program differ by as much."""


BESIDE_A_SLOW_ONE = 1.3


class Goal(msgspec.Struct, frozen=True):
    """A figure with the bound that it should keep; `goal` is where we want to be in the end, if further.

    `cpu` is the same ratio by processor time. The goal is `unsure` when others on the machine disturbed
    what it rests on.
    """

    name: str
    value: float
    bound: float
    at_least: bool = True
    unit: str = "x"
    goal: float | None = None
    cpu: float | None = None
    unsure: bool = False

    @property
    def holds(self) -> bool:
        return self.value >= self.bound if self.at_least else self.value <= self.bound


def goals(runs: Sequence[Run], measured: Sequence[Measured]) -> list[Goal]:
    """Every goal of which both sides were measured."""
    small, large = min((run.pages for run in runs), default=0), max((run.pages for run in runs), default=0)
    found = [
        _ratio("pages a second against tuned Scrapy", runs, ("tidemill", small), ("scrapy", small), 3.0, goal=4.0),
        _ratio("pages a second against the bare script", runs, ("tidemill", small), ("bare", small), 0.7),
        _ratio(
            "pages a second against tuned Scrapy, both on PostgreSQL",
            runs, ("tidemill-postgres", small), ("scrapy-postgres", small), 2.0,
        ),
        _ratio(f"speed with {large:,} pages against {small:,}", runs, ("tidemill", large), ("tidemill", small), NOISE)
        if large > small
        else None,
        *(_memory(runs, pages) for pages in sorted({small, large})),
        *_mixed(measured),
        *_replays(measured),
        *_claims(measured),
        *_slow_host(measured),
        *_fetching(measured),
        *_watching(measured),
        *_history(measured),
        *_product_pages(measured),
        *_browser(measured),
        *_homes(measured),
        *_feed(measured),
        *_reading(measured),
    ]  # fmt: skip
    return [one for one in found if one is not None]


def paired(runs: Sequence[Run], one: tuple[str, int], other: tuple[str, int]) -> list[float]:
    """How many times faster `one` was than `other`, round by round: what slows both of a round down drops out."""
    mine = {run.round: run for run in runs if (run.contender, run.pages) == one and run.figures}
    theirs = {run.round: run for run in runs if (run.contender, run.pages) == other and run.figures}
    return [mine[at].pages_per_second / theirs[at].pages_per_second for at in sorted(mine.keys() & theirs.keys())]


def paired_cpu(runs: Sequence[Run], one: tuple[str, int], other: tuple[str, int]) -> list[float]:
    """The same for processor time: how many times less of it `one` took than `other`."""
    mine = {run.round: run for run in runs if (run.contender, run.pages) == one and run.figures}
    theirs = {run.round: run for run in runs if (run.contender, run.pages) == other and run.figures}
    return [theirs[at].cpu_ms_per_page / mine[at].cpu_ms_per_page for at in sorted(mine.keys() & theirs.keys())]


def _ratio(
    name: str,
    runs: Sequence[Run],
    one: tuple[str, int],
    other: tuple[str, int],
    bound: float,
    *,
    goal: float | None = None,
) -> Goal | None:
    ratios = paired(runs, one, other)
    if not ratios:
        return None
    cpu = median(paired_cpu(runs, one, other))
    return Goal(name, median(ratios), bound, goal=goal, cpu=cpu, unsure=_unsure(runs, one) or _unsure(runs, other))


def _unsure(runs: Sequence[Run], one: tuple[str, int]) -> bool:
    """Whether most of its runs were disturbed."""
    disturbed = [run.figures.was_disturbed for run in runs if (run.contender, run.pages) == one and run.figures]
    return 2 * sum(disturbed) >= len(disturbed)


def _memory(runs: Sequence[Run], pages: int) -> Goal | None:
    peaks = [run.figures.peak_mb for run in runs if run.figures and (run.contender, run.pages) == ("tidemill", pages)]
    name = f"most memory held, {pages:,} pages"
    return Goal(name, median(peaks), 200, at_least=False, unit=" MB") if peaks else None


MIXED = {"scrapy": ("tuned Scrapy", 2.0), "bare": ("the bare script", 0.6)}
MIX_NAMES = {"mix": "mixed pages", "second-mix": "pages of the second mix"}


def _mixed(measured: Sequence[Measured]) -> list[Goal]:
    """Each mix, round by round, enqueueing and publishing within our time."""
    return [goal for name, pages in MIX_NAMES.items() for goal in _of_mix(measured, name, pages)]


def _of_mix(measured: Sequence[Measured], mix: str, pages: str) -> list[Goal]:
    rounds: dict[str, dict[str, Figures]] = {}
    for one in measured:
        number, _, contender = one.name.partition(": ")
        if one.figures and number.startswith(f"{mix}, round "):
            rounds.setdefault(number, {})[contender] = one.figures
    found = []
    for name, (them, bound) in MIXED.items():
        pairs = [(each["tidemill"], each[name]) for each in rounds.values() if {"tidemill", name} <= each.keys()]
        if pairs:
            speed = median(theirs.seconds / ours.seconds for ours, theirs in pairs)
            cpu = median(theirs.cpu_seconds / ours.cpu_seconds for ours, theirs in pairs)
            disturbed = [ours.was_disturbed or theirs.was_disturbed for ours, theirs in pairs]
            unsure = 2 * sum(disturbed) >= len(disturbed)
            found.append(Goal(f"{pages} a second against {them}", speed, bound, cpu=cpu, unsure=unsure))
    return found


REPLAYED = {"present": 8.0, "mixed": 3.0}


def _replays(measured: Sequence[Measured]) -> list[Goal]:
    """Replays beside Scrapy from its cache, round by round."""
    found = []
    for kind, bound in REPLAYED.items():
        rounds: dict[str, dict[str, Figures]] = {}
        for one in measured:
            if one.figures and one.name.startswith(f"replay of {kind} pages"):
                number, _, contender = one.name.partition(": ")
                rounds.setdefault(number, {})[contender] = one.figures
        pairs = [(each["tidemill"], each["scrapy"]) for each in rounds.values() if len(each) > 1]
        if pairs:
            speed = median(theirs.seconds / ours.seconds for ours, theirs in pairs)
            cpu = median(theirs.cpu_seconds / ours.cpu_seconds for ours, theirs in pairs)
            unsure = 2 * sum(ours.was_disturbed or theirs.was_disturbed for ours, theirs in pairs) >= len(pairs)
            name = f"{kind} pages replayed a second against tuned Scrapy from its cache"
            found.append(Goal(name, speed, bound, cpu=cpu, unsure=unsure))
    return found


def _claims(measured: Sequence[Measured]) -> list[Goal]:
    found = []
    for database in ("SQLite", "PostgreSQL"):
        figures = {
            one.figures.found["jobs"]: one.figures
            for one in measured
            if one.figures and "median_ms" in one.figures.extra and one.name.endswith(database)
        }
        if len(figures) > 1:
            few, many = min(figures), max(figures)
            name = f"time of a claim with {many:,} jobs pending against {few:,}, {database}"
            ratio = figures[many].extra["median_ms"] / figures[few].extra["median_ms"]
            cpu = figures[many].cpu_seconds / figures[few].cpu_seconds
            unsure = any(each.was_disturbed for each in figures.values())
            found.append(Goal(name, ratio, 1.5, at_least=False, cpu=cpu, unsure=unsure))
    return found


def _history(measured: Sequence[Measured]) -> list[Goal]:
    figures = {
        one.figures.found["prices"]: one.figures
        for one in measured
        if one.figures and "history_ms" in one.figures.extra
    }
    if len(figures) < 2:
        return []
    few, many = min(figures), max(figures)
    ratio = figures[many].extra["history_ms"] / figures[few].extra["history_ms"]
    cpu = figures[many].cpu_seconds / figures[few].cpu_seconds
    unsure = any(each.was_disturbed for each in figures.values())
    name = f"time of a history with {many:,} prices kept against {few:,}"
    return [Goal(name, ratio, 1.5, at_least=False, cpu=cpu, unsure=unsure)]


def _product_pages(measured: Sequence[Measured]) -> list[Goal]:
    rates = {
        one.name.rpartition(" ")[2]: one.figures
        for one in measured
        if one.figures and "product_pages_per_second" in one.figures.extra
    }
    if len(rates) < 2:
        return []
    ours, theirs = rates["tidemill"], rates["scrapy"]
    name = "product pages a second against tuned Scrapy"
    unsure = ours.was_disturbed or theirs.was_disturbed
    return [Goal(name, theirs.seconds / ours.seconds, 1.0, cpu=theirs.cpu_seconds / ours.cpu_seconds, unsure=unsure)]


def _slow_host(measured: Sequence[Measured]) -> list[Goal]:
    """A disturbance can only make this worse, so that a goal reached is reached all the same."""
    found = []
    for one in measured:
        if one.figures and "ideal_seconds" in one.figures.extra:
            ratio = one.figures.seconds / one.figures.extra["ideal_seconds"]
            unsure = one.figures.was_disturbed and ratio > BESIDE_A_SLOW_ONE
            name = "fast hosts' time beside a slow one against their ideal"
            found.append(Goal(name, ratio, BESIDE_A_SLOW_ONE, at_least=False, unsure=unsure))
    return found


def _fetching(measured: Sequence[Measured]) -> list[Goal]:
    """Both sides took turns in one process here too."""
    name = "pages a second of fetching alone, every gate on, against bare aiohttp"
    extras = [one.figures.extra for one in measured if one.figures and "fetch_ratio" in one.figures.extra]
    return [Goal(name, extra["fetch_ratio"], 0.7, cpu=extra["fetch_ratio_cpu"]) for extra in extras]


WATCHING = {
    "watching": ("processor time with everything that watches against none of it", 1.03, "x"),
    "metrics_ms": ("processor time of /metrics with 10,000 sources", 200, " ms"),
    "metrics_mb": ("size of /metrics with 10,000 sources", 2, " MB"),
}


def _watching(measured: Sequence[Measured]) -> list[Goal]:
    """By processor time: both sides took turns in one process."""
    extras = [one.figures.extra for one in measured if one.figures and "watching" in one.figures.extra]
    return [
        Goal(name, extra[figure], bound, at_least=False, unit=unit)
        for extra in extras
        for figure, (name, bound, unit) in WATCHING.items()
    ]


def _browser(measured: Sequence[Measured]) -> list[Goal]:
    """Both sides took turns in one process, so that what disturbed one disturbed the other."""
    name = "browser pages a minute against plain Playwright code"
    ratios = [one.figures.extra.get("browser_ratio") for one in measured if one.figures]
    return [Goal(name, ratio, 0.9) for ratio in ratios if ratio is not None]


FEED = {"feed": 3.0, "near": 3.0, "words": 3.0}
"""How many times longer each may take, at its 95th percentile, over a hundred times as many events."""


def _feed(measured: Sequence[Measured]) -> list[Goal]:
    """What readers wait for with many events against few."""
    figures = {
        one.figures.found["events"]: one.figures
        for one in measured
        if one.figures and "feed_p95_ms" in one.figures.extra
    }
    if len(figures) < 2:
        return []
    few, many = min(figures), max(figures)
    unsure = figures[few].was_disturbed or figures[many].was_disturbed
    return [
        Goal(
            f"p95 of a question ({what}) with {many:,} events against {few:,}",
            figures[many].extra[f"{what}_p95_ms"] / figures[few].extra[f"{what}_p95_ms"],
            bound,
            at_least=False,
            unsure=unsure,
        )
        for what, bound in FEED.items()
    ]


def _reading(measured: Sequence[Measured]) -> list[Goal]:
    """Both sides took turns in one process, by processor time."""
    beside = {"structured": "extruct and dateparser", "cards": "BeautifulSoup and dateparser"}
    return [
        Goal(f"event pages ({kind}) read and judged, against {them}", one.figures.extra[f"{kind}_times_as_fast"], 3.0)
        for one in measured
        if one.figures and "structured_times_as_fast" in one.figures.extra
        for kind, them in beside.items()
    ]


HOMES = {"search": 3.0, "newest": 3.0, "fading": 150.0, "decay": 150.0}
"""How many times longer each may take over a hundred times as many homes: a page of a search hardly at all."""


def _homes(measured: Sequence[Measured]) -> list[Goal]:
    """What each question takes over many homes against few."""
    figures = {
        one.figures.found["homes"]: one.figures for one in measured if one.figures and "homes" in one.figures.found
    }
    if len(figures) < 2:
        return []
    few, many = figures[min(figures)], figures[max(figures)]
    name = f"over {max(figures):,} homes against {min(figures):,}"
    return [
        Goal(f"time of a {what} {name}", many.extra[f"{what}_ms"] / few.extra[f"{what}_ms"], bound, at_least=False)
        for what, bound in HOMES.items()
    ]
