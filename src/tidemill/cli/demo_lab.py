"""The lab as a child process: local sites with faults on a timetable, gone when we are."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import msgspec

from tidemill.lab.demo import DemoTerms, Entry, ServedSites
from tidemill.lab.faults import ALL_KINDS
from tidemill.operations.mistakes import Mistake, unknown_name

LINE = 16 * 1024 * 1024
"""Bytes that the lab's one line of JSON may take, for hundreds of sites."""
STARTS_WITHIN = 30.0
ENDS_WITHIN = 5.0


def kinds_of(faults: str | None) -> str:
    """The kinds of faults that are meant, as the lab reads them."""
    faults = faults or "all"
    if faults in {"all", "none"}:
        return "" if faults == "none" else "all"
    for kind in faults.split(","):
        if kind not in ALL_KINDS:
            raise Mistake(unknown_name("fault", kind, ALL_KINDS) + f"; there is all, none, {', '.join(ALL_KINDS)}")
    return faults


@asynccontextmanager
async def lab_server(terms: DemoTerms) -> AsyncIterator[ServedSites]:
    """Serve a world while entered."""
    arguments = [
        "--seed", str(terms.seed), "--faults", kinds_of(terms.faults), "--seconds", str(terms.seconds),
        "--interval", str(terms.interval), "--busy",
        *(word for name, count in terms.counts.items() for word in (f"--{name}", str(count))),
    ]  # fmt: skip
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tidemill.bootstrap.lab_server", *arguments,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LINE,
        start_new_session=True,  # a Ctrl-C is for us to answer: the sites stay up until we have finished
    )  # fmt: skip
    try:
        yield ServedSites(await described(child))
    finally:
        if child.stdin is not None:
            child.stdin.close()
        try:
            await asyncio.wait_for(child.wait(), ENDS_WITHIN)
        except TimeoutError:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()


async def described(child: asyncio.subprocess.Process) -> list[Entry]:
    """The lab's first words: its sources."""
    if child.stdout is None:
        return []
    try:
        line = await asyncio.wait_for(child.stdout.readline(), STARTS_WITHIN)
    except TimeoutError:
        line = b""
    if not line:
        msg = "the lab's sites did not start; try fewer with --sites"
        raise Mistake(msg)
    sources: list[Entry] = msgspec.json.decode(line)["sources"]
    return sources


def often(sources: Sequence[Entry], schedule: str, timeout_seconds: float) -> list[Entry]:
    """Return the sources with a schedule and patience that fit a demo, which has no day to wait for."""
    return [
        {
            **source,
            "timeout_seconds": timeout_seconds,
            "targets": [{**target, "schedule": schedule} for target in source["targets"]],
        }
        for source in sources
    ]
