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


def quiet_hours(text: str, zone: str) -> QuietHours | None:
    """Return the quiet hours written as `22:00-07:00`; None for ''. Raise ValueError with what to write instead."""
    if not text:
        return None
    begins, _, ends = text.partition("-")
    try:
        return QuietHours(time.fromisoformat(begins.strip()), time.fromisoformat(ends.strip()), str(ZoneInfo(zone)))
    except (ValueError, KeyError) as error:
        msg = f"quiet hours {text!r} in {zone!r} cannot be read; write 22:00-07:00 and a zone such as Europe/Amsterdam"
        raise ValueError(msg) from error
