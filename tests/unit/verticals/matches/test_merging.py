"""Whom we believe, what may fall, and what is only counted; every telling by hand."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from rig.clock import NOON
from tidemill.core.failure import Failure
from tidemill.core.live.change import ChangeKind, Published
from tidemill.core.live.rules import LiveSite, Merged, Phase, Told, ToldNothing, ToldSame
from tidemill.verticals.matches.merging.reliability import SiteReliability, after_telling
from tidemill.verticals.matches.record import Ball, InningsScore, MatchStatus, Team
from tidemill.verticals.matches.rules import LIVE_RULES
from tidemill.verticals.matches.telling import MatchReading

pytestmark = pytest.mark.shows("M3", "M4")

BEST = LiveSite(source_id=1, source="best", source_key="1", precedence=80)
OTHER = LiveSite(source_id=2, source="other", source_key="2", precedence=40)
TEAMS = (Team("India", "IND"), Team("Australia", "AUS"))


def told(runs: int, balls: int, wickets: int = 0, **more: Any) -> MatchReading:
    innings = (InningsScore(number=1, side=0, runs=runs, wickets=wickets, balls=balls),)
    return MatchReading(**{"teams": TEAMS, "innings": innings, "status": MatchStatus.LIVE, **more})


class Watch:
    """A match under watch; `tell` returns what a telling did."""

    def __init__(self, *sites: LiveSite, published: Published | None = None) -> None:
        self.memory = LIVE_RULES.begin("m", published, sites or (BEST, OTHER))
        self.changes: list[Any] = []

    def tell(self, site: LiveSite, seconds: float, reading: MatchReading | Failure | None = None) -> Merged:
        at = NOON + timedelta(seconds=seconds)
        match reading:
            case None:
                telling: Any = ToldSame(site, at)
            case Failure():
                telling = ToldNothing(site, at, reading)
            case _:
                telling = Told(site, at, reading)
        merged = LIVE_RULES.merge(self.memory, telling)
        self.memory = merged.memory
        if merged.change is not None:
            self.changes.append(merged.change)
        return merged

    @property
    def state(self) -> Mapping[str, Any]:
        assert self.memory.state is not None
        return self.memory.state

    @property
    def runs(self) -> int:
        return int(self.state["innings"]["1"]["runs"])


def started(*readings: tuple[LiveSite, MatchReading]) -> Watch:
    watch = Watch()
    for site, reading in readings or ((BEST, told(10, 12)), (OTHER, told(10, 12))):
        watch.tell(site, 0, reading)
    return watch


@pytest.mark.inventory(80, 108)
def test_every_field_has_its_source_confidence_and_time() -> None:
    watch = started(
        (BEST, told(10, 12, title="India v Australia", confidence={"score": 0.9})),
        (OTHER, told(10, 12, venue="The Oval", title="IND v AUS", confidence={"venue": 0.7})),
    )
    provenance = watch.memory.provenance
    assert (provenance["score"].source, provenance["score"].confidence, provenance["score"].at) == ("best", 0.9, NOON)
    assert (provenance["venue"].source, provenance["venue"].confidence) == ("other", 0.7)
    assert watch.state["title"] == "India v Australia"
    assert watch.state["venue"] == "The Oval"


@pytest.mark.inventory(108)
def test_a_field_of_low_confidence_is_refused() -> None:
    watch = started((BEST, told(10, 12, venue="guessed", confidence={"venue": 0.4})))
    assert "venue" not in watch.state
    watch = Watch()
    watch.tell(BEST, 0, told(99, 12, confidence={"score": 0.49}))
    watch.tell(OTHER, 1, told(10, 12))
    assert watch.runs == 10


def test_the_first_word_waits_for_a_better_site_but_not_for_long() -> None:
    watch = Watch()
    assert watch.tell(OTHER, 0, told(10, 12)).change is None
    assert watch.tell(OTHER, 10, told(11, 13)).change is not None
    watch = Watch()
    watch.tell(OTHER, 0, told(10, 12))
    assert watch.tell(BEST, 1, Failure.SERVER_ERROR).change is not None


@pytest.mark.shows("B16")
def test_the_same_site_saying_less_twice_ten_seconds_apart_is_a_correction() -> None:
    watch = Watch(BEST)
    watch.tell(BEST, 0, told(10, 12))
    assert watch.tell(BEST, 1, told(9, 12)).ignored == "backwards"
    assert watch.tell(BEST, 10.9).change is None
    change = watch.tell(BEST, 11).change
    assert change is not None
    assert (change.kind, change.was["innings"]["1"]["runs"]) == (ChangeKind.CORRECTION, 10)
    assert change.reason == "best says 9/0 instead of 10/0"
    assert watch.runs == 9
    assert watch.tell(BEST, 20, told(10, 13)).change is not None


@pytest.mark.shows("B16")
def test_less_that_is_more_again_is_no_correction() -> None:
    watch = Watch(BEST)
    watch.tell(BEST, 0, told(10, 12))
    watch.tell(BEST, 1, told(9, 12))
    watch.tell(BEST, 5, told(10, 12))
    assert watch.tell(BEST, 9, told(9, 12)).ignored == "flapping"
    assert watch.tell(BEST, 14).change is None
    assert [change.kind for change in watch.changes] == [ChangeKind.DELTA]


@pytest.mark.shows("B16")
def test_a_slow_site_moves_nothing_back_when_the_best_one_fails() -> None:
    watch = started()
    watch.tell(BEST, 30, told(14, 13))
    watch.tell(BEST, 32, Failure.TIMED_OUT)
    for second in range(33, 60, 3):
        assert watch.tell(OTHER, second).change is None
    assert watch.tell(OTHER, 62, told(12, 12)).ignored == "lagging"
    assert watch.tell(OTHER, 75).change is None
    assert watch.runs == 14
    assert watch.tell(OTHER, 80, told(15, 14)).change is not None


def test_the_next_site_tells_at_once_when_the_best_one_fails() -> None:
    watch = started()
    watch.tell(OTHER, 30, told(14, 13))
    assert watch.runs == 10
    assert watch.tell(BEST, 31, Failure.SERVER_ERROR).change is not None
    assert watch.runs == 14


def test_a_better_site_insists_against_one_that_stays_with_the_higher_score() -> None:
    watch = started()
    watch.tell(BEST, 30, told(9, 12))
    for second in range(31, 88, 3):
        watch.tell(OTHER, second)
        assert watch.tell(BEST, second + 1).change is None
    watch.tell(BEST, 90)
    assert watch.changes[-1].kind is ChangeKind.CORRECTION
    assert watch.runs == 9


def test_three_balls_of_another_make_a_site_that_stands_still_lose_its_say() -> None:
    watch = started()
    for number, balls in enumerate((13, 14)):
        watch.tell(OTHER, 30 + number, told(10 + balls, balls))
        watch.tell(BEST, 30.5 + number)
        assert watch.runs == 10
    watch.tell(OTHER, 33, told(25, 15))
    watch.tell(BEST, 34)
    assert watch.runs == 25
    assert watch.tell(BEST, 60, told(26, 16)).change is not None
    assert watch.state["domain_id"] == "best"


def test_reliability_counts_fifteen_minutes_and_demotes_under_a_half() -> None:
    reliability = SiteReliability()
    for minute in range(10):
        reliability = after_telling(reliability, NOON + timedelta(minutes=minute), good=False)
    assert reliability.is_demoted
    for minute in range(10, 20):
        reliability = after_telling(reliability, NOON + timedelta(minutes=minute), good=True)
    assert reliability.share == 10 / 15
    later = after_telling(reliability, NOON + timedelta(minutes=40), good=True)
    assert later.share == 1.0


def test_a_reading_of_another_match_is_refused() -> None:
    watch = started()
    merged = watch.tell(BEST, 30, told(99, 90, teams=(Team("Kenya"), Team("Nepal"))))
    assert (merged.ignored, merged.change) == ("other match", None)


def test_a_site_that_names_the_teams_the_other_way_round_means_the_same_innings() -> None:
    watch = started()
    swapped = InningsScore(number=1, side=1, runs=14, wickets=0, balls=13)
    watch.tell(BEST, 30, told(0, 0, teams=(TEAMS[1], TEAMS[0]), innings=(swapped,)))
    assert watch.state["innings"]["1"]["team"] == "team_a"
    assert watch.runs == 14


@pytest.mark.inventory(106)
def test_the_score_of_each_team_is_its_current_innings() -> None:
    scores = tuple(
        InningsScore(number=number, side=side, runs=runs, balls=75, wickets=4)
        for number, side, runs in ((1, 0, 300), (2, 1, 200), (3, 0, 50))
    )
    watch = Watch(BEST)
    watch.tell(BEST, 0, told(0, 0, innings=scores))
    state = watch.state
    assert state["score"]["team_a"] == {"runs": 50, "wickets": 4, "overs": "12.3", "balls": 75}
    assert state["score"]["team_b"]["runs"] == 200
    assert state["current_innings"] == 3


@pytest.mark.inventory(106)
@pytest.mark.parametrize(
    ("ball", "kind"),
    [
        (Ball(innings=1, over=2, ball=1, runs=4), "runs"),
        (Ball(innings=1, over=2, ball=1, runs=0, wicket="bowled"), "wicket"),
        (Ball(innings=1, over=1, ball=6, runs=1), "over_complete"),
    ],
)
def test_the_last_event_is_runs_a_wicket_or_the_end_of_an_over(ball: Ball, kind: str) -> None:
    watch = Watch(BEST)
    watch.tell(BEST, 0, msgspec.structs.replace(told(10, ball.over * 6 + ball.ball), balls=(ball,)))
    event = watch.state["last_event"]
    assert (event["type"], event["timestamp"]) == (kind, NOON.isoformat())


def test_a_batter_who_retires_hurt_is_no_wicket() -> None:
    watch = started((BEST, told(10, 12)))
    hurt = Ball(innings=1, over=2, ball=1, runs=1, wicket="retired hurt")
    watch.tell(BEST, 30, msgspec.structs.replace(told(11, 13), balls=(hurt,)))
    assert watch.state["last_event"]["type"] == "runs"
    assert watch.state["balls"] == {"1.2.1": {"runs": 1, "wicket": "retired hurt"}}


def test_a_correction_without_balls_is_described_as_one() -> None:
    watch = started((BEST, told(10, 12)))
    for seconds in (30, 45):
        watch.tell(BEST, seconds, told(7, 12))
    assert watch.changes[-1].kind is ChangeKind.CORRECTION
    assert watch.state["last_event"]["description"] == "corrected to 7/0 in 2.0 overs"


def test_the_best_site_is_believed_again_after_another_one_named_the_wrong_side() -> None:
    watch = started((BEST, told(10, 12)))
    wrong = MatchReading(
        teams=TEAMS, innings=(InningsScore(number=1, side=1, runs=12, balls=14),), status=MatchStatus.LIVE
    )
    for seconds in range(10, 40, 5):
        watch.tell(BEST, seconds, Failure.TIMED_OUT)
        watch.tell(OTHER, seconds, wrong)
    assert watch.state["innings"]["1"]["team"] == "team_b"
    for seconds in range(40, 140, 5):
        watch.tell(BEST, seconds, told(12, 14))
        watch.tell(OTHER, seconds)
    assert watch.state["innings"]["1"]["team"] == "team_a"
    assert watch.changes[-1].kind is ChangeKind.CORRECTION
    assert watch.runs == 12


def test_a_jump_says_how_many_balls_nobody_told() -> None:
    watch = Watch(BEST)
    watch.tell(BEST, 0, told(10, 12))
    change = watch.tell(BEST, 60, told(20, 16)).change
    assert change is not None
    assert change.skipped == 3


def test_a_taken_over_watch_goes_on_from_the_stored_state() -> None:
    first = started()
    published = Published(state=first.state, seq=1, changed_at=NOON, provenance=first.memory.provenance)
    watch = Watch(published=published)
    assert watch.tell(BEST, 60, told(10, 12)).change is None
    assert watch.tell(BEST, 61, told(9, 11)).change is None
    assert watch.tell(BEST, 62, told(11, 13)).change is not None


def test_an_unchanged_reading_changes_nothing_and_a_match_on_a_break_is_on_a_break() -> None:
    watch = started()
    assert watch.tell(BEST, 30, told(10, 12)).change is None
    assert LIVE_RULES.outlook(watch.memory).phase is Phase.IN_PLAY
    over = told(10, 12, status=MatchStatus.COMPLETED, ball_limit=300)
    watch.tell(BEST, 31, over)
    assert LIVE_RULES.outlook(watch.memory).phase is Phase.BREAK
    watch.tell(BEST, 40, told(11, 13))
    assert LIVE_RULES.outlook(watch.memory).phase is Phase.IN_PLAY


def test_two_sites_of_one_source_are_told_apart() -> None:
    twice = LiveSite(source_id=1, source="best", source_key="1-b", precedence=80)
    sites: Sequence[LiveSite] = (BEST, twice)
    memory = LIVE_RULES.begin("m", None, sites)
    assert len(memory.sites) == 2
    assert len(LIVE_RULES.with_sites(memory, [BEST]).sites) == 1


@pytest.mark.inventory(76)
def test_commentary_and_stats_are_pages_of_their_own_that_add_to_the_scorecard_and_never_lead() -> None:
    commentary, stats = (msgspec.structs.replace(BEST, resource=name) for name in ("commentary", "stats"))
    watch = Watch(BEST, commentary, stats)
    balls = tuple(Ball(innings=1, over=0, ball=number, runs=1, is_legal=True) for number in (1, 2, 3))
    watch.tell(BEST, 0, told(1, 1))
    watch.tell(commentary, 1, MatchReading(teams=TEAMS, balls=balls))
    watch.tell(stats, 2, MatchReading(teams=TEAMS, venue="The Oval"))
    assert (watch.runs, list(watch.state["balls"]), watch.state["venue"]) == (1, ["1.0.1"], "The Oval")
    watch.tell(BEST, 3, told(3, 3))  # the scorecard goes on: the commentary has its balls already
    assert (watch.runs, list(watch.state["balls"])) == (3, ["1.0.1", "1.0.2", "1.0.3"])
    watch.tell(commentary, 4, Failure.SERVER_ERROR)
    watch.tell(BEST, 5, told(4, 4))
    assert watch.runs == 4
    assert sum(change.skipped for change in watch.changes) == 0
