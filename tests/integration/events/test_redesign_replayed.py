"""A month with a redesign: replayed, repaired, proven on the pages before and after, applied; readers see no half."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from integration.events.test_replay import CARDS, SOURCE, days_of
from rig.clock import SettableClock
from rig.lab_works import LabWorks, ill_from, lab_works
from tidemill.lab.faults import Redesign
from tidemill.operations.replay.requests import ReplayRequest
from tidemill.store.schema import record_history
from tidemill.verticals.events.parts import EventsParts
from tidemill.verticals.events.store.corrections import EventCorrections
from tidemill.verticals.events.views import CardFilter

pytestmark = pytest.mark.shows("X1", "X2")

BROKE_AFTER = 24
DAYS = 30


async def shown(works: LabWorks, as_of: datetime | None = None) -> dict[int, tuple[str, str]]:
    """What readers see: titles and days by card, now or as of a moment."""
    cards = works.system.part(EventsParts).cards
    found = await cards.by_date(CardFilter(), limit=500, as_of=as_of)
    return {card.id: (card.title, card.event_date.isoformat()) for card in found}


async def apply_looked_at(
    works: LabWorks, number: int, monkeypatch: pytest.MonkeyPatch
) -> list[dict[int, tuple[str, str]]]:
    """Apply a replay a few records at a time; answers what readers saw over other connections meanwhile."""
    during: list[dict[int, tuple[str, str]]] = []
    correct = EventCorrections.correct

    async def looked_at(self: EventCorrections, *given: Any, **named: Any) -> Mapping[str, int]:
        done = await correct(self, *given, **named)
        during.append(await shown(works))
        return done

    with monkeypatch.context() as patched:
        patched.setattr(EventCorrections, "correct", looked_at)
        patched.setattr("tidemill.operations.replay.applying.AT_ONCE", 3)
        works.wait(timedelta(minutes=1))
        applied = await works.system.actions.replays.apply(number, "ans")
    assert applied.applied["added"] > 0
    assert applied.applied["seen"] > 0
    return during


async def test_a_redesign_is_found_repaired_proven_applied_and_told_apart_in_history(
    migrated_sqlite_url: str, clock: SettableClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    redesigned = ill_from(CARDS.host, Redesign(), timedelta(days=BROKE_AFTER, hours=12))
    async with lab_works(migrated_sqlite_url, clock, tmp_path, [CARDS], [redesigned]) as works:
        begun = works.clock.now()
        await days_of(works, DAYS)
        replays = works.system.actions.replays
        old = await replays.run((await replays.start(ReplayRequest(source=SOURCE, since="30d"), "ans")).id)
        assert old.report is not None
        broke_on = (begun + timedelta(days=BROKE_AFTER + 1)).date().isoformat()
        assert old.report.broke == {SOURCE: broke_on}

        await works.system.ticks.chores["propose_repairs"].run()
        (proposal,) = await works.system.actions.proposals.every()
        assert (proposal.precision, proposal.recall) == (1.0, 1.0)
        request = ReplayRequest(source=SOURCE, since="31d", selectors=dict(proposal.after or {}))
        new = await replays.run((await replays.start(request, "ans")).id)
        assert new.report is not None
        assert new.report.broke == {}
        assert (new.report.lost, new.report.changed, new.report.failed_now) == (0, 0, 0)  # the pages before
        assert new.report.added > 0  # the pages after
        assert new.report.then == new.report.same > 0

        number = new.replay.id
        await replays.accept(number, "ans")
        works.wait(timedelta(hours=1))
        before = await shown(works)
        asked_at = works.clock.now()
        during = await apply_looked_at(works, number, monkeypatch)
        assert len(during) > 1
        assert all(seen == before for seen in during)
        works.wait(timedelta(minutes=1))
        after = await shown(works)
        assert len(after) > len(before)
        works.wait(timedelta(hours=1))

        assert await shown(works, asked_at) == before
        assert await shown(works, works.clock.now()) == after
        lines = await works.rows(record_history, vertical="events")
        corrected = [line for line in lines if line["kind"] == "replayed"]
        assert {line["replay_id"] for line in corrected} == {number}
        assert {line["run_id"] for line in corrected} == {0}
        assert all(line["replay_id"] is None for line in lines if line["kind"] != "replayed")

        await replays.revert(number, "ans")
        works.wait(timedelta(minutes=1))
        reverted = await shown(works)
        assert set(reverted) == set(before)
        assert await shown(works, works.clock.now() - timedelta(minutes=30)) == after
