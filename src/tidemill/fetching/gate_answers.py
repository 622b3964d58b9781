"""The answers of the fetcher's own gates (guard, robots.txt, pace) as people read them."""

from datetime import timedelta

from tidemill.core.failure import Failure
from tidemill.core.gates import Gate, GateAnswer, allow, hold_until, refuse
from tidemill.core.pacing import Pace, has_own_pace
from tidemill.core.urls import origin_of
from tidemill.fetching.robots import Allowed, Disallowed, RobotsVerdict, Unavailable


def robots_answer(href: str, verdict: RobotsVerdict) -> GateAnswer:
    """Return what robots.txt says about an address."""
    match verdict:
        case Allowed(crawl_delay=timedelta() as delay):
            return allow(Gate.ROBOTS, f"{origin_of(href)}/robots.txt allows it, every {delay.total_seconds():g} s")
        case Allowed():
            return allow(Gate.ROBOTS, f"{origin_of(href)}/robots.txt allows it")
        case Disallowed(rule=rule):
            return refuse(Gate.ROBOTS, f"robots.txt says {rule!r}", Failure.ROBOTS_DISALLOWED)
        case Unavailable(until=until, detail=detail):
            return hold_until(Gate.ROBOTS, f"robots.txt is unknown: {detail}", until)


def pace_answer(host: str, pace: Pace, waited: timedelta) -> GateAnswer:
    """Return the pace that a host is asked at, and how long the request waited for it."""
    every = f"one request per {pace.interval.total_seconds():g} s" if pace.interval else "no spacing"
    apart = " (counted apart from its domain)" if has_own_pace(host) else ""
    return allow(Gate.PACE, f"{host}{apart}: {every}, {pace.parallel} at a time; waited {waited.total_seconds():.2f} s")


def charge_answer(host: str, pace: Pace, requests: int) -> GateAnswer:
    """Return how many requests a page made by itself, and how much longer its host's next request waits for them."""
    wait = (pace.interval * requests).total_seconds()
    return allow(
        Gate.PACE, f"{host}: the page made {requests} requests of its own; the next one waits {wait:g} s longer"
    )


def guard_answer(href: str, refusal: str) -> GateAnswer:
    """Return what the address guard says about an address as it is written."""
    if refusal:
        return refuse(Gate.GUARD, refusal, Failure.ADDRESS_REFUSED)
    return allow(
        Gate.GUARD, f"{origin_of(href)} may be asked; the address it leads to is judged when it is connected to"
    )
