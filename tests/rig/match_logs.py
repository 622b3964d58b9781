"""Logs of matches as they are in a database, and what is wrong with them while a match is still played."""

from typing import Any

import msgspec

from rig.live_world import all_rows
from tidemill.core.live.change import ChangeKind
from tidemill.core.snapshots.canonical import canonical
from tidemill.core.snapshots.patches import merge
from tidemill.store.database.database import Database
from tidemill.store.schema import change_log, snapshots
from tidemill.verticals.matches.lab.laws import LoggedStep, judged
from tidemill.verticals.matches.lab.timeline import TrueMatch
from tidemill.verticals.matches.merging.state import place_of


async def logs_of(database: Database) -> dict[str, list[LoggedStep]]:
    """The log of each match by its title, moves of its life left out; each leads to its snapshot, byte for byte."""
    rows = await all_rows(database, change_log)
    found = {}
    for row in await all_rows(database, snapshots):
        steps: list[LoggedStep] = []
        state: dict[str, Any] = {}
        own = [each for each in rows if each["key"] == row["key"]]
        assert [each["seq"] for each in own] == list(range(1, len(own) + 1)), row["key"]
        for each in own:
            patch = msgspec.json.decode(each["patch"])
            state = merge(state, patch)
            steps.append(LoggedStep(ChangeKind(each["kind"]), patch, each["skipped"], state))
        assert canonical(state) == row["state"].encode(), row["key"]
        found[state["title"]] = [step for step in steps if step.kind is not ChangeKind.STATUS]
    return found


def faults_so_far(match: TrueMatch, steps: list[LoggedStep]) -> list[str]:
    """What is wrong with the log of a match that is still played: every ball up to the last one must be in it, once."""
    verdict = judged(match, steps)
    told = [place_of(key) for step in steps for key, ball in step.patch.get("balls", {}).items() if ball is not None]
    last = max(told, default=(0, 0, 0))
    lost = [f"lost {key}" for key in verdict.lost if place_of(key) < last]
    wrong = [words for words in verdict.wrong if not words.startswith(("innings", "status"))]
    skipped = [f"{verdict.skipped} balls are said to be skipped"] if verdict.skipped else []
    others = [*verdict.doubled, *verdict.out_of_order, *verdict.backwards]
    return lost + wrong + skipped + others
