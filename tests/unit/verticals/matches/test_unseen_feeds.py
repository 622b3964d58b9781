"""Feeds as sites write them and the lab does not: innings in another order, teams by id, lists that are cut, words."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from tidemill.core.live.rules import LIST_ROLE, LIVE_ROLE, ListReading
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found
from tidemill.core.source import Source
from tidemill.core.vertical import Context
from tidemill.verticals.matches.merging.ending import standing_of
from tidemill.verticals.matches.record import BreakKind, MatchStatus
from tidemill.verticals.matches.rules import LIVE_RULES
from tidemill.verticals.matches.sources.feed import JsonFeed
from tidemill.verticals.matches.telling import MatchReading

pytestmark = pytest.mark.shows("M1", "B16", "X5")

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
URL = "https://scores.example/live.json"
SOURCE = Source(id=1, name="scores", vertical="matches", base_url="https://scores.example/", adapter_id="matches.feed")
FIRST = {"team": "Northport", "runs": 150, "wickets": 6, "overs": "20"}
SECOND = {"team": "Eastvale", "runs": 20, "wickets": 1, "overs": "2.3"}


def found_in(value: Any, **parameters: str) -> Found:
    page = Page(
        id=1, url=URL, final_url=URL, status_code=200, body=msgspec.json.encode(value), charset="utf-8",
        content_type="application/json", digest=1, fetched_at=NOW,
    )  # fmt: skip
    found = JsonFeed().read(page, Context(SOURCE, URL, NOW, parameters))
    assert not isinstance(found, Fail), found
    return found


def read(**match: Any) -> MatchReading:
    whole = {"id": 1, "state": "live", "format": "T20", "teams": ["Northport", "Eastvale"]} | match
    reading = LIVE_RULES.read_thing(found_in({"match": whole}), Context(SOURCE, URL, NOW))
    assert isinstance(reading, MatchReading), reading
    return reading


def listed(more: dict[str, Any], count: int = 2) -> ListReading:
    entries = [{"id": n, "state": "live", "teams": [f"One {n}", f"Two {n}"], "url": f"/m/{n}"} for n in range(count)]
    found = found_in({"matches": entries} | more, **{LIVE_ROLE: LIST_ROLE})
    reading = LIVE_RULES.read_list(found, Context(SOURCE, URL, NOW))
    assert isinstance(reading, ListReading)
    return reading


@pytest.mark.parametrize("name", ["number", "inningsId", "innings_number", "period"])
def test_innings_that_stand_in_another_order_are_put_in_their_own(name: str) -> None:
    reading = read(innings=[SECOND | {name: 2}, FIRST | {name: 1}])
    assert [(each.number, each.side, each.runs) for each in reading.innings] == [(1, 0, 150), (2, 1, 20)]


def test_innings_whose_numbers_count_something_else_stay_as_they_stand() -> None:
    reading = read(innings=[FIRST | {"number": 7}, SECOND | {"number": 3}])
    assert [each.runs for each in reading.innings] == [150, 20]


@pytest.mark.parametrize("batting", [{"batTeamId": 57}, {"team": {"id": 57}}, {"batting_team_id": "57"}, {"team": 57}])
def test_the_side_that_bats_may_be_named_by_the_ids_of_its_team(batting: dict[str, Any]) -> None:
    teams = [{"name": "Northport", "id": 12}, {"name": "Eastvale", "id": 57}]
    reading = read(teams=teams, innings=[{"runs": 9, "wickets": 0, "overs": 1.0} | batting])
    assert [(each.side, each.runs, each.balls) for each in reading.innings] == [(1, 9, 6)]


@pytest.mark.parametrize(
    "more",
    [
        {"total": 40}, {"hasMore": True}, {"next": "/live.json?page=2"}, {"nextCursor": "abc"},
        {"pagination": {"page": 1, "totalPages": 3}}, {"meta": {"totalCount": 3}}, {"links": {"next": "/2"}},
    ],
)  # fmt: skip
def test_a_list_that_says_it_has_more_closes_no_match(more: dict[str, Any]) -> None:
    assert not listed(more).is_complete


@pytest.mark.parametrize(
    "more",
    [{}, {"total": 2}, {"next": None}, {"hasMore": False}, {"pagination": {"page": 3, "pages": 3}}, {"links": {}}],
)
def test_a_list_that_says_it_is_whole_is_whole(more: dict[str, Any]) -> None:
    assert listed(more).is_complete


def test_a_list_longer_than_we_read_is_not_whole() -> None:
    assert not listed({}, count=501).is_complete


def test_a_list_that_names_a_match_twice_under_one_id_has_it_once() -> None:
    entry = {"id": 1, "state": "live", "teams": ["Northport", "Eastvale"], "url": "/m/1"}
    found = found_in({"matches": [entry, entry]}, **{LIVE_ROLE: LIST_ROLE})
    reading = LIVE_RULES.read_list(found, Context(SOURCE, URL, NOW))
    assert isinstance(reading, ListReading)
    assert [each.source_key for each in reading.listed] == ["1"]
    assert reading.is_complete


def test_a_list_without_scores_shows_by_its_words_that_a_match_moved() -> None:
    def hint(words: str) -> str:
        entry = {"id": 1, "state": words, "teams": ["Northport", "Eastvale"], "url": "/m/1"}
        found = found_in({"matches": [entry]}, **{LIVE_ROLE: LIST_ROLE})
        reading = LIVE_RULES.read_list(found, Context(SOURCE, URL, NOW))
        assert isinstance(reading, ListReading)
        return reading.listed[0].hint

    assert len({hint(words) for words in ("Not started", "Live", "Lunch", "Match over")}) == 4


@pytest.mark.parametrize(
    ("words", "standing"),
    [
        ("Northport won the toss and elected to bat", (MatchStatus.LIVE, None)),
        ("Eastvale won by 9 wickets (D/L method)", (MatchStatus.COMPLETED, None)),
        ("Eastvale won by 9 wickets", (MatchStatus.LIVE, BreakKind.OTHER)),
        ("Match tied - Super Over in progress", (MatchStatus.LIVE, None)),
        ("Strategic Timeout", (MatchStatus.LIVE, BreakKind.OTHER)),
        ("Play suspended", (MatchStatus.LIVE, BreakKind.OTHER)),
    ],
)
def test_a_status_is_believed_as_far_as_the_score_bears_it_out(
    words: str, standing: tuple[MatchStatus, BreakKind | None]
) -> None:
    assert standing_of(read(state=words, innings=[FIRST, SECOND])) == standing


def test_a_win_that_only_the_status_tells_ends_a_test_match() -> None:
    scores = [{"team": name, "runs": runs, "wickets": 10, "overs": "80"}
              for name, runs in (("Northport", 500), ("Eastvale", 200), ("Eastvale", 180))]  # fmt: skip
    reading = read(format="Test", state="Northport won by an innings and 120 runs", innings=scores)
    assert standing_of(reading) == (MatchStatus.COMPLETED, None)
    assert reading.result is not None
    assert (reading.result.winner, reading.result.by) == ("Northport", "an innings and 120 runs")


def test_a_result_told_in_one_text_is_taken_apart() -> None:
    reading = read(state="complete", result="Eastvale won by 9 wickets (DLS)", innings=[FIRST, SECOND])
    assert reading.result is not None
    assert (reading.result.winner, reading.result.by, reading.result.method) == ("Eastvale", "9 wickets", "DLS")
    drawn = read(state="complete", result="Match drawn", innings=[FIRST, SECOND])
    assert drawn.result is not None
    assert drawn.result.outcome == "draw"
