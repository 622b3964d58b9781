"""The ground truth: what a site's agenda holds, day by day, and how it changes before it happens."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from random import Random
from zoneinfo import ZoneInfo

import msgspec

from tidemill.lab.dice import dice
from tidemill.verticals.events.lab.words import Topic, Vocabulary

LONGEST_LEAD = timedelta(days=60)
LONGEST_MOVE = timedelta(days=6)
_IDS_PER_DAY = 10
_UNFIT = re.compile(r"[^a-z0-9]+")  # for an address
_WEEKEND = 4  # Friday is the first day on which more is on
_CORRECTED, _MOVED, _CANCELLED = 0.12, 0.20, 0.25  # cumulative shares of the entries
_WITHDRAWN = 0.03  # and of those that go without a word


class Version(msgspec.Struct, frozen=True):
    """What the site says about an event from `since` (UTC) on. `starts` is in the site's own time zone."""

    since: datetime
    title: str
    starts: datetime
    cancelled: bool = False


class AgendaEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One event over the whole of its life on the site: it is shown from `appears` until `vanishes` (UTC)."""

    id: int
    page: str
    slug: str
    place: str
    description: str
    lasts: timedelta
    price: int
    appears: datetime
    vanishes: datetime
    versions: tuple[Version, ...]

    def version_at(self, moment: datetime) -> int:
        """Which version holds at `moment`."""
        if len(self.versions) == 1:
            return 0
        return max(sum(version.since <= moment for version in self.versions) - 1, 0)

    @property
    def changes(self) -> tuple[datetime, ...]:
        """Every moment at which what the site shows of the entry changes."""
        return (self.appears, *(version.since for version in self.versions[1:]), self.vanishes)


class Venue(msgspec.Struct, frozen=True, kw_only=True):
    """What a site's entries are drawn from."""

    seed: int
    host: str
    name: str
    vocabulary: Vocabulary
    pages: tuple[tuple[str, Topic, float], ...]


def entries_on(venue: Venue, day: date) -> tuple[AgendaEntry, ...]:
    """The entries first announced for `day`, whatever becomes of them."""
    draw = dice(venue.seed, venue.host, day.toordinal())
    pages = [page for page in venue.pages for _ in range(_how_many(draw, page[2], day))]
    return tuple(_entry(draw, venue, page, day, index) for index, page in enumerate(pages[: _IDS_PER_DAY - 1]))


def day_of(entry_id: int) -> date:
    """The day for which the entry with this id was first announced."""
    return date.fromordinal(max(1, min(entry_id // _IDS_PER_DAY, date.max.toordinal())))


def enlivened(venue: Venue, entry: AgendaEntry, start: datetime, opening: timedelta) -> AgendaEntry:
    """The entry as it is in a world whose first moments are busy, so that a demo of a minute sees changes.

    A third of what is on the site at `start` appears, changes or is withdrawn during `opening` instead.
    """
    if not entry.appears < start < entry.vanishes:
        return entry
    draw = dice(venue.seed, venue.host, entry.id, "opening")
    moment = start + opening * draw.uniform(0.2, 0.9)
    last = entry.versions[-1]
    match draw.randrange(12):
        case 0:
            return msgspec.structs.replace(entry, appears=moment, versions=(_replaced(last, since=moment),))
        case 1:
            changed = _replaced(
                last, since=moment, title=draw.choice(venue.vocabulary.corrections).format(title=last.title)
            )
            return msgspec.structs.replace(entry, versions=(*_before(entry, moment), changed))
        case 2:
            moved = _replaced(last, since=moment, starts=last.starts + timedelta(days=1))
            return msgspec.structs.replace(
                entry, versions=(*_before(entry, moment), moved), vanishes=_midnight_after(moved.starts)
            )
        case 3:
            return msgspec.structs.replace(entry, vanishes=moment)
        case _:
            return entry


def clock_change_entry(venue: Venue, day: date) -> AgendaEntry:
    """An event at 02:30 in the next night in which the clocks change: an hour that is missing, or comes twice."""
    night = _next_clock_change(venue.vocabulary.time_zone, day)
    starts = datetime.combine(night, time(2, 30), ZoneInfo(venue.vocabulary.time_zone))
    announced = (starts - timedelta(days=400)).astimezone(UTC)
    return AgendaEntry(
        id=night.toordinal() * _IDS_PER_DAY + _IDS_PER_DAY - 1,
        page=venue.pages[0][0],
        slug=slug(venue.vocabulary.phrases["dst"]),
        place=venue.name,
        description=venue.vocabulary.sentences[0],
        lasts=timedelta(minutes=90),
        price=5,
        appears=announced,
        vanishes=_midnight_after(starts),
        versions=(Version(announced, venue.vocabulary.phrases["dst"], starts),),
    )


def slug(title: str) -> str:
    """The title as the end of an address."""
    return _UNFIT.sub("-", title.lower()).strip("-")[:60]


def _how_many(draw: Random, rate: float, day: date) -> int:
    busy = rate * (1.7 if day.weekday() >= _WEEKEND else 0.5)
    return int(busy) + (draw.random() < busy % 1)


def _entry(draw: Random, venue: Venue, page: tuple[str, Topic, float], day: date, index: int) -> AgendaEntry:
    vocabulary = venue.vocabulary
    title = drawn_title(draw, vocabulary, page[1])
    zone = ZoneInfo(vocabulary.time_zone)
    starts = datetime.combine(day, time(draw.randint(10, 21), draw.choice((0, 0, 15, 30, 30, 45))), zone)
    lead = timedelta(days=draw.randint(8, LONGEST_LEAD.days))
    appears = datetime.combine(day - lead, time(draw.randint(8, 17), draw.randrange(60)), zone).astimezone(UTC)
    versions = tuple(_versions(draw, vocabulary, Version(appears, title, starts)))
    vanishes = _midnight_after(versions[-1].starts)
    if draw.random() < _WITHDRAWN:
        vanishes = _between(draw, appears, starts)
    price = draw.randint(5, 35)
    return AgendaEntry(
        id=day.toordinal() * _IDS_PER_DAY + index,
        page=page[0],
        slug=slug(title),
        place=f"{venue.name}, {draw.choice(vocabulary.rooms)}",
        description=" ".join(draw.sample(vocabulary.sentences, draw.randint(3, 6))).replace("{price}", str(price)),
        lasts=timedelta(minutes=draw.choice((60, 90, 120, 150))),
        price=price,
        appears=appears,
        vanishes=vanishes,
        versions=versions,
    )


def drawn_title(draw: Random, vocabulary: Vocabulary, topic: Topic) -> str:
    """A title that fits the topic."""
    title = draw.choice(topic.titles)
    for name, words in vocabulary.bank.items():
        if f"{{{name}}}" in title:
            title = title.replace(f"{{{name}}}", draw.choice(words))
    return title[0].upper() + title[1:]


def _versions(draw: Random, vocabulary: Vocabulary, first: Version) -> Iterator[Version]:
    """The first version, and for one in four something that changes afterwards."""
    yield first
    fate = draw.random()
    since = _between(draw, first.since, first.starts)
    if fate < _CORRECTED:
        yield _replaced(first, since=since, title=draw.choice(vocabulary.corrections).format(title=first.title))
    elif fate < _MOVED:
        yield _replaced(first, since=since, starts=first.starts + timedelta(days=draw.randint(1, LONGEST_MOVE.days)))
    elif fate < _CANCELLED:
        yield _replaced(first, since=since, cancelled=True)


def _before(entry: AgendaEntry, moment: datetime) -> tuple[Version, ...]:
    return tuple(version for version in entry.versions if version.since < moment)


def _replaced(version: Version, **changes: object) -> Version:
    return msgspec.structs.replace(version, **changes)


def _between(draw: Random, earlier: datetime, later: datetime) -> datetime:
    moment = earlier + (later - earlier) * draw.uniform(0.1, 0.9)
    return moment.replace(second=0, microsecond=0)


def _midnight_after(moment: datetime) -> datetime:
    return datetime.combine(moment.date() + timedelta(days=1), time(), moment.tzinfo).astimezone(UTC)


@lru_cache(maxsize=1024)
def _next_clock_change(time_zone: str, day: date) -> date:
    zone = ZoneInfo(time_zone)
    offset = datetime.combine(day, time(12), zone).utcoffset()
    return next(
        night
        for night in (day + timedelta(days=ahead) for ahead in range(1, 366))
        if datetime.combine(night, time(12), zone).utcoffset() != offset
    )
