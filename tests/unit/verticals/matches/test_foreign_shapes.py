"""Matches in the shapes that score sites and their APIs use: the truth at every moment or no score, never another."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec
import pytest

from rig.played import SCRIPTED, scripted
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.source import Source
from tidemill.core.vertical import Context
from tidemill.verticals.matches.lab.timeline import TrueMatch, TrueMoment
from tidemill.verticals.matches.record import BreakKind, InningsScore, MatchStatus
from tidemill.verticals.matches.rules import LIVE_RULES
from tidemill.verticals.matches.sources.embedded import EmbeddedState
from tidemill.verticals.matches.sources.feed import JsonFeed
from tidemill.verticals.matches.telling import MatchReading

pytestmark = pytest.mark.shows("M1", "B16", "X5")
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
URL = "https://scores.example/m/1"
SOURCE = Source(id=1, name="scores", vertical="matches", base_url="https://scores.example/", adapter_id="matches.feed")
IDS = (6, 57)
WORDS = {MatchStatus.UPCOMING: "Not started", MatchStatus.LIVE: "Live", MatchStatus.COMPLETED: "Match over",
         MatchStatus.ABANDONED: "Match abandoned"}  # fmt: skip
Shape = Callable[[TrueMatch, TrueMoment], Any]


def words(moment: TrueMoment) -> str:
    return f"{moment.pause.value} break" if moment.pause else WORDS[moment.status]


def overs(each: InningsScore) -> float:
    """As some sites write it: 12.6 where others write 13."""
    whole, part = divmod(each.balls, 6)
    return float(f"{whole - 1}.6" if each.balls and not part else f"{whole}.{part}")


def team(match: TrueMatch, side: int) -> dict[str, Any]:
    name, short = match.played.teams[side]
    return {"id": IDS[side], "name": name, "longName": name, "abbreviation": short}


def app_state(match: TrueMatch, moment: TrueMoment) -> Any:
    """A match beside its content, deep in the state of a page; each team in an object of its own."""
    innings = [
        {"inningNumber": each.number, "team": team(match, each.side), "runs": each.runs, "wickets": each.wickets,
         "overs": each.balls // 6, "balls": each.balls, "target": each.target or 0, "isDeclared": each.is_declared}
        for each in moment.innings
    ]  # fmt: skip
    teams = [{"team": team(match, side), "isHome": side == 0, "inningNumbers": []} for side in (1, 0)]
    head = {"objectId": 95, "status": words(moment), "format": match.played.match_type, "title": match.played.title,
            "startTime": "2026-03-07T09:00:00.000Z", "ground": {"name": "Oval"}, "teams": teams,
            "tossWinnerTeamId": IDS[1], "tossWinnerChoice": 2}  # fmt: skip
    return {"props": {"pageProps": {"data": {"match": head, "content": {"innings": innings[::-1]}}}}}


def info_and_score(match: TrueMatch, moment: TrueMoment) -> Any:
    """What a match is, and under `team1Score` what each team has; innings are numbered over both."""
    scores: dict[str, Any] = {"team1Score": {}, "team2Score": {}}
    for each in moment.innings:
        own = scores[f"team{each.side + 1}Score"]
        own[f"inngs{len(own) + 1}"] = {"inningsId": each.number, "runs": each.runs, "overs": overs(each)} | (
            {"wickets": each.wickets} if each.wickets else {}
        )
    about = {"matchId": 95, "matchFormat": match.played.match_type, "state": "x", "status": words(moment),
             "startDate": "1772874000000", "venueInfo": {"ground": "Oval", "city": "Kelmar"}}  # fmt: skip
    about |= {
        f"team{side + 1}": {
            "teamId": IDS[side],
            "teamName": match.played.teams[side][0],
            "teamSName": match.played.teams[side][1],
        }
        for side in (0, 1)
    }
    return {"matchInfo": about, "matchScore": scores}


def called_by_team(match: TrueMatch, moment: TrueMoment) -> Any:
    """Runs, wickets and overs by letters, innings by the name of their team."""
    names = [name for name, _ in match.played.teams]
    counted = [0, 0]
    score = []
    for each in moment.innings:
        counted[each.side] += 1
        score.append(
            {
                "r": each.runs,
                "w": each.wickets,
                "o": overs(each),
                "inning": f"{names[each.side]} Inning {counted[each.side]}",
            }
        )
    found = {"id": "u-95", "name": "One vs Two", "matchType": match.played.match_type, "status": words(moment),
             "teams": names, "score": score,
             "teamInfo": [{"name": name, "shortname": short} for name, short in match.played.teams],
             "dateTimeGMT": "2026-03-07T09:00:00", "tossWinner": names[1].lower(), "tossChoice": "bowl"}  # fmt: skip
    return {"status": "success", "data": found}


def rows_by_id(match: TrueMatch, moment: TrueMoment) -> Any:
    """Rows with the id of the team that bats, and the teams by what side of the fixture they are."""
    runs = [{"team_id": IDS[each.side], "inning": each.number, "score": each.runs, "wickets": each.wickets,
             "overs": overs(each)} for each in moment.innings]  # fmt: skip
    sides = [{"id": IDS[side], "name": name, "code": short} for side, (name, short) in enumerate(match.played.teams)]
    found = {"id": 95, "starting_at": "2026-03-07T09:00:00.000000Z", "type": match.played.match_type,
             "status": words(moment), "localteam": sides[0], "visitorteam": sides[1], "runs": runs,
             "toss_won_team_id": IDS[1], "elected": "bowling"}  # fmt: skip
    return {"data": found}


def beside_the_name(match: TrueMatch, moment: TrueMoment) -> Any:
    """Only a text beside each team's name: who batted first must be told by something else."""
    found: dict[str, Any] = {"match_id": 95, "title": match.played.title, "format_str": match.played.match_type,
                             "status": 3, "status_str": words(moment)}  # fmt: skip
    for side, key in ((0, "teama"), (1, "teamb")):
        own = [each for each in moment.innings if each.side == side]
        written = " & ".join(f"{each.runs}/{each.wickets} ({overs(each)} ov)" for each in own)
        name, short = match.played.teams[side]
        found[key] = {"team_id": IDS[side], "name": name, "short_name": short, "scores_full": written}
    return {"status": "ok", "response": found}


SHAPES = {each.__name__: each for each in (app_state, info_and_score, called_by_team, rows_by_id, beside_the_name)}


def read(value: Any, *, in_script: str = "") -> MatchReading:
    encoded = msgspec.json.encode(value)
    body = in_script.replace("@@", encoded.decode()).encode() if in_script else encoded
    page = Page(id=1, url=URL, final_url=URL, status_code=200, body=body, charset="utf-8",
                content_type="text/html" if in_script else "application/json", digest=1, fetched_at=NOW)  # fmt: skip
    found = (EmbeddedState() if in_script else JsonFeed()).read(page, Context(SOURCE, URL, NOW, {}))
    assert not isinstance(found, Fail), found
    reading = LIVE_RULES.read_thing(found, Context(SOURCE, URL, NOW))
    assert isinstance(reading, MatchReading), reading
    return reading


def scores(innings: tuple[InningsScore, ...], order: int) -> list[tuple[int, int, int, int]]:
    return [(each.side ^ order, each.runs, each.wickets, each.balls) for each in innings]


@cache
def some_moments(name: str) -> tuple[TrueMatch, list[TrueMoment]]:
    match = scripted(name)
    return match, [*match.moments[:40], *match.moments[40:-40:7], *match.moments[-40:]]


@pytest.mark.parametrize("name", SCRIPTED)
@pytest.mark.parametrize("shape", [name for name in SHAPES if name != "beside_the_name"])
def test_a_shape_tells_every_innings_of_every_kind_of_match(shape: str, name: str) -> None:
    match, moments = some_moments(name)
    for moment in moments:
        reading = read(SHAPES[shape](match, moment))
        order = int(shape == "app_state")  # it names its teams the other way round
        assert scores(reading.innings, order) == scores(moment.innings, 0)
        if moment.status is MatchStatus.LIVE and moment.pause is None:
            assert (reading.status, reading.pause) == (MatchStatus.LIVE, None)
        assert [each.name for each in reading.teams or ()] == [each for each, _ in match.played.teams][
            :: -1 if order else 1
        ]


@pytest.mark.parametrize("name", SCRIPTED)
def test_scores_beside_the_names_are_the_truth_or_nothing(name: str) -> None:
    match, moments = some_moments(name)
    told = 0
    for moment in moments:
        shown = scores(read(beside_the_name(match, moment)).innings, 0)
        begun = [each for each in scores(moment.innings, 0) if any(each[1:])]
        assert shown in ([], begun, scores(moment.innings, 0))
        told += bool(shown)
    if len(match.played.innings) == 2 and match.played.match_type == "T20":
        assert told > len(moments) / 3


def two(one: str, other: str, **more: str) -> list[tuple[int, int]]:
    teams = {"teama": {"name": "Northport", "scores_full": one}, "teamb": {"name": "Eastvale", "scores_full": other}}
    response = {"match_id": 1, "format_str": "T20", "status_str": "Live"} | teams
    return [(each.side, each.runs) for each in read({"response": response | more}).innings]


@pytest.mark.parametrize(
    ("one", "other", "more", "innings"),
    [
        ("183/7 (20 ov)", "161/4 (17 ov)", {}, [(0, 183), (1, 161)]),
        ("161/4 (17 ov)", "183/7 (20 ov)", {}, [(1, 183), (0, 161)]),
        ("90/3 (12 ov)", "60 (10.2 ov)", {}, []),  # overs were cut, and the second side is all out: nothing tells
        ("90/3 (12 ov)", "60 (10.2 ov)", {"status_str": "Northport won by 30 runs (DLS)"}, [(0, 90), (1, 60)]),
        ("150/9 (20 ov)", "151/4 (18 ov)", {"status_str": "Eastvale won by 6 wickets"}, [(0, 150), (1, 151)]),
        ("150/9 (20 ov)", "151/4 (18 ov)", {}, []),
        ("150/9 (20 ov)", "0/0 (0 ov)", {}, [(0, 150)]),
        ("150/9 (20 ov)", "Yet to bat", {}, [(0, 150)]),
        ("150/9", "60/1 (6 ov)", {}, []),  # an innings without overs cannot be told, and the other is not the first
        ("250 (80 ov) & 12/0 (3 ov)", "200 (70 ov)", {}, []),
        ("20/0 (3 ov)", "20/0 (3 ov)", {"tosswinner": "Eastvale", "elected": "bat"}, [(1, 20), (0, 20)]),
    ],
)
def test_who_batted_first_is_told_by_the_toss_the_result_or_the_innings_that_is_over(
    one: str, other: str, more: dict[str, str], innings: list[tuple[int, int]]
) -> None:
    assert two(one, other, **more) == innings


@pytest.mark.parametrize(
    "script",
    [
        '<script id="__NEXT_DATA__" type="application/json">@@</script>',
        "<script>window.__INITIAL_STATE__ = @@;</script>",
        "<script>window.__INITIAL_STATE__=@@;window.flags={};start()</script>",
        '<script>window["__STATE__"] = @@</script>',
        "<script>self.state = @@; (function(){})()</script>",
    ],
)
def test_the_state_of_a_page_is_read_from_its_script(script: str) -> None:
    match, moments = some_moments(SCRIPTED[0])
    reading = read(app_state(match, moments[-3]), in_script=f"<html><body>{script}</body></html>")
    assert scores(reading.innings, 1) == scores(moments[-3].innings, 0)


def test_a_state_that_stands_in_a_quoted_text_is_read() -> None:
    match, moments = some_moments(SCRIPTED[0])
    text = msgspec.json.encode(msgspec.json.encode(app_state(match, moments[-3])).decode()).decode()
    reading = read({}, in_script=f"<html><script>window.__STATE__ = JSON.parse({text});run()</script></html>")
    assert scores(reading.innings, 1) == scores(moments[-3].innings, 0)


def test_a_break_between_innings_is_one_in_every_shape() -> None:
    match = scripted(SCRIPTED[0])
    pause = next(moment for moment in match.moments if moment.pause is BreakKind.INNINGS)
    assert {read(shape(match, pause)).pause for shape in SHAPES.values()} == {BreakKind.INNINGS}
