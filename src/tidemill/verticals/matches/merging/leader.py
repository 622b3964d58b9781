"""Which site is believed about the score: precedence times reliability, of those that have a say."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from tidemill.core.reconcile import LEAST_CONFIDENCE
from tidemill.verticals.matches.merging.memory import MatchMemory, SiteKey, SiteMemory

STANDS_STILL = 3
"""Balls of another site after which one that is read well and stands still loses its say."""
CONFIRMED_AFTER = timedelta(seconds=10)
"""What a site says twice, so far apart, is no slip."""
INSISTS_AFTER = timedelta(seconds=60)
"""After so long the site of higher precedence is believed against others that stay with the higher score."""


def leader_of(memory: MatchMemory, now: datetime) -> SiteKey | None:
    """Return the site that is believed about the score; None while nobody has a say.

    One that tells less than is shown comes after those that do not: it is slow, or the others have not taken it back
    yet. It is heard all the same when it insists.
    """
    candidates = [(key, site) for key, site in memory.sites.items() if has_say(site, memory)]
    undisputed = [each for each in candidates if not is_disputed(each[1], now) or insists(each[1], memory, now)]
    if not undisputed:
        far = [
            each for each in candidates if memory.state is None or each[1].progress - memory.progress >= STANDS_STILL
        ]
        return max(far, key=lambda each: rank(each[1]))[0] if far else None
    level = [each for each in undisputed if not each[1].is_lower or insists(each[1], memory, now)]
    return max(level or undisputed, key=lambda each: rank(each[1]))[0]


def insists(site: SiteMemory, memory: MatchMemory, now: datetime) -> bool:
    """Return whether a better site than the shown one contradicts it for so long that it is neither slow nor a slip."""
    if not site.is_contrary or site.lower_since is None or now - site.lower_since < INSISTS_AFTER:
        return False
    shown = memory.sites.get(memory.leader) if memory.leader is not None else None
    return shown is None or site.site.precedence > shown.site.precedence


def rank(site: SiteMemory) -> tuple[bool, float, datetime, str]:
    """Return what sites are compared by: not demoted, precedence times reliability, then the newer reading."""
    share = site.reliability.share
    assert site.read_at is not None  # noqa: S101 - only sites that were read have a say
    return (not site.reliability.is_demoted, site.site.precedence * share, site.read_at, site.site.source)


def has_say(site: SiteMemory, memory: MatchMemory) -> bool:
    """Return whether a site's word about the score counts.

    It was read well the last time, tells a score that is sure enough, does not stand still while others go on, and
    was not silent for several rounds of the others.
    """
    reading = site.reading
    return (
        reading is not None
        and not site.is_failing
        and not site.is_behind
        and reading.tells_score
        and reading.confidence.get("score", 1.0) >= LEAST_CONFIDENCE
        and memory.tellings - site.heard <= 2 * len(memory.sites) + 2
    )


def is_disputed(site: SiteMemory, now: datetime) -> bool:
    """Return whether a site has told another score than was shown at the same ball for a while."""
    return site.disputed_since is not None and now - site.disputed_since >= CONFIRMED_AFTER


def stands_still(site: SiteMemory, others: Iterable[SiteMemory]) -> bool:
    """Return whether others, read before this site, were three balls further already."""
    return any(
        not other.is_failing and other.reading is not None and other.progress - site.progress >= STANDS_STILL
        for other in others
    )


def is_waiting_for_better(memory: MatchMemory, leader: SiteMemory, now: datetime) -> bool:
    """Return whether the very first word waits for a site of higher precedence that has not been heard yet."""
    if memory.state is not None or memory.began_at is None or now - memory.began_at >= CONFIRMED_AFTER:
        return False
    return any(
        site.reading is None and not site.is_failing and site.site.precedence > leader.site.precedence
        for site in memory.sites.values()
    )
