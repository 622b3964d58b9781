"""Watch matches in virtual time for days while everything breaks, or under faults, or for an hour of real time.

python -m tools.matches chaos --hours 72     every ball against the truth, each break on record and over in two minutes
python -m tools.matches faults --speed 60    the log of every match against the truth (--sample 120 for some of them)
python -m tools.matches mixes --count 100    the same under faults of all kinds at once, at two sites of three
python -m tools.matches hour --matches 40    matches at their own speed, watched by `tidemill up` for an hour: how fresh
python -m tools.matches troubled             the same on processes that are killed, frozen and cut off, 20 minutes
"""

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from tools.matches.hour import HourTerms, watched
from tools.matches.troubled import troubled

from rig.match_chaos import MatchChaos
from rig.match_lane import MatchLanes
from rig.migrated import migrate
from rig.played import SCRIPTED, SEED, START, at_times, mixed_faults, saved, scripted, verdict_of
from tidemill.core.live.polling import PollPolicy
from tidemill.lab.virtual import run_virtual
from tidemill.verticals.matches.lab.faults import KINDS
from tidemill.verticals.matches.lab.laws import LogVerdict
from tidemill.verticals.matches.lab.replay import replay
from tidemill.verticals.matches.lab.sites import SITES, MatchSites
from tidemill.verticals.matches.lab.timeline import TrueMatch, dealt

FIXTURES = Path(__file__).parents[2].parent / "shared/fixtures"
SECOND = timedelta(seconds=1)
HASTY = PollPolicy(on_break=2.5 * SECOND, imminent=2.5 * SECOND, lists=5 * SECOND)
"""At speed a break is over within seconds."""
STRIKES_APART = timedelta(minutes=8), timedelta(minutes=35)


def main() -> None:
    """Read the command line and prove."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    chaos = commands.add_parser("chaos")
    chaos.add_argument("--hours", type=float, default=72)
    chaos.add_argument("--seed", type=int, default=SEED)
    faults = commands.add_parser("faults")
    faults.add_argument("--speed", type=float, default=60)
    faults.add_argument("--sample", type=int, default=0, help="so many of the combinations, by chance; 0 for all")
    faults.add_argument("--seed", type=int, default=SEED)
    mixes = commands.add_parser("mixes")
    mixes.add_argument("--count", type=int, default=100)
    mixes.add_argument("--seed", type=int, default=SEED)
    for name in ("hour", "troubled"):
        real = commands.add_parser(name)
        real.add_argument("--matches", type=int, default=40)
        real.add_argument("--minutes", type=float, default=60)
        real.add_argument("--pages", type=int, default=5, help="so many matches are read in a browser besides")
        real.add_argument("--pace", type=float, default=0, help="requests a second that each site allows; 0 for any")
    arguments = parser.parse_args()
    began = time.process_time()
    is_good = COMMANDS[arguments.command](arguments)
    print(f"{time.process_time() - began:.0f} s of processor time")
    sys.exit(not is_good)


def run_real(arguments: argparse.Namespace) -> bool:
    """Watch matches at their own speed; return whether readers were told all of it and nothing else."""
    with tempfile.TemporaryDirectory(prefix="tidemill-hour-") as folder:
        terms = HourTerms(
            folder=Path(folder) / "work", fixtures=FIXTURES, matches=arguments.matches, minutes=arguments.minutes,
            pages=arguments.pages, pace=arguments.pace,
        )  # fmt: skip
        found = asyncio.run((watched if arguments.command == "hour" else troubled)(terms))
    print(json.dumps(found, indent=1))
    return not any(found[name] for name in ("wrong", "states that no moment has", "matches not up to date"))


def run_mixes(count: int, seed: int) -> bool:
    """Replay matches under many faults at once; return whether every log is the truth."""
    matches = [*(scripted(name) for name in SCRIPTED), *(dealt(each, SEED, START) for each in saved(FIXTURES))]
    good = 0
    for number in range(seed, seed + count):
        dice = Random(number)  # noqa: S311 - a seeded story
        match = dice.choice(matches)
        restarts = timedelta(minutes=dice.choice((3, 11, 37))) if dice.random() < 0.3 else None  # noqa: PLR2004
        sites = MatchSites([match], mixed_faults(match, dice))
        verdict = verdict_of(match, replay(match, sites, every=4 * SECOND, restart_every=restarts))
        if verdict.is_clean and verdict.balls == len(match.balls):
            good += 1
        else:
            print(f"{number}, {match.played.id}: {verdict}", flush=True)
    print(f"{good} of {count} logs are the truth, ball for ball")
    return good == count


def run_chaos(hours: float, seed: int) -> bool:
    """Break things for so many hours of matches; return whether all of it went well."""
    dice = Random(seed)  # noqa: S311 - a seeded story
    matches = spread(hours)

    async def story(clock: Any, file: Path, folder: Path) -> tuple[MatchChaos, dict[str, LogVerdict]]:
        world = MatchChaos(clock, file, folder, matches, dice)
        try:
            await world.begin()
            until = clock.now() + timedelta(hours=hours)
            await world.go_on(timedelta(minutes=5))
            while clock.now() < until:
                strike = await world.strike(dice.choice(world.kinds))
                words = "" if strike.is_good else "   <-- "
                print(
                    f"{strike.at:%d %H:%M}  {strike.kind:24} worst {strike.worst:10} "
                    f"well after {strike.well_after.total_seconds():3.0f} s  {strike.on_record}{words}",
                    flush=True,
                )
                await world.go_on(STRIKES_APART[0] + dice.random() * (STRIKES_APART[1] - STRIKES_APART[0]))
            await world.until_played()
            return world, await world.verdicts()
        finally:
            await world.close()

    world, verdicts = in_virtual_time(story)
    counted = Counter(strike.kind for strike in world.strikes)
    bad = [strike for strike in world.strikes if not strike.is_good]
    print("\n" + ", ".join(f"{kind}: {count}" for kind, count in sorted(counted.items())))
    print(f"{len(world.strikes)} breaks, {len(bad)} of them not on record or not over within two minutes")
    return told(verdicts, matches) and not bad


def spread(hours: float) -> list[TrueMatch]:
    """Return as many matches as are played in so many hours, one beginning before the last one ends."""
    found: list[TrueMatch] = []
    start = START
    for played in [*(scripted(name).played for name in SCRIPTED), *saved(FIXTURES)]:
        match = dealt(played, SEED, start)
        if start >= START + timedelta(hours=hours):
            break
        found.append(match)
        start += (match.ends_at - start) * 0.8
    return found


def run_faults(speed: float, sample: int, seed: int) -> bool:
    """Play each match under each fault of each site; return whether every log is the truth."""
    matches = [*(scripted(name) for name in SCRIPTED), *(dealt(each, SEED, START) for each in saved(FIXTURES))]
    every = [(match, host, kind) for match in matches for host in SITES for kind in KINDS]
    if sample:
        every = Random(seed).sample(every, sample)  # noqa: S311 - a seeded choice
    good = 0
    for match, host, kind in every:
        verdicts = in_virtual_time(story_of(match, host, kind, speed))
        if is_told(match, verdicts):
            good += 1
        else:
            print(f"{match.played.id} with {kind} at {host}: {verdicts[match.played.id]}", flush=True)
    print(f"{good} of {len(every)} logs are the truth, ball for ball")
    return good == len(every)


Story = Callable[[Any, Path, Path], Awaitable[Any]]


def story_of(match: TrueMatch, host: str, kind: str, speed: float) -> Story:
    """Return the story of one match at a speed, with a fault at one site for a quarter of each hour."""

    async def story(clock: Any, file: Path, folder: Path) -> dict[str, LogVerdict]:
        world = MatchLanes(clock, file, folder, [match], speed)
        try:
            await world.begin(at_times(host, kind, KINDS[kind](), match))
            world.process("one", polling=HASTY)
            await world.until_played()
            return await world.verdicts()
        finally:
            await world.close()

    return story


def in_virtual_time(story: Story) -> Any:
    """Run a story on a database of its own, on which time passes as fast as it can."""
    with database_file() as (file, folder):

        async def begin(clock: Any) -> Any:
            return await story(clock, file, folder)

        return run_virtual(begin, START)


@contextmanager
def database_file() -> Iterator[tuple[Path, Path]]:
    """Make a folder with a database that has its tables."""
    with tempfile.TemporaryDirectory(prefix="tidemill-matches-") as name:
        template, file = TEMPLATES / "empty.db", Path(name) / "matches.db"
        if not template.exists():
            TEMPLATES.mkdir(parents=True, exist_ok=True)
            migrate(f"sqlite:///{template}")
        shutil.copy(template, file)
        yield file, Path(name)


TEMPLATES = Path(tempfile.mkdtemp(prefix="tidemill-empty-"))


def told(verdicts: dict[str, LogVerdict], matches: Sequence[TrueMatch]) -> bool:
    """Print what is wrong with any log; return whether nothing is."""
    good = [match for match in matches if is_told(match, verdicts)]
    for match in matches:
        if match not in good:
            print(f"{match.played.id}: {verdicts.get(match.played.id, 'never told')}")
    balls = sum(len(match.balls) for match in good)
    print(f"{len(good)} of {len(matches)} matches are told ball for ball: {balls:,} balls")
    return len(good) == len(matches)


def is_told(match: TrueMatch, verdicts: dict[str, LogVerdict]) -> bool:
    """Whether a log is the truth, with every ball."""
    verdict = verdicts.get(match.played.id)
    return verdict is not None and verdict.is_clean and verdict.balls == len(match.balls) and not verdict.skipped


COMMANDS: dict[str, Callable[[argparse.Namespace], bool]] = {
    "chaos": lambda given: run_chaos(given.hours, given.seed),
    "faults": lambda given: run_faults(given.speed, given.sample, given.seed),
    "mixes": lambda given: run_mixes(given.count, given.seed),
    "hour": run_real,
    "troubled": run_real,
}

if __name__ == "__main__":
    main()
