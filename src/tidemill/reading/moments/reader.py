"""From a text to its moments: the cheap ways first, and nothing that is not a date."""

import re
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

import msgspec

from tidemill.reading.moments.calendar import day
from tidemill.reading.moments.clock import ClockTime, chosen, clocks_in, says_all_day
from tidemill.reading.moments.common import parse_common
from tidemill.reading.moments.dates import Calendar, Mention, dates_in
from tidemill.reading.moments.foreign import parse_foreign
from tidemill.reading.moments.grammar.phrase import LONGEST as LONGEST_PHRASE
from tidemill.reading.moments.grammar.phrase import parse_phrase
from tidemill.reading.moments.iso import parse_iso
from tidemill.reading.moments.moment import LAST_MINUTE, VAGUE, Grain, Moment, in_zone, local, zone_of
from tidemill.reading.moments.other_languages import in_known_words
from tidemill.reading.moments.relative import relatives_in
from tidemill.reading.moments.words import DATE_HINT, TO, prepared

LONGEST = 600
"""Characters of a text that are read for a date; one further on is not what the text is about."""

LONGEST_RUNNING = 2_000
"""The same for all the dates of running text: each is held against all others."""

_COMMON_LANGUAGES = frozenset({"nl", "en", "de", "es"})
"""Those in which no short name of a day or month means another one, as the French `mar` does."""
_ISO_RANGE = re.compile(r"^(\d{4}-\d\d-\d\d)(?:T[\d:Z+.]+)?/(\d{4}-\d\d-\d\d)(?:T[\d:Z+.]+)?$")
_BETWEEN = re.compile(rf"[\s,;()\x00]*{TO}[\s,;()]*(?:de\s|the\s)?")


_OFFSET = re.compile(r"\d\s?(?:utc|gmt)\b(?:\s?(?P<sign>[+-])(?P<hours>0?\d|1[0-4]):?(?P<minutes>[0-5]\d)?(?!\d))?")


class FoundMoment(msgspec.Struct, frozen=True):
    """A moment and where in the prepared text its date stands."""

    begins: int
    ends: int
    moment: Moment
    absolute: bool = True


def parse_moment(
    text: str,
    now: datetime,
    time_zone: str = "Europe/Amsterdam",
    language: str = "nl",
    *,
    day_first: bool | None = None,
) -> Moment | None:
    """The moment that a text is about: its first date, or first range of dates, with the time that goes with it.

    `now` is what relative dates and missing years are read against. Digits are read day first, except in
    English unless `day_first` says so. A time without a date is today's, with `date_given` false.
    """
    zone = zone_of(time_zone)
    stamp = parse_iso(text, zone)
    if stamp is None and language in _COMMON_LANGUAGES:
        stamp = parse_common(text, (in_zone(now, zone) if now.tzinfo is not None else now).date(), zone)
    if stamp is not None:
        return stamp
    found = parse_moments(text, now, time_zone, language, day_first=day_first)
    return found[0] if found else None


def parse_moments(
    text: str,
    now: datetime,
    time_zone: str = "Europe/Amsterdam",
    language: str = "nl",
    *,
    day_first: bool | None = None,
) -> list[Moment]:
    """All moments that a text names, in its order (`12, 14 en 16 mei`); none if it names none."""
    zone, stripped = zone_of(time_zone), _ISO_RANGE.sub(r"\1 - \2", text.strip())
    moment = parse_iso(stripped, zone)
    if moment is not None:
        return [moment]
    if not DATE_HINT.search(stripped) and len(stripped) > LONGEST_PHRASE:
        return []
    here = in_zone(now, zone) if now.tzinfo is not None else local(now, zone)
    line, calendar = prepared(stripped[:LONGEST]), _calendar(here.date(), language, day_first)
    phrase = parse_phrase(line, here, zone, language, day_first=calendar.day_first)
    if phrase is not None:
        return [msgspec.structs.replace(phrase, text=stripped)]
    moments = [found.moment for found in _MomentSearch(in_known_words(line), here, zone, calendar).moments()]
    if not moments and (foreign := parse_foreign(stripped, here)) is not None:
        moments = [Moment(starts=local(foreign, zone))]
    return [msgspec.structs.replace(one, text=stripped[:LONGEST]) for one in moments]


def find_moments(
    text: str,
    now: datetime,
    time_zone: str = "Europe/Amsterdam",
    language: str = "nl",
    *,
    day_first: bool | None = None,
) -> list[FoundMoment]:
    """The moments in running text and where they stand in it, once `prepared`; times without a date are left out."""
    text = text[:LONGEST_RUNNING]
    if not DATE_HINT.search(text):
        return []
    zone = zone_of(time_zone)
    here = in_zone(now, zone) if now.tzinfo is not None else local(now, zone)
    reading = _MomentSearch(in_known_words(prepared(text)), here, zone, _calendar(here.date(), language, day_first))
    return [found for found in reading.moments() if found.moment.date_given]


def parse_end(
    text: str,
    moment: Moment,
    time_zone: str = "Europe/Amsterdam",
    language: str = "nl",
    *,
    day_first: bool | None = None,
) -> datetime | None:
    """The end that a text of its own names, for something that starts at `moment`."""
    end = parse_moment(text, moment.starts, time_zone, language, day_first=day_first)
    if end is None:
        return None
    if not end.date_given:
        return local(datetime.combine(moment.day, end.starts.time()), zone_of(time_zone))
    if end.grain is Grain.MINUTE:
        return end.starts
    return local(datetime.combine(end.day, LAST_MINUTE), zone_of(time_zone))


def _calendar(today: date, language: str, day_first: bool | None) -> Calendar:  # noqa: FBT001 - None is a third answer
    return Calendar(today, language[:2] != "en" if day_first is None else day_first)


class _MomentSearch:
    """One text being read: its dates, then the times that are left when the dates are blanked out."""

    def __init__(self, text: str, now: datetime, zone: ZoneInfo, calendar: Calendar) -> None:
        self._text = text
        self._now = now
        self._zone = zone
        self._calendar = calendar
        self._offset = _named_offset(text)

    def moments(self) -> list[FoundMoment]:
        mentions = _surest([*dates_in(self._text, self._calendar), *relatives_in(self._text, self._now)])
        rest = _blanked(self._text, mentions)
        if not mentions:
            return self._today(rest)
        mentions = _joined(mentions, _blanked_times(rest))
        found: list[FoundMoment] = []
        for index, mention in enumerate(mentions):
            stops = mentions[index + 1].begins if index + 1 < len(mentions) else len(rest)
            clock = self._clock(rest, mention, 0 if index == 0 else mention.begins, stops)
            found += self._of_mention(mention, clock, all_day=says_all_day(rest))
        return found

    def _today(self, rest: str) -> list[FoundMoment]:
        clock = chosen(clocks_in(rest))
        if clock is None:
            return []
        mention = Mention(begins=clock.begins, ends=clock.ends, first=self._calendar.today)
        (found,) = self._of_mention(mention, clock, all_day=False)
        return [msgspec.structs.replace(found, moment=msgspec.structs.replace(found.moment, date_given=False))]

    def _clock(self, rest: str, mention: Mention, begins: int, stops: int) -> ClockTime | None:
        """The time that goes with a date: one after it up to the next date, else one before it.

        A range whose first date has an hour of its own ends at the hour that its second one has.
        """
        clocks = [clock for clock in clocks_in(rest[:stops], mention.ends) if clock.begins >= begins]
        after = chosen([clock for clock in clocks if clock.begins >= mention.ends])
        if mention.middle is None:
            return after or chosen(clocks)
        opening = chosen(
            [
                clock
                for clock in clocks_in(rest[: mention.middle[1]], mention.middle[0])
                if clock.begins >= mention.middle[0]
            ]
        )
        if opening is None:
            return after
        return msgspec.structs.replace(opening, end=after.start if after else None)

    def _of_mention(self, mention: Mention, clock: ClockTime | None, *, all_day: bool) -> list[FoundMoment]:
        moments = [self._moment(mention, mention.first, mention.last, clock, all_day=all_day)]
        moments += [self._moment(mention, other, None, clock, all_day=all_day) for other in mention.others]
        absolute = mention.is_full or mention.month_day is not None
        return [FoundMoment(mention.begins, mention.ends, moment, absolute) for moment in moments]

    def _moment(
        self, mention: Mention, first: date, last: date | None, clock: ClockTime | None, *, all_day: bool
    ) -> Moment:
        start, grain = self._start(mention, clock)
        return Moment(
            starts=self._at(first, start or time()),
            ends=self._end(first, last, start, clock),
            grain=grain,
            all_day=all_day and clock is None,
            year_given=mention.year_given,
            weekday_agrees=None if mention.weekday is None else mention.first.weekday() == mention.weekday,
        )

    def _start(self, mention: Mention, clock: ClockTime | None) -> tuple[time | None, Grain]:
        if clock is not None:
            return clock.start, Grain.MINUTE
        if mention.clock is not None:
            return time(*mention.clock), Grain.MINUTE
        if mention.part is not None:
            return time(mention.part), Grain.PART
        return None, mention.grain

    def _end(self, first: date, last: date | None, start: time | None, clock: ClockTime | None) -> datetime | None:
        closing = clock.end if clock else None
        if closing is None:
            return self._at(last, LAST_MINUTE) if last else None
        if last is not None and last > first:
            return self._at(last, closing)
        overnight = start is not None and closing <= start
        return self._at(date.fromordinal(first.toordinal() + overnight), closing)

    def _at(self, on: date, at: time) -> datetime:
        moment = datetime.combine(on, at)
        if self._offset is None or at in {time(), LAST_MINUTE}:
            return local(moment, self._zone)
        return in_zone(moment.replace(tzinfo=self._offset), self._zone)


def _named_offset(text: str) -> timezone | None:
    """The offset that a text tells its times in (`07:00 UTC`, `22:45 GMT+0900`); None for the zone's own."""
    match = _OFFSET.search(text)
    if match is None:
        return None
    minutes = int(match["hours"] or 0) * 60 + int(match["minutes"] or 0)
    return timezone(timedelta(minutes=-minutes if match["sign"] == "-" else minutes))


def _surest(mentions: Iterable[Mention]) -> list[Mention]:
    """The mentions without those that overlap a surer one, in the order of the text.

    A weekday alone or a month alone says nothing that a full date beside it does not say better.
    """
    kept: list[Mention] = []
    for mention in mentions:
        if all(mention.ends <= other.begins or mention.begins >= other.ends for other in kept):
            kept.append(mention)
    dated = [mention for mention in kept if mention.month_day is not None or mention.is_full]
    if dated:
        kept = [mention for mention in kept if mention in dated or mention.is_offset]
    elif any(mention.grain not in VAGUE for mention in kept):
        kept = [mention for mention in kept if mention.grain not in VAGUE]
    return sorted(kept, key=lambda mention: mention.begins)


def _blanked(text: str, mentions: list[Mention]) -> str:
    for mention in mentions:
        text = text[: mention.begins] + "\x00" * (mention.ends - mention.begins) + text[mention.ends :]
    return text


def _blanked_times(rest: str) -> str:
    for clock in clocks_in(rest):
        rest = rest[: clock.begins] + "\x00" * (clock.ends - clock.begins) + rest[clock.ends :]
    return rest


def _joined(mentions: list[Mention], rest: str) -> list[Mention]:
    """The mentions with `10 augustus - 12 september` made one: the first lasts until the second."""
    joined: list[Mention] = []
    for mention in mentions:
        before = joined[-1] if joined else None
        if before is not None and before.last is None and _BETWEEN.fullmatch(rest[before.ends : mention.begins]):
            pair = _range(before, mention)
            if pair is not None:
                joined[-1] = pair
                continue
        joined.append(mention)
    return joined


def _range(first: Mention, second: Mention) -> Mention | None:
    """One mention of two: a year that only one of them has is the other's as well."""
    start, end = first.first, second.first
    if not first.year_given and second.year_given and first.month_day is not None:
        start = _in_year(first.month_day, end.year, latest=end) or start
    elif first.month_day is not None and second.month_day is not None and not second.year_given:
        end = _in_year(second.month_day, start.year + (second.month_day < (start.month, start.day))) or end
    if end < start:
        return None
    return msgspec.structs.replace(
        first, ends=second.ends, first=start, last=second.last or end, middle=(first.ends, second.begins),
        year_given=first.year_given or second.year_given,
    )  # fmt: skip


def _in_year(month_day: tuple[int, int], year: int, latest: date | None = None) -> date | None:
    found = day(year, *month_day)
    if found is not None and latest is not None and found > latest:
        return day(year - 1, *month_day)
    return found
