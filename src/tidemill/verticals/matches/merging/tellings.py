"""What a telling does to the memory of its site, before anybody decides what readers see."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from tidemill.core.live.rules import Told, ToldNothing, ToldSame
from tidemill.verticals.matches.merging.guard import Score, is_lower
from tidemill.verticals.matches.merging.leader import stands_still
from tidemill.verticals.matches.merging.memory import MatchMemory, SiteKey, SiteMemory, key_of, reach_of
from tidemill.verticals.matches.merging.reliability import after_telling
from tidemill.verticals.matches.merging.teams import in_order_of
from tidemill.verticals.matches.telling import MatchReading

FLAPS_WITHIN = timedelta(seconds=60)
"""A site that says less again so soon after it recovered is flapping."""


def with_telling(memory: MatchMemory, telling: Told | ToldSame | ToldNothing) -> tuple[MatchMemory, str]:
    """Return the memory after a telling, and why its words cannot count ('' if they can)."""
    key = key_of(telling.site)
    site = memory.sites.get(key) or SiteMemory(site=telling.site)
    tellings = memory.tellings + 1
    memory = msgspec.structs.replace(memory, tellings=tellings, began_at=memory.began_at or telling.at)
    match telling:
        case ToldNothing():
            return put(memory, key, _failed(site, telling.at)), ""
        case ToldSame() if site.reading is None:
            return memory, ""
        case ToldSame():
            return put(memory, key, _heard(memory, key, site, site.reading, telling.at)), ""
        case Told(reading=MatchReading() as reading):
            ordered = in_order_of(memory.teams, reading)
            if ordered is None:
                return put(memory, key, _failed(site, telling.at)), "other match"
            teams = memory.teams or ordered.teams
            memory = msgspec.structs.replace(memory, teams=teams)
            return put(memory, key, _heard(memory, key, site, ordered, telling.at)), ""
    msg = f"{telling!r} is no telling of a match"
    raise TypeError(msg)


def put(memory: MatchMemory, key: SiteKey, site: SiteMemory) -> MatchMemory:
    """Return the memory with another word of one site."""
    sites: Mapping[SiteKey, SiteMemory] = {**memory.sites, key: site}
    return msgspec.structs.replace(memory, sites=sites)


def _failed(site: SiteMemory, at: datetime) -> SiteMemory:
    return msgspec.structs.replace(
        site, is_failing=True, reliability=after_telling(site.reliability, at, good=False), lower_since=None
    )


def _heard(
    memory: MatchMemory, key: SiteKey, site: SiteMemory, reading: MatchReading | None, at: datetime
) -> SiteMemory:
    assert reading is not None  # noqa: S101 - both callers have one
    is_told = reading is not site.reading
    progress = reading.progress if is_told else site.progress
    lower = memory.state is not None and reading.tells_score and is_lower(memory.innings, reading.innings)
    contrary = lower and is_contrary(memory, reading)
    took_back = lower and (contrary or site.reach >= reach_of(memory.innings))
    heard = msgspec.structs.replace(
        site,
        reading=reading,
        progress=progress,
        read_at=at,
        told_at=at if is_told else site.told_at,
        heard=memory.tellings,
        is_failing=False,
        reach=max(site.reach, reach_of(reading.innings)) if is_told else site.reach,
        is_lower=lower,
        is_contrary=contrary,
        lower_since=_lower_since(site, reading, at) if took_back else None,
        recovered_at=at if site.lower_since is not None and not lower else site.recovered_at,
        disputed_since=None if key == memory.leader else _disputed_since(memory, site, reading, progress, at),
        reliability=after_telling(site.reliability, at, good=not took_back or site.lower_since is not None),
    )
    others = [each for name, each in memory.sites.items() if name != key]
    behind = stands_still(heard, others) if reading.tells_score else False
    dispute_ended = heard.disputed_since is None and site.is_logged
    if behind is heard.is_behind and not dispute_ended:
        return heard
    return msgspec.structs.replace(heard, is_behind=behind, is_logged=site.is_logged and not dispute_ended)


def is_contrary(memory: MatchMemory, reading: MatchReading) -> bool:
    """Return whether a site that says less than is shown is as far, and tells a score that was never shown.

    A slow site tells what was shown before. One that is further back takes something back only if it had told as much
    itself.
    """
    shown = memory.shown_scores.get(reading.progress, ())
    return reading.progress >= memory.progress and not any(is_same_score(reading.innings, each) for each in shown)


def _lower_since(site: SiteMemory, reading: MatchReading, at: datetime) -> datetime:
    """Since when a site says less: it counts anew when it says still less than before."""
    said = site.reading
    if site.lower_since is None or said is None or is_lower(said.innings, reading.innings):
        return at
    return site.lower_since


def _disputed_since(
    memory: MatchMemory, site: SiteMemory, reading: MatchReading, progress: int, at: datetime
) -> datetime | None:
    """Since when a site tells other scores than were shown at the same ball; its own are not another's."""
    shown = memory.shown_scores.get(progress)
    if shown is None or not reading.tells_score:
        return site.disputed_since
    if any(is_same_score(reading.innings, each) for each in shown):
        return None
    return site.disputed_since or at


def is_same_score(one: Score, other: Score) -> bool:
    """Return whether two scores have the same runs, wickets and balls of the same sides."""
    return len(one) == len(other) and all(
        (a.side, a.runs, a.wickets, a.balls) == (b.side, b.runs, b.wickets, b.balls)
        for a, b in zip(one, other, strict=True)
    )
