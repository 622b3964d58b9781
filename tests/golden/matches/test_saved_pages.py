"""The three adapters of matches on saved pages: usual, empty, changed layout, blocked."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from tidemill.core.failure import Failure
from tidemill.core.live.rules import LIST_ROLE, LIVE_ROLE
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.record import Found, Reading
from tidemill.core.source import Source
from tidemill.core.verdict import Accepted
from tidemill.core.vertical import Context
from tidemill.verticals.matches.definition import MATCHES
from tidemill.verticals.matches.record import MatchRecord, MatchStatus
from tidemill.verticals.matches.telling import MatchReading

pytestmark = pytest.mark.shows("P1", "P4")

PAGES = Path(__file__).parent / "pages"
NOON = datetime(2026, 3, 7, 12, tzinfo=UTC)
URL = "https://scores.example/live"
IDS = {"feed": "f77", "embedded": "77", "scoreboard": "b77"}


def context(make: str, *, is_list: bool) -> Context:
    source = Source(id=7, name=make, vertical="matches", base_url=URL, adapter_id=f"matches.{make}")
    return Context(source, URL, NOON, {LIVE_ROLE: LIST_ROLE} if is_list else {})


def read(make: str, name: str, *, is_list: bool = False) -> Reading:
    [file] = PAGES.glob(f"{make}_{name}.*")
    kind = "application/json" if file.suffix == ".json" else "text/html"
    page = Page(
        id=1, url=URL, final_url=URL, status_code=200, body=file.read_bytes(), charset="utf-8",
        content_type=f"{kind}; charset=utf-8", digest=1, fetched_at=NOON,
    )  # fmt: skip
    return MATCHES.adapters[f"matches.{make}"].read(page, context(make, is_list=is_list))


def found(make: str, name: str, *, is_list: bool = False) -> Found:
    reading = read(make, name, is_list=is_list)
    assert isinstance(reading, Found), reading
    return reading


@pytest.fixture
def match(make: str) -> MatchRecord:
    [raw] = found(make, "usual").records
    verdict = MATCHES.judge(raw, context(make, is_list=False))
    assert isinstance(verdict, Accepted), verdict
    assert isinstance(verdict.record, MatchRecord)
    return verdict.record


@pytest.mark.parametrize("make", IDS)
class TestUsual:
    """A match in its second innings."""

    def test_the_match_and_how_it_stands(self, match: MatchRecord, make: str) -> None:
        assert (match.match_id, match.domain_id, match.title) == (IDS[make], make, "Westmoor v Larkhill")
        assert (match.status, match.pause) == (MatchStatus.LIVE, None)

    def test_teams_place_and_time(self, match: MatchRecord) -> None:
        teams = [(team.name, team.short_name) for team in (match.team_a, match.team_b)]
        assert teams == [("Westmoor", "WES"), ("Larkhill", "LAR")]
        assert (match.venue, match.series, match.match_type) == ("Mill Lane", "Harbour Cup", "T20")
        assert match.start_time == "2026-03-07T09:02:00+00:00"

    def test_each_innings_in_whole_balls(self, match: MatchRecord) -> None:
        told = [(each.side, each.runs, each.wickets, each.balls) for each in match.innings]
        assert told == [(0, 151, 7, 120), (1, 34, 1, 27)]
        assert match.innings[1].target == 152

    def test_the_toss(self, match: MatchRecord) -> None:
        assert match.toss is not None
        assert (match.toss.winner, match.toss.decision) == ("Westmoor", "bat")

    def test_the_last_balls(self, make: str) -> None:
        balls = found(make, "usual").records[0].fields["balls"]
        assert [(each["innings"], each["over"], each["ball"], each["runs"]) for each in balls] == [
            (2, 4, 1, 4), (2, 4, 2, 1), (2, 4, 3, 0),
        ]  # fmt: skip
        assert (balls[1]["extra"], balls[1]["legal"], balls[2]["wicket"]) == ("wides", False, "bowled")


@pytest.mark.parametrize("make", IDS)
def test_an_empty_list_says_so_and_is_no_page_of_a_match(make: str) -> None:
    assert (found(make, "empty", is_list=True).records, found(make, "empty", is_list=True).declared_empty) == ([], True)
    assert isinstance(read(make, "empty"), Fail)


@pytest.mark.parametrize("make", IDS)
@pytest.mark.parametrize("is_list", [False, True])
def test_a_changed_layout_is_told_and_never_an_empty_list(make: str, *, is_list: bool) -> None:
    reading = read(make, "changed", is_list=is_list)
    assert isinstance(reading, Fail)
    assert reading.failure is Failure.LAYOUT_CHANGED


@pytest.mark.parametrize(
    ("make", "failure"),
    [
        ("feed", Failure.BLOCKED_PAGE),
        ("embedded", Failure.BLOCKED_PAGE),
        ("scoreboard", Failure.BLOCKED_PAGE),
    ],
)
def test_a_blocked_page_is_not_read_as_content(make: str, failure: Failure) -> None:
    reading = read(make, "blocked", is_list=True)
    assert isinstance(reading, Fail)
    assert reading.failure is failure


@pytest.mark.parametrize("make", IDS)
def test_what_a_page_tells_is_the_same_after_its_way_from_a_reader(make: str) -> None:
    rules = MATCHES.live
    assert rules is not None
    told = rules.read_thing(found(make, "usual"), context(make, is_list=False))
    assert isinstance(told, MatchReading)
    assert msgspec.json.decode(msgspec.json.encode(told), type=rules.reading_type) == told
