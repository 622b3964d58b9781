"""What the hour of real matches measures: told moments against the truth, and requests as the sites see them."""

from datetime import timedelta
from typing import Any

from tools.matches.crowd import ToldMoments, crowd, spread_of
from tools.matches.hour import busiest

from rig.played import START
from tidemill.lab.server import ServedRequest
from tidemill.verticals.matches.lab.scripted import scripted_matches
from tidemill.verticals.matches.lab.timeline import TrueMoment
from tidemill.verticals.matches.merging.state import innings_json

SECOND = timedelta(seconds=1)
MATCHES = crowd(12, START, timedelta(minutes=30), scripted_matches(7), 7)


def state_of(title: str, moment: TrueMoment) -> dict[str, Any]:
    state: dict[str, Any] = {
        "title": title, "innings": {str(each.number): innings_json(each) for each in moment.innings},
    }  # fmt: skip
    return state | ({"break": moment.pause.value} if moment.pause else {})


def test_every_match_of_a_crowd_is_under_way_for_as_long_as_it_is_watched():
    assert len({team for match in MATCHES for team, _ in match.played.teams}) == 24
    assert all(match.starts_at < START for match in MATCHES)
    assert all(match.ends_at > START + timedelta(minutes=30) for match in MATCHES)


def test_each_moment_is_as_late_as_the_state_that_tells_it_or_a_later_one():
    match, told = MATCHES[0], ToldMoments(MATCHES)
    first = match.index_at(START)
    one, two = match.moments[first + 1], match.moments[first + 2]
    told.hear(state_of(match.played.title, match.moments[first]), START)
    told.hear(state_of(match.played.title, two), two.at + 2 * SECOND)
    assert told.late == [(two.at - one.at).total_seconds() + 2, 2.0]
    assert match.played.title not in told.missing(two.at + 3 * SECOND)
    assert len(told.missing(two.at + 3 * SECOND)) == len(MATCHES) - 1


def test_a_state_that_no_moment_has_or_that_is_not_yet_true_is_named():
    match, told = MATCHES[0], ToldMoments(MATCHES)
    later = match.moments[match.index_at(START) + 5]
    told.hear(state_of(match.played.title, later), START)
    assert len(told.unknown) == 1
    assert told.late == []


def test_the_busiest_ten_seconds_of_any_site_are_found():
    log = [ServedRequest("a", "/", float(second)) for second in range(60)]
    log += [ServedRequest("b", "/", 30 + number / 10) for number in range(40)]
    assert busiest(log) == 4.0
    assert spread_of([1.0, 2.0, 3.0])["p50"] == 2.0
