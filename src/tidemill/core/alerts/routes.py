"""Which channels a notice goes to, and whether it waits for the end of quiet hours."""

from collections.abc import Collection, Mapping
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

import msgspec

from tidemill.core.alerts.table import Severity


class ChannelRoute(msgspec.Struct, frozen=True, kw_only=True):
    """What a channel is sent: the severities and the verticals it names; every vertical if it names none."""

    severities: Collection[str] = tuple(each.value for each in Severity)
    verticals: Collection[str] = ()


class QuietHours(msgspec.Struct, frozen=True):
    """The part of each day in which only the most urgent is sent; it may go past midnight."""

    begins: time
    ends: time
    zone: str = "UTC"


def channels_for(
    severity: str, vertical: str, channels: Collection[str], routes: Mapping[str, ChannelRoute]
) -> list[str]:
    """Return the channels that a notice goes to; one without a vertical or severity goes to all of them."""
    found = []
    for channel in channels:
        route = routes.get(channel, ChannelRoute())
        fits = not severity or severity in route.severities
        if fits and (not vertical or not route.verticals or vertical in route.verticals):
            found.append(channel)
    return found


def send_after(severity: str, quiet: QuietHours | None, now: datetime) -> datetime:
    """Return when a notice may be sent: now, or when quiet hours end; the most urgent are never held."""
    if quiet is None or severity == Severity.P1.value:
        return now
    local = now.astimezone(ZoneInfo(quiet.zone))
    clock = local.time().replace(tzinfo=None)
    wraps = quiet.begins > quiet.ends
    inside = (clock >= quiet.begins or clock < quiet.ends) if wraps else quiet.begins <= clock < quiet.ends
    if not inside:
        return now
    end = local.replace(hour=quiet.ends.hour, minute=quiet.ends.minute, second=0, microsecond=0)
    if end <= local:
        end = (local + timedelta(days=1)).replace(
            hour=quiet.ends.hour, minute=quiet.ends.minute, second=0, microsecond=0
        )
    return end.astimezone(now.tzinfo)


def time_of_day(text: str) -> time:
    """Return the time written as `08:00`. Raise ValueError with what to write instead."""
    try:
        return time.fromisoformat(text.strip())
    except ValueError as error:
        msg = f"{text!r} is no time of the day; write 08:00"
        raise ValueError(msg) from error


def known_zone(name: str) -> str:
    """Return the name of a time zone. Raise ValueError if there is none of that name."""
    try:
        return str(ZoneInfo(name))
    except (ValueError, KeyError, OSError) as error:
        msg = f"{name!r} is no time zone; write one such as Europe/Amsterdam"
        raise ValueError(msg) from error


def quiet_hours(text: str, zone: str) -> QuietHours | None:
    """Return the quiet hours written as `22:00-07:00`; None for ''. Raise ValueError with what to write instead."""
    if not text:
        return None
    begins, _, ends = text.partition("-")
    try:
        return QuietHours(time_of_day(begins), time_of_day(ends), known_zone(zone))
    except ValueError as error:
        msg = f"alert_quiet_hours {text!r} cannot be read ({error}); write 22:00-07:00"
        raise ValueError(msg) from error
