"""What can be wrong with a site, as values on a timetable."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random

import msgspec

from tidemill.lab.dice import dice

EVERYWHERE = "*"


class Fault(msgspec.Struct, frozen=True):
    """Something that is wrong with a site; a vertical can add kinds of its own beside those here."""


class Forbidden403(Fault, frozen=True):
    """Every page answers 403."""


class TooMany429(Fault, frozen=True):
    """Every page answers 429 and asks us to come back after so many seconds."""

    retry_after: int = 60


class ServerError500(Fault, frozen=True):
    """Every page answers a 5xx."""

    status: int = 500


class TimeOut(Fault, frozen=True):
    """The site takes the request and never answers."""


class SlowDrip(Fault, frozen=True):
    """The page comes in `pieces`, one per `pause`."""

    pause: timedelta = timedelta(seconds=5)
    pieces: int = 20


class MalformedHtml(Fault, frozen=True):
    """Tags are left open, quotes are lost, stray brackets and NULs stand in between."""


class EmptyList(Fault, frozen=True):
    """Nothing is on, and the page says so: the truth, not a defect."""


class BrokenEmpty(Fault, frozen=True):
    """The list is gone and nothing says why: a script that should have filled it did not run."""


class Redesign(Fault, frozen=True):
    """The site is built anew: other markup, other class names, no structured data."""


class RobotsChange(Fault, frozen=True):
    """robots.txt disallows the pages that we come for."""


class RobotsDown(Fault, frozen=True):
    """robots.txt answers 503; the pages are well."""


class HugePage(Fault, frozen=True):
    """A page of `megabytes`, next to nothing once compressed."""

    megabytes: int = 200


class WrongCharset(Fault, frozen=True):
    """The page is sent in one character set and declared as another."""

    declared: str = "utf-8"
    actual: str = "windows-1252"


class TruncatedBody(Fault, frozen=True):
    """The connection is cut when this share of the page has been sent."""

    share: float = 0.4


class TruncatedList(Fault, frozen=True):
    """The list stops after this share of its items (one at least), and the page looks whole."""

    share: float = 0.05


class TruncatedPages(Fault, frozen=True):
    """A list over several pages names no page after this one, though it goes on; the page looks whole."""

    after: int = 1


class BlockPage(Fault, frozen=True):
    """A captcha instead of the page, with status 200."""


class ConsentWall(Fault, frozen=True):
    """A cookie wall instead of the page, with status 200."""


class BrokenJsonLd(Fault, frozen=True):
    """The structured data is not JSON (one block of it, where there are several)."""


class DstNight(Fault, frozen=True):
    """The list holds something at half past two in the night in which the clocks change."""


class Outage(Fault, frozen=True):
    """No connection can be made."""


KINDS: Mapping[str, Callable[[Random], Fault]] = {
    "forbidden": lambda _: Forbidden403(),
    "too-many": lambda draw: TooMany429(draw.choice((30, 60, 120, 600))),
    "server-error": lambda draw: ServerError500(draw.choice((500, 502, 503))),
    "time-out": lambda _: TimeOut(),
    "slow-drip": lambda draw: SlowDrip(timedelta(seconds=draw.choice((2, 5)))),
    "malformed": lambda _: MalformedHtml(),
    "empty": lambda _: EmptyList(),
    "broken-empty": lambda _: BrokenEmpty(),
    "redesign": lambda _: Redesign(),
    "robots-change": lambda _: RobotsChange(),
    "robots-down": lambda _: RobotsDown(),
    "huge-page": lambda _: HugePage(),
    "wrong-charset": lambda _: WrongCharset(),
    "truncated-body": lambda draw: TruncatedBody(draw.uniform(0.1, 0.9)),
    "truncated-list": lambda draw: TruncatedList(draw.uniform(0.01, 0.1)),
    "truncated-pages": lambda _: TruncatedPages(),
    "block-page": lambda _: BlockPage(),
    "consent-wall": lambda _: ConsentWall(),
    "broken-json-ld": lambda _: BrokenJsonLd(),
    "dst-night": lambda _: DstNight(),
    "outage": lambda _: Outage(),
}
ALL_KINDS = tuple(KINDS)

_FOR_GOOD = "redesign"
_WORLDWIDE = "outage"
_LONGEST = timedelta(days=2)
_DAYS_PER_FAULT = 6
_HOSTS_PER_REDESIGN = 20


class ScheduledFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault on a host (or `*`, everywhere) from `begins` until, but not including, `ends`; None is for good."""

    host: str
    kind: str
    fault: Fault
    begins: datetime
    ends: datetime | None = None

    def holds(self, moment: datetime) -> bool:
        """Whether the fault is there at `moment`."""
        return self.begins <= moment and (self.ends is None or moment < self.ends)


class Timetable:
    """Which faults hold where and when."""

    def __init__(self, scheduled: Iterable[ScheduledFault] = ()) -> None:
        """Keep the faults, and find them by host."""
        self.scheduled = tuple(sorted(scheduled, key=lambda each: (each.begins, each.host, each.kind)))
        self._by_host: dict[str, list[ScheduledFault]] = {}
        for each in self.scheduled:
            self._by_host.setdefault(each.host, []).append(each)

    def at(self, host: str, moment: datetime) -> tuple[Fault, ...]:
        """The faults that hold on `host` at `moment`, worldwide ones first."""
        here = self._by_host.get(host, ())
        everywhere = self._by_host.get(EVERYWHERE, ())
        return tuple(each.fault for found in (everywhere, here) for each in found if each.holds(moment))


def timetable(
    seed: int, hosts: Sequence[str], start: datetime, days: float, kinds: Iterable[str] = ALL_KINDS
) -> Timetable:
    """A timetable for `days` from `start` in which every kind occurs, if there are hosts and days enough.

    Kinds are dealt from a shuffled pack, so none is left out for long. A host has one fault at a time, and is
    well at least as long as it is ill. There is one worldwide outage, and one redesign per 20 hosts (at least one),
    both in the second half, because they leave the deepest marks. Faults shrink with `days`: a demo of a minute
    has its faults too.
    """
    wanted = _known(kinds)
    period = timedelta(days=days)
    scheduled = [*_dealt(seed, hosts, start, period, [kind for kind in wanted if kind not in {_FOR_GOOD, _WORLDWIDE}])]
    if _FOR_GOOD in wanted:
        scheduled += _redesigns(seed, hosts, start, period)
    if _WORLDWIDE in wanted:
        begins = start + period * 0.7
        length = min(period * 0.1, timedelta(hours=6))
        scheduled.append(
            ScheduledFault(host=EVERYWHERE, kind=_WORLDWIDE, fault=Outage(), begins=begins, ends=begins + length)
        )
    return Timetable(scheduled)


def _known(kinds: Iterable[str]) -> list[str]:
    wanted = list(kinds)
    unknown = [kind for kind in wanted if kind not in KINDS]
    if unknown:
        msg = f"unknown fault {', '.join(unknown)}; choose from {', '.join(ALL_KINDS)}"
        raise ValueError(msg)
    return wanted


def _dealt(
    seed: int, hosts: Sequence[str], start: datetime, period: timedelta, kinds: Sequence[str]
) -> Iterable[ScheduledFault]:
    if not kinds or not hosts:
        return
    draw = dice(seed, "timetable")
    # a short period or a small world still has room for every kind
    per_host = max(1, round(period / timedelta(days=_DAYS_PER_FAULT)), -(-len(kinds) // len(hosts)))
    slot = period / per_host
    pack: list[str] = []
    for turn in range(per_host):
        for host in hosts:
            pack = pack or draw.sample(kinds, len(kinds))
            kind = pack.pop()
            begins = start + slot * (turn + draw.uniform(0.05, 0.45))
            ends = begins + min(slot * draw.uniform(0.2, 0.5), _LONGEST)
            yield ScheduledFault(host=host, kind=kind, fault=KINDS[kind](draw), begins=begins, ends=ends)


def _redesigns(seed: int, hosts: Sequence[str], start: datetime, period: timedelta) -> Iterable[ScheduledFault]:
    draw = dice(seed, "redesigns")
    count = min(len(hosts), max(1, len(hosts) // _HOSTS_PER_REDESIGN))
    for host in draw.sample(list(hosts), count):
        begins = start + period * draw.uniform(0.5, 0.65)
        yield ScheduledFault(host=host, kind=_FOR_GOOD, fault=Redesign(), begins=begins)
