"""A replay that is killed in the middle goes on where it was, and gives the report that it would have given."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rig.clock import SettableClock
from rig.lab_works import lab_works
from tidemill.operations.replay.requests import ReplayRequest
from tidemill.verticals.events.lab.sites import build_sites

pytestmark = pytest.mark.shows("X1")
PATIENCE = 60


CHILD = """
import sys
import tidemill.operations.replay.runner as runner
runner.PORTION = 2
from tidemill.cli.app import main
sys.argv = ["tidemill", *sys.argv[1:]]
main()
"""


QUERY = "SELECT count(*) FROM replay_pages WHERE state <> 'pending' AND replay_id = (SELECT max(id) FROM replays)"


def pages_done(database: Path) -> int:
    """How many pages of the newest replay have been dealt with."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return int(connection.execute(QUERY).fetchone()[0])


def command(database: Path, replay: int) -> list[str]:
    """The command in a process of its own, with small portions, so that it can be killed between two."""
    named = ["--database", f"sqlite:///{database}", "replay", "--json", "--resume", str(replay)]
    return [sys.executable, "-c", CHILD, *named]


def environment(folder: Path, cpu_share: float) -> dict[str, str]:
    """What the child is told."""
    own = {"READER_PROCESSES": 0, "REPLAY_CPU_SHARE": cpu_share, "PAGES_FOLDER": folder}
    return {**os.environ, **{f"TIDEMILL_{name}": str(value) for name, value in own.items()}}  # noqa: TID251 - a child's


def kill_in_the_middle(database: Path, replay: int, folder: Path) -> int:
    """Kill the command once it has kept its first pages; answers its exit code. It rests long between portions."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command(database, replay), env=environment(folder, 0.02), **quiet) as child:  # type: ignore[call-overload]
        until = time.monotonic() + PATIENCE
        while pages_done(database) == 0 and child.poll() is None and time.monotonic() < until:
            os.sched_yield()
        child.send_signal(signal.SIGKILL)
        return int(child.wait())


def finish(database: Path, replay: int, folder: Path) -> Any:
    """Go on with the replay to its end; answers what the command prints."""
    done = subprocess.run(command(database, replay), env=environment(folder, 1), capture_output=True, check=True)
    return json.loads(done.stdout)


async def test_a_replay_killed_in_the_middle_goes_on(
    clock: SettableClock, tmp_path: Path, migrated_sqlite_url: str
) -> None:
    async with lab_works(migrated_sqlite_url, clock, tmp_path, build_sites(7, 6)) as works:
        await works.scrape()
        replays = works.system.actions.replays
        whole = await replays.run((await replays.start(ReplayRequest(vertical="events"), "ans")).id)
        started = await replays.start(ReplayRequest(vertical="events"), "ans")
    database = Path(migrated_sqlite_url.partition("///")[2])
    assert kill_in_the_middle(database, started.id, tmp_path) == -signal.SIGKILL
    assert 0 < pages_done(database) < whole.replay.pages_total
    shown = finish(database, started.id, tmp_path)
    assert shown["replay"]["pages_done"] == whole.replay.pages_total
    assert shown["replay"]["digest"] == whole.replay.digest
