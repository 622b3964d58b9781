"""Politeness: spacing, parallelism, Crawl-delay, Retry-After, robots.txt and the off switch, as the sites saw them."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from tidemill.lab.faults import RobotsChange
from tidemill.lab.simulation.event_log import Asked
from tidemill.lab.simulation.laws.finished import FinishedSimulation, LawVerdict, verdict
from tidemill.lab.world import RobotsTerms

ROBOTS = "/robots.txt"
KEPT_FOR = timedelta(hours=24)
ROUNDING = timedelta(milliseconds=1)
IN_HAND = timedelta(seconds=30)
"""A job that was in hand when its source was switched off, or when its host asked us to wait, is still carried out."""


def pace(finished: FinishedSimulation) -> LawVerdict:
    """No host is asked faster than its pace, nor more at a time than it allows, nor sooner than it asked for."""
    breaches: list[str] = []
    paces = {entry["name"]: entry["pace"] for entry in finished.entries}
    for host, asked in finished.requests_by_host.items():
        terms = paces[host.removesuffix(".test")]
        interval, burst = timedelta(seconds=terms["interval_seconds"]), int(terms["burst"])
        breaches += spacing(finished.world.robots(host), asked, interval, burst)
        breaches += too_many_at_once(asked, int(terms["parallel"]))
        breaches += ignored_retry_after(asked)
    return verdict("no host is asked over its pace", f"{len(finished.recorder.requests)} requests", breaches)


def spacing(robots: RobotsTerms, asked: list[Asked], interval: timedelta, burst: int) -> Iterator[str]:
    """Each request against a bucket of `burst`, refilled once per interval; a Crawl-delay leaves no burst."""
    delay = timedelta(seconds=robots.crawl_delay)
    slowed = delay > interval
    booked_until: datetime | None = None
    before: Asked | None = None
    for each in asked:
        # the first page after a robots.txt that names a delay was paced before anyone could know of it
        unaware = before is None or before.path == ROBOTS
        room = timedelta(0) if slowed and not unaware else interval * (burst - 1)
        if booked_until is not None and booked_until - each.at > room + ROUNDING:
            yield f"{each.host}{each.path} asked at {each.at:%d %H:%M:%S.%f}, {booked_until - room - each.at} too soon"
        start = each.at if booked_until is None or booked_until < each.at else booked_until
        booked_until = start + (delay if slowed and each.path != ROBOTS else interval)
        before = each


def too_many_at_once(asked: list[Asked], parallel: int) -> Iterator[str]:
    """How many requests are under way together."""
    under_way: list[datetime] = []
    for each in asked:
        under_way = [ended for ended in under_way if ended > each.at]
        under_way.append(each.ended)
        if len(under_way) > parallel:
            yield f"{each.host} had {len(under_way)} requests at once at {each.at:%d %H:%M:%S}, {parallel} allowed"


REFUSALS = frozenset({401, 403, 429})
"""A robots.txt that is answered so is not known, and nobody remembers it."""


def ignored_retry_after(asked: list[Asked]) -> Iterator[str]:
    """A site that names a time to come back is left alone until then, but for what was under way already."""
    rests: list[tuple[datetime, datetime]] = []
    for each in asked:
        for told, until in rests:
            if told + IN_HAND < each.at < until - ROUNDING:
                yield f"{each.host} asked at {each.at:%d %H:%M:%S}, though it wanted peace until {until:%H:%M:%S}"
        rests = [rest for rest in rests if rest[1] > each.at]
        if each.retry_after is not None:
            rests.append((each.ended, each.ended + timedelta(seconds=each.retry_after)))


def permission(finished: FinishedSimulation) -> LawVerdict:
    """Nobody is asked without permission: robots.txt is read first and obeyed, and off means off."""
    breaches: list[str] = []
    pages = 0
    for host, asked in finished.requests_by_host.items():
        pages += sum(each.path != ROBOTS for each in asked)
        breaches += robots_violations(finished, host, asked)
    breaches += switched_off(finished)
    return verdict("nobody is asked without leave", f"{pages} pages", breaches)


def robots_violations(finished: FinishedSimulation, host: str, asked: list[Asked]) -> Iterator[str]:
    """Pages that were asked for without a robots.txt of the last 24 hours, or against it.

    A worker that has not asked for it goes by what another was told: answers are kept, failures are not.
    """
    closed_path = finished.world.robots(host).closed_path
    known: dict[int, tuple[datetime, bool]] = {}
    kept: tuple[datetime | None, bool] = (None, True)
    for each in asked:
        if each.path == ROBOTS:
            if each.status:
                barred = any(isinstance(fault, RobotsChange) for fault in finished.world.faults(host, each.at))
                known[each.worker] = (each.ended, barred or each.status >= 500)  # noqa: PLR2004 - server errors
                kept = known[each.worker] if each.status < 500 and each.status not in REFUSALS else kept  # noqa: PLR2004
            continue
        read_at, barred = known.get(each.worker, kept)
        if read_at is None or each.at - read_at > KEPT_FOR + IN_HAND:
            yield f"{host}{each.path} asked at {each.at:%d %H:%M:%S} without a fresh robots.txt"
        elif barred and each.path.startswith(closed_path):
            yield f"{host}{each.path} asked at {each.at:%d %H:%M:%S} against robots.txt"


def switched_off(finished: FinishedSimulation) -> Iterator[str]:
    """Requests to sources that a person had switched off."""
    for host, asked in finished.requests_by_host.items():
        for off, on in finished.times_off[host]:
            for each in asked:
                if off + IN_HAND < each.at < on:
                    yield f"{host}{each.path} asked at {each.at:%d %H:%M:%S}, though it was switched off"
