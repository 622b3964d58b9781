"""Matches replayed without the engine: sites, adapters, rules and log entries, ball for ball against the truth."""

from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

from rig.played import (
    SCRIPTED,
    SEED,
    START,
    all_faults_in_turn,
    at_times,
    replayed,
    saved,
    scripted,
    steps_of,
    verdict_of,
)
from tidemill.core.live.change import ChangeKind
from tidemill.lab.faults import Outage, ScheduledFault
from tidemill.verticals.matches.lab.faults import KINDS, Disagrees, EarlyEnd, Frozen, Lag
from tidemill.verticals.matches.lab.laws import LoggedStep, LogVerdict, judged
from tidemill.verticals.matches.lab.replay import ReplayOutcome, replay
from tidemill.verticals.matches.lab.sites import BOARD, FEED, SCRIPT, SITES, MatchSites
from tidemill.verticals.matches.lab.timeline import dealt
from tidemill.verticals.matches.merging.rows import MatchConflict, TeamRoster

pytestmark = pytest.mark.shows("M3", "M4", "B16", "X5")


@cache
def well(name: str) -> tuple[ReplayOutcome, LogVerdict]:
    """A match of which every site tells well."""
    return replayed(scripted(name), every=timedelta(seconds=4))


@pytest.mark.parametrize("name", SCRIPTED)
@pytest.mark.inventory(107)
def test_a_scripted_match_is_told_ball_for_ball(name: str) -> None:
    match = scripted(name)
    outcome, verdict = well(name)
    assert verdict.is_clean, verdict
    assert verdict.balls == len(match.balls)
    assert verdict.skipped == 0
    assert outcome.phase == "completed"


def test_saved_matches_under_every_fault_in_turn_are_told_ball_for_ball(shared: Path) -> None:
    matches = [dealt(played, SEED, START) for played in saved(shared)]
    assert len(matches) == 8
    for match in matches[::4]:  # the others under the same faults take as long and tell nothing new
        sites = MatchSites([match], all_faults_in_turn(match))
        outcome = replay(match, sites, every=timedelta(seconds=4))
        verdict = verdict_of(match, outcome)
        assert verdict.is_clean, (match.played.id, verdict)
        assert verdict.balls == len(match.balls)


SECOND_SITE = ("lag", "frozen", "flapping", "backwards", "disagrees", "missing-score")


@pytest.mark.parametrize(
    ("host", "kind"), [*((FEED, kind) for kind in KINDS), *((SCRIPT, kind) for kind in SECOND_SITE)]
)
def test_no_fault_of_one_site_loses_doubles_or_moves_back_a_ball(host: str, kind: str) -> None:
    match = scripted("concussion")
    outcome, verdict = replayed(match, at_times(host, kind, KINDS[kind](), match)[:1], every=timedelta(seconds=4))
    assert verdict.is_clean, verdict
    assert verdict.balls == len(match.balls)
    assert verdict.skipped == 0
    is_told_wrong_by_the_best = kind == "disagrees" and host == FEED
    assert bool(verdict.corrections) is is_told_wrong_by_the_best
    assert outcome.phase == "completed"


def test_a_watch_that_begins_anew_every_few_minutes_loses_and_doubles_nothing() -> None:
    match = scripted("twenty")
    _, verdict = replayed(match, restart_every=timedelta(minutes=7))
    assert verdict.is_clean, verdict
    assert verdict.balls == len(match.balls)


def test_at_sixty_times_the_speed_jumps_carry_every_ball() -> None:
    match = scripted("twenty")
    outcome, verdict = replayed(match, every=timedelta(seconds=150))
    assert verdict.is_clean, verdict
    assert verdict.balls == len(match.balls)
    assert verdict.skipped == 0
    assert len(outcome.entries) < len(match.balls)


def test_the_scorers_correction_is_one_correction_with_the_old_value() -> None:
    match = scripted("twenty")
    outcome, verdict = replayed(match)
    corrections = [entry.change for entry in outcome.entries if entry.change.kind is ChangeKind.CORRECTION]
    assert verdict.corrections == len(corrections) == 1
    was, now = corrections[0].was["innings"]["1"]["runs"], corrections[0].state["innings"]["1"]["runs"]
    assert was - now in {1, 2, 3}  # three runs less, and perhaps a ball that came meanwhile
    assert f"/{corrections[0].state['innings']['1']['wickets']} instead of {was}/" in corrections[0].reason


def test_balls_that_nobody_tells_are_announced_as_skipped() -> None:
    match = scripted("twenty")
    begins = match.starts_at + timedelta(minutes=30)
    cut = [
        ScheduledFault(host=host, kind="outage", fault=Outage(), begins=begins, ends=begins + timedelta(minutes=40))
        for host in SITES
    ]
    _, verdict = replayed(match, cut)
    assert verdict.lost
    lost_legal = sum(ball.is_legal for ball in match.balls if ball.key in verdict.lost)
    assert verdict.skipped == lost_legal
    assert [verdict.doubled, verdict.out_of_order, verdict.backwards, verdict.wrong] == [[], [], [], []]


def test_a_break_that_a_site_calls_the_end_is_a_break() -> None:
    match = scripted("test")
    faults = [
        ScheduledFault(host=host, kind="early-end", fault=EarlyEnd(), begins=match.starts_at, ends=None)
        for host in SITES
    ]
    outcome, verdict = replayed(match, faults, every=timedelta(seconds=10))
    assert verdict.is_clean, verdict
    statuses = [entry.change.state["status"] for entry in outcome.entries]
    assert statuses.index("completed") == len(statuses) - 1
    breaks = {entry.change.state.get("break") for entry in outcome.entries}
    assert {"innings", "other"} <= breaks


@pytest.mark.inventory(106)
def test_every_kind_of_break_is_told() -> None:
    told = set()
    for name in ("twenty", "test", "revised"):
        outcome, _ = well(name)
        told |= {entry.change.state.get("break") for entry in outcome.entries}
    assert told >= {"innings", "lunch", "tea", "drinks", "stumps", "rain"}


@pytest.mark.inventory(109)
def test_sites_that_disagree_are_logged_once_per_disagreement_and_field() -> None:
    match = scripted("retired")
    [fault] = at_times(BOARD, "disagrees", Disagrees(), match, minutes=40)[:1]
    outcome, verdict = replayed(match, [fault])
    conflicts = [row for row in outcome.rows if isinstance(row, MatchConflict)]
    assert verdict.is_clean, verdict
    assert [(row.innings, row.field, row.shown_source, row.other_source) for row in conflicts] == [
        (1, "runs", "feed", "board")
    ]
    assert outcome.ignored["disagrees"] > 10


def test_a_frozen_site_loses_its_say_after_three_balls_of_another() -> None:
    match = scripted("twenty")
    begins = match.starts_at + timedelta(minutes=20)
    frozen = ScheduledFault(
        host=FEED, kind="frozen", fault=Frozen(), begins=begins, ends=begins + timedelta(minutes=30)
    )
    outcome, verdict = replayed(match, [frozen])
    assert verdict.is_clean, verdict
    during = [entry for entry in outcome.entries if begins < entry.at < begins + timedelta(minutes=30)]
    assert {entry.change.state["domain_id"] for entry in during} == {"script"}
    assert len(during[0].patch["balls"]) >= 3
    assert during[0].change.skipped == 0


def test_a_site_that_lags_is_counted_and_moves_nothing_back() -> None:
    match = scripted("twenty")
    lag = [ScheduledFault(host=SCRIPT, kind="lag", fault=Lag(), begins=match.starts_at, ends=None)]
    outcome, verdict = replayed(match, lag)
    assert verdict.is_clean, verdict
    assert outcome.ignored["lagging"] > 100


@pytest.mark.inventory(82)
def test_rosters_are_handed_to_the_store_once() -> None:
    outcome, _ = well("abandoned")
    rosters = [row for row in outcome.rows if isinstance(row, TeamRoster)]
    assert {row.team for row in rosters} == {"port arden", "brackenhill"}
    assert len(rosters) == 2
    assert len(rosters[0].players) == 11


@pytest.fixture(scope="module")
def clean() -> ReplayOutcome:
    return well("abandoned")[0]


def test_the_laws_see_a_lost_ball_a_doubled_one_a_swap_and_a_fall(clean: ReplayOutcome) -> None:
    match, steps = scripted("abandoned"), steps_of(clean)
    place = next(number for number, step in enumerate(steps) if "1.3.2" in step.patch.get("balls", {}))
    lost = [*steps[:place], LoggedStep(steps[place].kind, {}, 0, steps[place].state), *steps[place + 1 :]]
    assert judged(match, lost).lost == ["1.3.2"]
    again = LoggedStep(ChangeKind.DELTA, steps[place].patch, 0, {**steps[-2].state, "balls": {"1.3.2": {"runs": 0}}})
    assert judged(match, [*steps, again]).doubled == ["1.3.2"]
    swapped = [*steps[:place], steps[place + 1], steps[place], *steps[place + 2 :]]
    assert "1.3.2" in judged(match, swapped).out_of_order
    assert judged(match, swapped).backwards
    assert judged(match, steps).is_clean
