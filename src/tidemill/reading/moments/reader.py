"""From a phrase to a moment: the cheap ways first."""

from datetime import datetime, time

from tidemill.reading.moments.iso import parse_iso
from tidemill.reading.moments.moment import Grain, Moment, local, zone_of


def parse_moment(
    text: str,
    now: datetime,
    time_zone: str = "Europe/Amsterdam",
    language: str = "nl",
    *,
    day_first: bool | None = None,
) -> Moment | None:
    """The moment that a text names; None if it names none."""
    _ = now, language, day_first
    return parse_iso(text.strip(), zone_of(time_zone))


def parse_end(
    text: str,
    moment: Moment,
    time_zone: str = "Europe/Amsterdam",
    language: str = "nl",
    *,
    day_first: bool | None = None,
) -> datetime | None:
    """The end that a text of its own names, for something that starts at `moment`."""
    zone = zone_of(time_zone)
    end = parse_moment(text, moment.starts, time_zone, language, day_first=day_first)
    if end is None:
        return None
    if end.grain is Grain.MINUTE:
        return end.starts
    return local(datetime.combine(end.day, time(23, 59)), zone)
