from datetime import timedelta

import msgspec
import pytest

from rig.clock import NOON
from tidemill.core.audit import AuditEntry
from tidemill.core.live.rules import ListedThing, Outlook, Phase
from tidemill.core.source import Source
from tidemill.store.database.keys import Ids
from tidemill.store.sources.sources import SourceRepository
from tidemill.verticals.matches.merging.rows import MatchConflict, TeamRoster
from tidemill.verticals.matches.store.identities import MatchIdentities
from tidemill.verticals.matches.store.views import MatchViews

pytestmark = pytest.mark.shows("M4")


def listed(source_key: str, one: str = "India", two: str = "Australia", hours: float = 0, **fields: str) -> ListedThing:
    start = (NOON + timedelta(hours=hours)).isoformat() if "start_time" not in fields else fields["start_time"]
    return ListedThing(
        source_key=source_key,
        url=f"https://scores.test/{source_key}",
        outlook=Outlook(Phase.IN_PLAY),
        title=f"{one} v {two}",
        fields={"teams": [[one, ""], [two, ""]], "start_time": start, "series": "Cup", "match_type": "ODI"},
    )


def source(number: int) -> Source:
    return Source(
        id=number, name=f"site{number}", vertical="matches", base_url="https://x.test", adapter_id="matches.feed"
    )


@pytest.fixture
def identities(database):
    return MatchIdentities(database, Ids(database))


@pytest.fixture
async def sources(database):
    repository = SourceRepository(database, Ids(database))
    wanted = [source(1), source(2)]
    done = await repository.upsert([(each, ("vertical", "base_url", "adapter_id")) for each in wanted], NOON)
    return [msgspec.structs.replace(each, id=done[each.name][0]) for each in wanted]


@pytest.fixture
def views(database):
    return MatchViews(database)


async def test_two_sites_ids_for_one_match_have_one_key_and_keep_it(identities):
    first = await identities.identify(source(1), [listed("a1")], NOON)
    second = await identities.identify(source(2), [listed("77", "Australia", "INDIA", 2)], NOON)
    assert first["a1"] == second["77"] == "india-australia-20260302"
    assert await identities.identify(source(1), [listed("a1")], NOON) == first


async def test_the_same_teams_on_another_day_are_another_match(identities):
    found = await identities.identify(source(1), [listed("a1"), listed("a2", hours=48)], NOON)
    assert found["a1"] != found["a2"]


async def test_a_changed_id_is_the_same_match(identities):
    old = await identities.identify(source(1), [listed("a1")], NOON)
    new = await identities.identify(source(1), [listed("new-a1")], NOON)
    assert new["new-a1"] == old["a1"]


async def test_an_id_in_doubt_is_a_warning_that_a_person_settles(identities, views, sources):
    await identities.identify(sources[0], [listed("a1")], NOON)
    found = await identities.identify(sources[1], [listed("b1", "India", "Aussies Select")], NOON)
    [doubt] = await identities.ids(doubtful=True)
    assert doubt.doubt == "may be india-australia-20260302: one team is the same"
    note = AuditEntry("anna", "match.map", "match india-australia-20260302")
    before = await identities.settle(sources[1].name, "b1", "india-australia-20260302", "anna", NOON, note)
    assert before == found["b1"]
    assert await identities.ids(doubtful=True) == []
    merged = await views.find(found["b1"])
    assert merged is not None
    assert merged.merged_into == "india-australia-20260302"
    again = await identities.identify(sources[1], [listed("b1", "India", "Aussies Select")], NOON)
    assert again["b1"] == "india-australia-20260302"


async def test_an_unknown_id_cannot_be_settled(identities):
    note = AuditEntry("anna", "match.map", "match x")
    assert await identities.settle("nobody", "b1", "x", "anna", NOON, note) is None


@pytest.mark.inventory(109)
async def test_a_conflict_is_written_with_both_values(database, identities, views):
    conflict = MatchConflict(
        innings=2, field="runs", shown_source="feed", shown_value=100, other_source="board", other_value=112, at=NOON
    )
    async with database.write() as connection:
        await identities.write(connection, "m", [conflict], NOON)
    [found] = await views.conflicts("m")
    assert (found.innings, found.shown_value, found.other_value, found.found_at) == (2, 100, 112, NOON)


@pytest.mark.inventory(82)
async def test_a_roster_is_kept_for_twelve_hours(database, identities):
    async with database.write() as connection:
        await identities.write(connection, "m", [TeamRoster("india", ("One", "Two"))], NOON)
    assert await identities.roster("India", NOON + timedelta(hours=11, minutes=59)) == ("One", "Two")
    assert await identities.roster("India", NOON + timedelta(hours=12)) == ()
