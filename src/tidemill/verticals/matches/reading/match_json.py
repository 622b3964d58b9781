"""A match in plain JSON, by the names that sites use for its parts; no site is known here, only the shape.

Everything is bounded: so many values are looked at, so many balls are taken, and texts are short.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tidemill.verticals.matches.reading.innings_json import all_innings, side_of
from tidemill.verticals.matches.reading.json_values import Fields, count_of, flattened, list_of, pick, text_of
from tidemill.verticals.matches.reading.status_words import match_status, win_in
from tidemill.verticals.matches.reading.team_scores import innings_by_team
from tidemill.verticals.matches.reading.teams_json import both_teams, lowered
from tidemill.verticals.matches.telling import BALL_LIMITS, LONGEST_TEXT, MOST_INNINGS, MOST_PLAYERS, MOST_TOLD_BALLS

MOST_VALUES = 50_000
MOST_LISTED = 500
_IDS = ("id", "matchid", "match_id", "key", "objectid")
_TITLES = ("title", "name", "matchdesc", "description", "shorttitle")
_STATES = ("status", "state", "matchstate", "stage", "phase", "status_str", "statustext", "status_note")
_STATE_PARTS = ("description", "long", "name", "text", "type", "short")
_BREAKS = ("break", "pause", "interval", "statenote")
_INNINGS = ("innings", "inningsscores", "scores", "inningslist", "score", "runs")
_VENUES = ("venue", "ground", "venueinfo", "stadium")
_STARTS = (
    "start_time", "starttime", "startdate", "start", "starting_at", "starttimestamp", "date_start_iso", "date",
)  # fmt: skip
_SERIES = ("series", "seriesname", "competition", "tournament", "event")
_FORMATS = ("match_type", "matchtype", "format", "matchformat", "format_str")
_OVER_LISTS = ("recent", "balls", "deliveries", "recentballs", "overs")
_TEXTS = ("text", "comment", "commentary", "description")
_URLS = ("url", "link", "href", "matchurl")
_EXTRAS = ("wides", "noballs", "byes", "legbyes", "penalty")
_ILLEGAL = {"wides", "wide", "noballs", "noball", "no-ball", "penalty"}
_FIRST_OR_SECOND = re.compile(r"(?P<first>\bbat|\bruns?\b)|\bbowl|\bfield|\bwickets?\b|\bwkts?\b")
"""The winner of the toss bats or bowls; the winner of the match by runs batted first, by wickets second."""
_EPOCH_MILLIS = 10**11


def matches_in(value: Any) -> Iterator[Fields]:
    """Yield the fields of every object that looks like a match, wide before deep, each at most once."""
    pending = deque([value])
    listed = 0
    for _ in range(MOST_VALUES):
        if not pending or listed >= MOST_LISTED:
            return
        current = pending.popleft()
        if isinstance(current, dict):
            if fields := match_fields(current):
                listed += 1
                yield fields
            else:
                pending.extend(inner for inner in current.values() if isinstance(inner, dict | list))
        elif isinstance(current, list):
            pending.extend(inner for inner in current if isinstance(inner, dict | list))


def match_fields(item: Mapping[str, Any]) -> Fields | None:
    """Return the raw fields of an object that has two teams and an id or a state; None for any other."""
    flat = flattened(item)
    teams, parts = both_teams(flat)
    if len(teams) != 2 or not (pick(flat, _IDS) or _state(flat)):  # noqa: PLR2004
        return None
    names = [team["name"] for team in teams]
    known = [names, [team.get("short_name", "") for team in teams], [team.pop("id", "") for team in teams]]
    fields: Fields = {
        "id": text_of(pick(flat, _IDS)),
        "url": text_of(pick(flat, _URLS)),
        "title": text_of(pick(flat, _TITLES)),
        "status": _state(flat),
        "pause": text_of(pick(flat, _BREAKS)),
        "teams": teams,
        "balls": balls_fields(flat),
        "venue": _place(pick(flat, _VENUES)),
        "start": _start(flat),
        "series": _name(pick(flat, _SERIES)),
        "match_type": _format(flat),
        "weather": text_of(flat.get("weather")),
        "resource": text_of(flat.get("resource")) or "scorecard",
    }
    fields |= _toss(flat, known) | _result(flat) | _limit(flat) | _players(flat, names)
    fields["innings"] = _innings(flat, known) or innings_by_team(
        flat, parts, _begins(fields, names, _state_words(flat)), _balls_limit(fields)
    )
    return {name: value for name, value in fields.items() if value not in ("", [], {}, None)}


def _innings(flat: Mapping[str, Any], known: Sequence[Sequence[str]]) -> list[Fields]:
    """Return the innings of the first list that has any."""
    lists = (list_of(flat.get(name))[: MOST_INNINGS + 1] for name in _INNINGS)
    return next((found for told in lists if (found := all_innings(told, known))), [])


def _state(flat: Mapping[str, Any]) -> str:
    """Return the word for how the match stands: the first that means something, else the first there is."""
    words = _state_words(flat)
    return next((each for each in words if match_status(each) is not None), words[0] if words else "")


def _state_words(flat: Mapping[str, Any]) -> list[str]:
    told = [flat.get(name) for name in _STATES]
    words = [text_of(pick(lowered(each), _STATE_PARTS)) if isinstance(each, dict) else text_of(each) for each in told]
    return [each for each in words if each]


def _start(flat: Mapping[str, Any]) -> str:
    """Return when a match starts; a time without a zone is in UTC if its name says so."""
    told = text_of(flat.get("datetimegmt"))
    return f"{told.removesuffix('Z')}Z" if told else start_of(pick(flat, _STARTS))


def _begins(fields: Fields, names: Sequence[str], texts: Iterable[str]) -> int | None:
    """Return which side batted first: by the toss, or because who wins by runs did; None where that is not told."""
    winner, words = fields.get("toss_winner", ""), fields.get("toss_decision", "").casefold()
    if winner not in names:
        told = (win_in(text) for text in (fields.get("outcome", ""), *texts))
        winner, words, _ = next((win for win in told if win[0] in names), ("", "", ""))
    if winner not in names or not (found := _FIRST_OR_SECOND.search(words.casefold())):
        return None
    side = names.index(winner)
    return side if found["first"] else 1 - side


def _format(flat: Mapping[str, Any]) -> str:
    """Return the kind of match; what is only called a type may be one of anything."""
    kind = text_of(flat.get("type"))
    return text_of(pick(flat, _FORMATS)) or (kind if kind.casefold() in BALL_LIMITS else "")


def _balls_limit(fields: Fields) -> int | None:
    limit = fields.get("ball_limit")
    return limit if isinstance(limit, int) else BALL_LIMITS.get(fields["match_type"].casefold())


def balls_fields(flat: Mapping[str, Any]) -> list[Fields]:
    """Return the deliveries that are told, one by one or by the over."""
    found: list[Fields] = []
    for name in _OVER_LISTS:
        for raw in list_of(flat.get(name))[-MOST_TOLD_BALLS:]:
            if not isinstance(raw, dict):
                continue
            each = {key.lower(): value for key, value in raw.items() if isinstance(key, str)}
            if isinstance(each.get("deliveries"), list):
                found += _over(each)
            elif (ball := ball_fields(each, None)) is not None:
                found.append(ball)
        if found:
            break
    return found[-MOST_TOLD_BALLS:]


def ball_fields(each: Mapping[str, Any], place: tuple[int, int, int] | None) -> Fields | None:
    """Return a delivery; None for one that does not say where it stands."""
    told = place or (count_of(each, "innings", "inn"), count_of(each, "over"), count_of(each, "ball", "delivery"))
    runs = count_of(each, "runs", "total", "r")
    if runs is None and isinstance(each.get("runs"), dict):
        runs = count_of(each["runs"], "total")
    if runs is None or None in told:
        return None
    extra = _extra(each.get("extra") or each.get("extras"))
    found: Fields = {
        "innings": told[0], "over": told[1], "ball": told[2], "runs": runs, "extra": extra,
        "legal": extra not in _ILLEGAL, "wicket": _wicket(each), "text": text_of(pick(each, _TEXTS)),
    }  # fmt: skip
    return {name: value for name, value in found.items() if value != ""}


def start_of(value: Any) -> str:
    """Return when a match starts, in ISO form: from text, or from seconds or milliseconds since 1970."""
    number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 16 else value  # noqa: PLR2004
    if isinstance(number, int | float) and not isinstance(number, bool) and 0 < number < 10**14:
        return datetime.fromtimestamp(number / 1000 if number > _EPOCH_MILLIS else number, UTC).isoformat()
    return text_of(value)


def _over(over: Mapping[str, Any]) -> list[Fields]:
    innings, number = count_of(over, "innings", "inn"), count_of(over, "over", "number")
    if innings is None or number is None:
        return []
    found = []
    for place, raw in enumerate(list_of(over["deliveries"])[:100], 1):
        each = (
            {key.lower(): value for key, value in raw.items() if isinstance(key, str)} if isinstance(raw, dict) else {}
        )
        if (ball := ball_fields(each, (innings, number, place))) is not None:
            found.append(ball)
    return found


def _extra(value: Any) -> str:
    if isinstance(value, dict):
        return next((name for name in _EXTRAS if value.get(name)), "")
    return text_of(value)


def _wicket(each: Mapping[str, Any]) -> str:
    told = each.get("wicket")
    if isinstance(told, dict):
        return text_of(told.get("kind"))
    return text_of(told)


def _place(value: Any) -> str:
    if isinstance(value, dict):
        part = {name.lower(): each for name, each in value.items() if isinstance(name, str)}
        return ", ".join(filter(None, (text_of(pick(part, ("ground", "name"))), text_of(part.get("city")))))
    return text_of(value)


def _name(value: Any) -> str:
    return text_of(value.get("name")) if isinstance(value, dict) else text_of(value)


def _toss(flat: Mapping[str, Any], known: Sequence[Sequence[str]]) -> Fields:
    toss = pick(flat, ("toss", "tossresults"))
    if isinstance(toss, dict):
        part = lowered(toss)
        return {
            "toss_winner": _name(pick(part, ("winner", "tosswinnername", "team"))),
            "toss_decision": text_of(pick(part, ("decision", "choice"))),
        }
    side = side_of(text_of(pick(flat, ("tosswinner", "toss_winner", "toss_won_team_id", "tosswinnerteamid"))), known)
    if side is None:
        return {}
    choice = text_of(pick(flat, ("tosschoice", "toss_choice", "toss_decision", "elected")))
    return {"toss_winner": known[0][side], "toss_decision": choice}


def _result(flat: Mapping[str, Any]) -> Fields:
    result = pick(flat, ("result", "outcome"))
    if isinstance(result, str):
        return {"outcome": result[:LONGEST_TEXT]}
    if not isinstance(result, dict):
        return {}
    part = {name.lower(): value for name, value in result.items() if isinstance(name, str)}
    return {name: text_of(part.get(name)) for name in ("winner", "outcome", "by", "method")}


def _limit(flat: Mapping[str, Any]) -> Fields:
    overs = count_of(flat, "maxovers", "max_overs", "overslimit")
    return {"ball_limit": overs * 6} if overs else {}


def _players(flat: Mapping[str, Any], names: Sequence[str]) -> Fields:
    squads = pick(flat, ("players", "squads", "rosters"))
    if not isinstance(squads, dict):
        return {}
    return {
        "players": {
            team: [text_of(name) for name in list_of(squads.get(team))[:MOST_PLAYERS] if text_of(name)]
            for team in names
            if squads.get(team)
        }
    }
