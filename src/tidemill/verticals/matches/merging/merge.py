"""One telling merged into a match: whom we believe, what readers see next, and what is only counted."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from tidemill.core.live.change import Change, ChangeKind, Provenance
from tidemill.core.live.rules import Merged, Telling, Told, ToldNothing
from tidemill.verticals.matches.merging.balls import shown_balls, told_balls
from tidemill.verticals.matches.merging.ending import standing_of
from tidemill.verticals.matches.merging.fields import fields_json, merged_fields
from tidemill.verticals.matches.merging.guard import (
    ScoreStep,
    conflicts_between,
    fallen,
    is_lower,
    legal_balls_between,
    step_between,
)
from tidemill.verticals.matches.merging.leader import (
    CONFIRMED_AFTER,
    is_disputed,
    is_waiting_for_better,
    leader_of,
)
from tidemill.verticals.matches.merging.memory import MatchMemory, SiteKey, SiteMemory, key_of, reach_of, with_shown
from tidemill.verticals.matches.merging.rows import MatchConflict, TeamRoster
from tidemill.verticals.matches.merging.state import (
    event_json,
    guessed_event,
    innings_json,
    last_place,
    result_json,
    score_json,
    teams_json,
)
from tidemill.verticals.matches.merging.teams import team_key, with_known_names
from tidemill.verticals.matches.merging.tellings import FLAPS_WITHIN, put, with_telling
from tidemill.verticals.matches.record import Ball, MatchStatus


def merge_telling(memory: MatchMemory, telling: Telling) -> Merged:
    """Return what a telling does to a match."""
    key = key_of(telling.site)
    after, refused = with_telling(memory, telling)
    leader = leader_of(after, telling.at)
    rows: list[Any] = []
    if not isinstance(telling, ToldNothing):
        after, rows = _with_conflicts(after, key, leader, telling.at)
    if refused:
        return Merged(memory=after, ignored=refused, rows=rows)
    is_leaders_turn = leader != memory.leader or (leader == key and after.sites[key].lower_since is not None)
    if leader is None or not (isinstance(telling, Told) or is_leaders_turn):
        return Merged(memory=after, rows=rows)
    if is_waiting_for_better(after, after.sites[leader], telling.at):
        return Merged(memory=after, rows=rows)
    after = msgspec.structs.replace(after, leader=leader)
    if isinstance(telling, Told):
        after, rosters = _with_rosters(after, telling)
        rows += rosters
    return _shown(after, leader, key, telling, rows)


def _shown(memory: MatchMemory, leader: SiteKey, key: SiteKey, telling: Telling, rows: Sequence[Any]) -> Merged:
    """Show what the leader says, if it may be shown; the other fields in any case."""
    site = memory.sites[leader]
    assert site.reading is not None  # noqa: S101 - a leader has told something
    step = ScoreStep.AHEAD if memory.state is None else step_between(memory.innings, site.reading.innings)
    is_confirmed = site.lower_since is not None and telling.at - site.lower_since >= CONFIRMED_AFTER
    is_correction = step is ScoreStep.LOWER and is_confirmed
    takes_score = step is not ScoreStep.LOWER or is_correction
    state, fresh = next_state(memory, site, telling.at, takes_score=takes_score, corrected=is_correction)
    ignored = _why_ignored(memory, key, telling) if isinstance(telling, Told) else ""
    if memory.state is not None and state == memory.state:
        return Merged(memory=memory, ignored=ignored, rows=rows)
    change = _change(memory, site, state, fresh, is_correction=is_correction, takes_score=takes_score, at=telling.at)
    return Merged(
        memory=_after_change(memory, leader, change, corrected=is_correction),
        change=change,
        ignored="" if takes_score and leader == key else ignored,
        rows=rows,
    )


def next_state(
    memory: MatchMemory, leader: SiteMemory, at: datetime, *, takes_score: bool, corrected: bool
) -> tuple[dict[str, Any], list[Ball]]:
    """Return the state that readers would see next, and the balls in it that the log has not had."""
    before = memory.state or {}
    state: dict[str, Any] = {"match_id": memory.key}
    state["domain_id"] = before.get("domain_id", leader.site.source)
    state |= fields_json(merged_fields(memory.sites.values()))
    if memory.teams is not None:
        state["teams"] = teams_json(memory.teams)
        state.setdefault("title", " v ".join(team.name for team in memory.teams))
    kept = ("status", "break", "result", "score", "innings", "current_innings", "balls", "last_event")
    state |= {name: before[name] for name in kept if name in before}
    return (state, []) if not takes_score else _with_score(memory, leader, state, at, corrected=corrected)


def _with_score(
    memory: MatchMemory, leader: SiteMemory, state: dict[str, Any], at: datetime, *, corrected: bool
) -> tuple[dict[str, Any], list[Ball]]:
    reading = leader.reading
    assert reading is not None  # noqa: S101 - a leader has told something
    others = sorted(
        (site for site in memory.sites.values() if site is not leader and not is_disputed(site, at)),
        key=lambda site: -site.site.precedence,
    )
    told = told_balls(leader, others, reading.innings)
    balls, fresh = shown_balls(state.pop("balls", {}), told, memory.last_ball, corrected=corrected)
    if reading.innings != memory.innings:
        state["domain_id"] = leader.site.source
    state |= _standing(memory, leader, state)
    if reading.innings:
        state["score"] = score_json(reading.innings)
        state["innings"] = {str(each.number): innings_json(each) for each in reading.innings}
        state["current_innings"] = reading.innings[-1].number
    if balls:
        state["balls"] = balls
    event = _last_event(memory, leader, fresh, at)
    return (state | {"last_event": event} if event is not None else state), fresh


def _last_event(
    memory: MatchMemory, leader: SiteMemory, fresh: Sequence[Ball], at: datetime
) -> Mapping[str, Any] | None:
    assert leader.reading is not None  # noqa: S101 - a leader has told something
    innings = leader.reading.innings
    if fresh:
        last = fresh[-1]
        return event_json(last, next((each for each in innings if each.number == last.innings), None), at)
    if memory.state is None:
        return None
    return guessed_event(memory.innings, innings, at)


def _standing(memory: MatchMemory, leader: SiteMemory, state: dict[str, Any]) -> dict[str, Any]:
    """Return status, break and result; nobody goes back to a match that has not begun."""
    reading = leader.reading
    assert reading is not None  # noqa: S101 - a leader has told something
    status, pause = standing_of(reading)
    was = memory.status
    if status is None or (status is MatchStatus.UPCOMING and was not in {None, MatchStatus.UPCOMING}):
        return {}
    for name in ("break", "result"):
        state.pop(name, None)
    found: dict[str, Any] = {"status": status.value}
    if pause is not None and status is MatchStatus.LIVE:
        found["break"] = pause.value
    if reading.result is not None and status in {MatchStatus.COMPLETED, MatchStatus.ABANDONED}:
        result = with_known_names(reading.result, memory.teams) if memory.teams else reading.result
        found["result"] = result_json(result)
    return {name: value for name, value in found.items() if value}


def _change(
    memory: MatchMemory,
    leader: SiteMemory,
    state: Mapping[str, Any],
    fresh: Sequence[Ball],
    *,
    is_correction: bool,
    takes_score: bool,
    at: datetime,
) -> Change:
    assert leader.reading is not None  # noqa: S101 - a leader has told something
    told = leader.reading.innings
    further = legal_balls_between(memory.innings, told) if memory.state is not None and takes_score else 0
    seen = max(1, sum(ball.is_legal for ball in fresh))
    provenance = _provenance(memory, leader, takes_score=takes_score, at=at)
    if not is_correction:
        return Change(state=state, provenance=provenance, skipped=max(0, further - seen))
    pairs = fallen(memory.innings, told)
    now = ", ".join(f"{after.runs}/{after.wickets}" if after else "no innings" for _, after in pairs)
    was = ", ".join(f"{before.runs}/{before.wickets}" for before, _ in pairs)
    return Change(
        state=state,
        kind=ChangeKind.CORRECTION,
        provenance=provenance,
        reason=f"{leader.site.source} says {now} instead of {was}",
        was={"innings": {str(before.number): innings_json(before) for before, _ in pairs}},
    )


def _provenance(memory: MatchMemory, leader: SiteMemory, *, takes_score: bool, at: datetime) -> dict[str, Provenance]:
    """Return where each field is from: the score's group from the leader, each other field from whoever was chosen."""
    found = dict(memory.provenance)
    by_source = {site.site.source: site for site in memory.sites.values()}
    for name, field in merged_fields(memory.sites.values()).items():
        reading = by_source[field.source].reading
        sure = reading.confidence.get(name, 1.0) if reading is not None else 1.0
        found[name] = Provenance(field.source, sure, field.at)
    if takes_score and leader.reading is not None:
        for name in ("score", "status"):
            sure = leader.reading.confidence.get(name, 1.0)
            found[name] = Provenance(leader.site.source, sure, leader.told_at or at)
    return found


def _after_change(memory: MatchMemory, leader: SiteKey, change: Change, *, corrected: bool) -> MatchMemory:
    state, site = change.state, memory.sites[leader]
    assert site.reading is not None  # noqa: S101 - a leader has told something
    takes_score = corrected or not is_lower(memory.innings, site.reading.innings) or memory.state is None
    innings = site.reading.innings if takes_score else memory.innings
    last = last_place(state.get("balls", {}))
    if corrected:
        memory = put(
            memory, leader, msgspec.structs.replace(site, lower_since=None, reach=reach_of(site.reading.innings))
        )
    return msgspec.structs.replace(
        memory,
        state=state,
        provenance=change.provenance,
        innings=innings,
        status=MatchStatus(state["status"]) if "status" in state else None,
        last_ball=last if corrected else max(memory.last_ball, last),
        shown_scores=with_shown({} if corrected else memory.shown_scores, innings),
    )


def _why_ignored(memory: MatchMemory, key: SiteKey, telling: Told) -> str:
    """Return why a reading that differs changed nothing: for the counts."""
    site = memory.sites[key]
    reading = site.reading
    if reading is None or memory.state is None:
        return ""
    if not reading.tells_score:
        return "no score"
    if site.lower_since is not None:
        recovered = site.recovered_at
        flaps = recovered is not None and telling.at - recovered <= FLAPS_WITHIN
        return "flapping" if flaps else "backwards"
    if site.is_behind:
        return "frozen"
    if is_lower(memory.innings, reading.innings):
        return "lagging"
    return "disagrees" if is_disputed(site, telling.at) else ""


def _with_conflicts(
    memory: MatchMemory, key: SiteKey, leader: SiteKey | None, at: datetime
) -> tuple[MatchMemory, list[Any]]:
    """Log a disagreement of over 5 % that has lasted, once."""
    site = memory.sites.get(key)
    if site is None or site.reading is None or site.is_logged or leader == key or not is_disputed(site, at):
        return memory, []
    shown = memory.shown_scores.get(site.progress)
    found = conflicts_between(shown[-1], site.reading.innings) if shown else []
    if not found:
        return memory, []
    source = memory.provenance["score"].source if "score" in memory.provenance else ""
    rows = [
        MatchConflict(
            innings=innings, field=field, shown_source=source, shown_value=one, other_source=site.site.source,
            other_value=other, at=at,
        )
        for innings, field, one, other in found
    ]  # fmt: skip
    return put(memory, key, msgspec.structs.replace(site, is_logged=True)), rows


def _with_rosters(memory: MatchMemory, telling: Told) -> tuple[MatchMemory, list[TeamRoster]]:
    """Return the rosters that the store does not have from this watch yet."""
    told: Mapping[str, tuple[str, ...]] = telling.reading.rosters
    new = {team_key(team): players for team, players in told.items() if memory.rosters.get(team_key(team)) != players}
    if not new:
        return memory, []
    rows = [TeamRoster(team, players) for team, players in new.items()]
    return msgspec.structs.replace(memory, rosters={**memory.rosters, **new}), rows
