"""Messages on their way out: to which channels, from when, and when a failed one is tried again."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

import msgspec

from tidemill.core.alerts.messages import AlertNotice
from tidemill.core.alerts.routes import ChannelRoute, QuietHours, channels_for, send_after

FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=30), timedelta(minutes=15)
"""A channel that fails is tried again after these, doubled each time."""
SEND_INTERVAL = timedelta(seconds=1)
"""Slack takes one message a second."""
SENDING_FOR = timedelta(minutes=5)
"""A message that is being sent for longer belongs to a process that died; it may or may not have arrived."""
MAY_HAVE_COME = "This message may have come before: we were interrupted while it was being sent, or got no answer."


class Digest(msgspec.Struct, frozen=True):
    """Severities that are not sent one by one, but together once a day."""

    severities: Collection[str]
    at: time
    zone: str = "UTC"


class NoticePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Where notices go and when: the channels that are set up, their routes, quiet hours and the digest."""

    channels: Sequence[str] = ()
    routes: Mapping[str, ChannelRoute] = msgspec.field(default_factory=dict)
    quiet: QuietHours | None = None
    digest: Digest | None = None


class OutgoingNotice(msgspec.Struct, frozen=True, kw_only=True):
    """A notice for one channel, not to be sent before a moment."""

    channel: str
    notice: AlertNotice
    send_after: datetime
    is_digest: bool = False


class ClaimedNotices(msgspec.Struct, frozen=True, kw_only=True):
    """What a process may send now: one notice, or those of a digest; `may_have_come` if an earlier sender died."""

    ids: tuple[int, ...]
    notices: tuple[AlertNotice, ...]
    attempts: int
    is_digest: bool
    may_have_come: bool


def outgoing(notice: AlertNotice, policy: NoticePolicy, now: datetime) -> list[OutgoingNotice]:
    """Return a notice for each channel that it goes to."""
    digest = policy.digest if policy.digest is not None and notice.severity in policy.digest.severities else None
    moment = next_digest(digest, now) if digest else send_after(notice.severity, policy.quiet, now)
    return [
        OutgoingNotice(channel=channel, notice=notice, send_after=moment, is_digest=digest is not None)
        for channel in channels_for(notice.severity, notice.vertical, policy.channels, policy.routes)
    ]


def next_digest(digest: Digest, now: datetime) -> datetime:
    """Return the next moment at which a digest is sent."""
    local = now.astimezone(ZoneInfo(digest.zone))
    moment = local.replace(hour=digest.at.hour, minute=digest.at.minute, second=0, microsecond=0)
    if moment <= local:
        moment = (local + timedelta(days=1)).replace(hour=digest.at.hour, minute=digest.at.minute)
        moment = moment.replace(second=0, microsecond=0)
    return moment.astimezone(now.tzinfo)


def digest_of(notices: Sequence[AlertNotice], now: datetime) -> AlertNotice:
    """Return several notices as one, each in a paragraph."""
    lines = [f"{each.title}\n{each.paragraphs[0] if each.paragraphs else ''}".strip() for each in notices]
    first = notices[0]
    return AlertNotice(
        key=first.key, kind="digest", title=f"{len(notices)} notices of the last day", paragraphs=tuple(lines),
        severity=first.severity, at=now,
    )  # fmt: skip


def retry_wait(attempts: int, asked_for: timedelta | None) -> timedelta:
    """Return how long a channel waits after so many failed attempts; what the service asks for is obeyed."""
    own = min(LONGEST_WAIT, FIRST_WAIT * (1 << min(max(attempts, 1) - 1, 10)))
    return own if asked_for is None else asked_for
