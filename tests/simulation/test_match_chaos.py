"""Everything breaks while matches are played: each time on record, well again within two minutes, no ball lost."""

from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from rig.clock import seeded_dice
from rig.match_chaos import SETTLED, MatchChaos
from rig.played import START, scripted
from tidemill.lab.virtual import run_virtual

pytestmark = pytest.mark.shows("M6", "H2", "H5", "B3", "B16")


def test_whatever_breaks_is_on_record_and_over_within_two_minutes_and_costs_no_ball(migrated_sqlite_url, tmp_path):
    file = Path(str(make_url(migrated_sqlite_url).database))
    match = scripted("abandoned")  # days of all matches: python -m tools.matches chaos

    async def story(clock):
        world = MatchChaos(clock, file, tmp_path, [match], seeded_dice())
        try:
            await world.begin()
            await world.go_on(SETTLED)
            strikes = [await world.strike(kind) for kind in world.kinds]
            await world.until_played()
            return strikes, await world.verdicts()
        finally:
            await world.close()

    strikes, verdicts = run_virtual(story, START)
    assert len(strikes) == 9
    assert [strike for strike in strikes if not strike.is_good] == []
    assert strikes[-1].at < match.ends_at
    assert verdicts[match.played.id].is_clean, verdicts
    assert verdicts[match.played.id].balls == len(match.balls)
