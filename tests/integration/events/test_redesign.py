"""A site is redesigned: nothing is removed, a person is told and offered new selectors, and the next run is whole."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from rig.clock import SettableClock
from rig.lab_works import DAY, ill_from, lab_works
from tidemill.core.quality.proposals import ProposalStatus
from tidemill.core.run import RunStatus
from tidemill.lab.faults import BrokenEmpty, Redesign
from tidemill.operations.mistakes import Mistake
from tidemill.pipeline.happenings import DriftNoticed
from tidemill.store.schema import selector_proposals
from tidemill.verticals.events.lab.group import true_events
from tidemill.verticals.events.lab.sites import Make, Site, build_sites
from tidemill.verticals.events.store.tables import events

pytestmark = pytest.mark.shows("P3", "X2")

SITES = {site.make: msgspec.structs.replace(site, pages=site.pages[:1]) for site in build_sites(7, 12)}
CARDS: Site = SITES[Make.CARDS]


@pytest.mark.parametrize("make", [Make.CARDS, Make.TABLE, Make.LIST])
async def test_an_accepted_proposal_makes_the_next_run_whole(
    migrated_url: str, clock: SettableClock, tmp_path: Path, make: Make
) -> None:
    site = SITES[make]
    redesigned = ill_from(site.host, Redesign(), timedelta(hours=12))
    async with lab_works(migrated_url, clock, tmp_path, [site], [redesigned]) as works:
        await works.scrape()
        known = {row["identity"] for row in await works.rows(events)}
        for _ in range(2):
            works.wait(DAY)
            (failed,) = await works.scrape()
            assert failed.status is RunStatus.FAILED
            await works.system.ticks.chores["propose_repairs"].run()
        assert [row["gone_at"] for row in await works.rows(events)] == [None] * len(known)
        told = [said for said in works.heard if isinstance(said, DriftNoticed) and said.rule == "selectors"]
        assert "proposal" in told[0].detail

        desk = works.system.actions.proposals
        (proposal,) = await desk.every()
        assert proposal.confidence > 0.7
        assert proposal.after is not None
        assert str(proposal.after["item"]).startswith("div.prog__row, ")  # the older layout can still be read
        assert (proposal.precision, proposal.recall) == (1.0, 1.0)
        await desk.accept(proposal.id, "ans")
        (whole,) = await works.scrape()
        assert (whole.status, whole.complete) == (RunStatus.SUCCESS, True), whole.doubts
        truth = true_events(works.world, site.host, clock.now())
        assert {event.title for event in truth} <= {row["title"] for row in await works.rows(events)}
        assert whole.counts.records_accepted == len(truth)
        assert known & {row["identity"] for row in await works.rows(events) if row["last_seen_at"] == clock.now()}
        with pytest.raises(Mistake, match="does not wait"):
            await desk.accept(proposal.id, "ans")


async def test_a_page_whose_list_is_gone_is_told_of_and_nothing_is_proposed(
    migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path
) -> None:
    broken = ill_from(CARDS.host, BrokenEmpty(), timedelta(hours=12))
    async with lab_works(migrated_sqlite_url, clock, tmp_path, [CARDS], [broken]) as works:
        await works.scrape()
        works.wait(DAY)
        await works.scrape()
        for _ in range(2):
            await works.system.ticks.chores["propose_repairs"].run()
        (row,) = await works.rows(selector_proposals)
        assert (row["status"], row["after"]) == (ProposalStatus.NONE, None)
        assert "empty, broken or wholly new" in row["diagnosis"]
        assert await works.system.actions.proposals.every() == []
        assert len([said for said in works.heard if isinstance(said, DriftNoticed) and said.rule == "selectors"]) == 1


async def test_what_a_person_rejected_is_not_proposed_again(
    migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path
) -> None:
    redesigned = ill_from(CARDS.host, Redesign(), timedelta(hours=12))
    async with lab_works(migrated_sqlite_url, clock, tmp_path, [CARDS], [redesigned]) as works:
        await works.scrape()
        works.wait(DAY)
        await works.scrape()
        await works.system.ticks.chores["propose_repairs"].run()
        (proposal,) = await works.system.actions.proposals.every()
        await works.system.actions.proposals.reject(proposal.id, "ans")
        works.wait(timedelta(minutes=5))
        await works.scrape()
        await works.system.ticks.chores["propose_repairs"].run()
        assert await works.system.actions.proposals.every() == []
