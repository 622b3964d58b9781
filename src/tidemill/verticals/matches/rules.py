"""The rules of matches: what a page tells, how the tellings of several sites become one state, and how it stands."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.failure import Failure
from tidemill.core.identity import fingerprint
from tidemill.core.live.change import Published
from tidemill.core.live.rules import ListedThing, ListReading, LiveSite, Merged, Outlook, Phase, Telling
from tidemill.core.outcome import Fail
from tidemill.core.record import Found, RawRecord
from tidemill.core.snapshots.changes import ThingLabels
from tidemill.core.verdict import Accepted, Dropped, Verdict
from tidemill.core.vertical import Context
from tidemill.verticals.matches.merging.ending import standing_of
from tidemill.verticals.matches.merging.memory import MatchMemory, SiteMemory, key_of, with_shown
from tidemill.verticals.matches.merging.merge import merge_telling
from tidemill.verticals.matches.merging.rows import MatchConflict, TeamRoster
from tidemill.verticals.matches.merging.state import innings_of_state, last_place, teams_of_state
from tidemill.verticals.matches.raw_fields import BadMatch, RawMatch, raw_match, reading_of
from tidemill.verticals.matches.reasons import Reason
from tidemill.verticals.matches.record import MatchRecord, MatchStatus, overs_of
from tidemill.verticals.matches.telling import MatchReading, moment_of


class MatchRules:
    """Matches' side of the live lane."""

    row_types: Sequence[type] = (MatchConflict, TeamRoster)
    reading_type: type[Any] = MatchReading

    def read_list(self, found: Found, context: Context) -> ListReading | Fail:
        """Return the matches that a list page names, each once."""
        listed: dict[str, ListedThing] = {}
        unreadable = 0
        for record in found.records:
            thing = listed_thing(record, context)
            if thing is None:
                unreadable += 1
            else:
                listed.setdefault(thing.source_key, thing)
        if found.records and not listed:
            return Fail(Failure.NOTHING_USABLE, "no match of the list has an id, two teams and an address")
        is_whole = not (unreadable or found.truncated or found.next_url)
        return ListReading(list(listed.values()), is_complete=is_whole)

    def read_thing(self, found: Found, context: Context) -> MatchReading | Fail:
        """Return what one page tells of its match: the first on the page that is one."""
        del context
        problem = "no match on the page"
        for record in found.records:
            try:
                return reading_of(raw_match(record.fields), record.confidence)
            except BadMatch as error:
                problem = str(error)
        return Fail(Failure.NOTHING_USABLE, problem)

    def begin(self, key: str, published: Published | None, sites: Sequence[LiveSite]) -> MatchMemory:
        """Return the memory to begin a watch with."""
        known = {key_of(site): SiteMemory(site=site) for site in sites}
        if published is None:
            return MatchMemory(key=key, sites=known)
        state = published.state
        innings = innings_of_state(state)
        return MatchMemory(
            key=key,
            sites=known,
            state=state,
            provenance=published.provenance,
            teams=teams_of_state(state),
            innings=innings,
            status=MatchStatus(state["status"]) if "status" in state else None,
            last_ball=last_place(state.get("balls", {})),
            shown_scores=with_shown({}, innings),
        )

    def with_sites(self, memory: MatchMemory, sites: Sequence[LiveSite]) -> MatchMemory:
        """Return the memory when other sites tell of the match from now on."""
        kept = {key_of(site): memory.sites.get(key_of(site)) or SiteMemory(site=site) for site in sites}
        named = {
            key: each if each.site == site else msgspec.structs.replace(each, site=site)
            for site in sites
            for key, each in [(key_of(site), kept[key_of(site)])]
        }
        return msgspec.structs.replace(memory, sites=named)

    def merge(self, memory: MatchMemory, telling: Telling) -> Merged:
        """Return what a telling does to the match."""
        return merge_telling(memory, telling)

    def outlook(self, memory: MatchMemory) -> Outlook:
        """Return how the match stands: as readers see it, or as any site tells before the first change."""
        if memory.state is None:
            return Outlook(Phase.UNKNOWN)
        starts = moment_of(memory.state.get("start_time", ""))
        match memory.status:
            case MatchStatus.COMPLETED | MatchStatus.ABANDONED:
                return Outlook(Phase.COMPLETED, starts)
            case MatchStatus.LIVE:
                return Outlook(Phase.BREAK if "break" in memory.state else Phase.IN_PLAY, starts)
            case MatchStatus.UPCOMING:
                return Outlook(Phase.UPCOMING, starts)
            case _:
                return Outlook(Phase.UNKNOWN, starts)


LIVE_RULES = MatchRules()


def listed_thing(record: RawRecord, context: Context) -> ListedThing | None:
    """Return a match as a list names it; None without an id, two teams or an address."""
    try:
        raw = raw_match(record.fields)
        reading = reading_of(raw, record.confidence)
    except BadMatch:
        return None
    if not raw.id or reading.teams is None or not raw.url:
        return None
    del context
    return ListedThing(
        source_key=raw.id[:200],
        url=raw.url,
        outlook=listed_outlook(reading),
        title=reading.title or " v ".join(team.name for team in reading.teams),
        hint=hint_of(raw, reading),
        resource=raw.resource,
        fields={
            "teams": [[team.name, team.short_name] for team in reading.teams],
            "start_time": reading.start_time,
            "series": reading.series,
            "match_type": reading.match_type,
        },
    )


def listed_outlook(reading: MatchReading) -> Outlook:
    """Return how a match stands by a list."""
    status, pause = standing_of(reading)
    starts: datetime | None = reading.starts_at
    match status:
        case MatchStatus.LIVE:
            return Outlook(Phase.BREAK if pause else Phase.IN_PLAY, starts)
        case MatchStatus.COMPLETED | MatchStatus.ABANDONED:
            return Outlook(Phase.COMPLETED, starts)
        case MatchStatus.UPCOMING:
            return Outlook(Phase.UPCOMING, starts)
        case _:
            return Outlook(Phase.UNKNOWN, starts)


def hint_of(raw: RawMatch, reading: MatchReading) -> str:
    """Return the listed score and status in one text, which changes when the match moved."""
    scores = " ".join(f"{each.runs}/{each.wickets}({overs_of(each.balls)})" for each in reading.innings)
    return f"{scores} {raw.status} {raw.pause}".strip()


def labels_of(state: Any) -> ThingLabels:
    """Return what lists and streams choose matches by: status and series."""
    return ThingLabels(str(state.get("status", "")), str(state.get("metadata", {}).get("series", "")))


def judge(raw: RawRecord, context: Context) -> Verdict:
    """Keep a match as one page tells it; what several sites say together is the live rules' matter."""
    try:
        told = raw_match(raw.fields)
        reading = reading_of(told, raw.confidence)
    except BadMatch as error:
        return Dropped(Reason.NOT_A_MATCH, str(error))
    if reading.teams is None:
        return Dropped(Reason.NO_TEAMS, "no two teams")
    status, pause = standing_of(reading)
    match = MatchRecord(
        match_id=told.id,
        domain_id=context.source.name,
        title=reading.title or " v ".join(team.name for team in reading.teams),
        status=status or MatchStatus.UPCOMING,
        team_a=reading.teams[0],
        team_b=reading.teams[1],
        innings=reading.innings,
        pause=pause,
        toss=reading.toss,
        venue=reading.venue,
        start_time=reading.start_time,
        series=reading.series,
        match_type=reading.match_type,
        weather=reading.weather,
        result=reading.result,
    )
    return Accepted(told.id or fingerprint(match.title, match.start_time), match)
