"""Which names mean one team: in any script, and never the women's team for the men's."""

from datetime import timedelta

import pytest

from rig.clock import NOON
from tidemill.verticals.matches.identity import KnownMatch, ListedMatch, identified
from tidemill.verticals.matches.merging.teams import is_same_team, team_key
from tidemill.verticals.matches.record import Team

pytestmark = pytest.mark.shows("M4")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Team("भारत"), Team("भारत")),
        (Team("Індія"), Team("індія")),
        (Team("São Paulo"), Team("Sao Paulo")),
        (Team("India", "IND"), Team("IND", "IND")),
        (Team("South Africa", "SA"), Team("S. Africa", "SA")),
        (Team("India Women", "INDW"), Team("India W", "IND-W")),
        (Team("India U19", "IND"), Team("India Under-19s", "INDU19")),
        (Team("Mumbai XI"), Team("Mumbai")),
        (Team("Lions", "LIO"), Team("Lions", "LIO")),
    ],
)
def test_one_team_under_two_names(one: Team, other: Team) -> None:
    assert is_same_team(one, other)
    assert is_same_team(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Team("भारत"), Team("पाकिस्तान")),
        (Team("印度"), Team("澳大利亚")),
        (Team("Індія"), Team("Україна")),
        (Team("!!!"), Team("???")),
        (Team("India", "IND"), Team("India Women", "IND")),
        (Team("India", "IND"), Team("India A", "IND")),
        (Team("England", "ENG"), Team("England Lions", "ENG")),
        (Team("India U19", "IND"), Team("India", "IND")),
        (Team("New Zealand Women", "NZ"), Team("New Zealand", "NZ")),
    ],
)
def test_two_teams_that_look_alike(one: Team, other: Team) -> None:
    assert not is_same_team(one, other)
    assert not is_same_team(other, one)


@pytest.mark.parametrize(
    "teams",
    [
        (Team("India Women", "IND"), Team("Australia Women", "AUS")),
        (Team("श्रीलंका", "श्री"), Team("नेपाल", "ने")),
    ],
)
def test_a_match_on_the_same_day_is_not_taken_for_another(teams: tuple[Team, Team]) -> None:
    known = [
        KnownMatch(key="men", teams=(Team("India", "IND"), Team("Australia", "AUS")), starts_at=NOON),
        KnownMatch(key="other", teams=(Team("भारत", "भा"), Team("पाकिस्तान", "पा")), starts_at=NOON),
    ]
    listed = ListedMatch(
        source_key="1", url="https://a.test/1", title="", teams=teams, starts_at=NOON + timedelta(hours=3)
    )
    assert identified(listed, known).key == ""


def test_names_are_taken_apart_once_however_many_matches_they_are_compared_with() -> None:
    known = [
        KnownMatch(
            key=str(number), teams=(Team(f"Home {number}", f"H{number}"), Team(f"Away {number}")), starts_at=NOON
        )
        for number in range(100)
    ]
    before = team_key.cache_info().misses
    for each in known:
        listed = ListedMatch(source_key="1", url="https://a.test/1", title="", teams=each.teams, starts_at=NOON)
        assert identified(listed, known).key == each.key
    assert team_key.cache_info().misses - before <= 300
