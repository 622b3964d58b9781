"""The live lane in virtual time."""

from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from rig.clock import NOON
from rig.tally_lanes import TallyLanes
from tidemill.lab.virtual import run_virtual


@pytest.fixture
def live(migrated_sqlite_url, tmp_path):
    """Run a story in virtual time on a fresh database."""
    file = Path(str(make_url(migrated_sqlite_url).database))

    def play(story, begins=NOON):
        async def main(clock):
            world = TallyLanes(clock, file, tmp_path)
            try:
                return await story(world)
            finally:
                await world.close()

        return run_virtual(main, begins)

    return play
