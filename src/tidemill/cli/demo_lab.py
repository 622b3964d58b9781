"""The lab as a child process: local sites with faults on a timetable, ended with our process."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import msgspec

from tidemill.lab.demo import DemoTerms, Entry, ServedSites
from tidemill.lab.faults import ALL_KINDS
from tidemill.operations.mistakes import Mistake, unknown_name

MAX_LINE_BYTES = 16 * 1024 * 1024
"""The lab's one line of JSON may be this long, for hundreds of sites."""
START_SECONDS = 30.0
END_SECONDS = 5.0


def fault_kinds(faults: str | None) -> str:
    """Return the kinds of faults that are meant, in the lab's form."""
    faults = faults or "all"
    if faults in {"all", "none"}:
        return "" if faults == "none" else "all"
    for kind in faults.split(","):
        if kind not in ALL_KINDS:
            raise Mistake(unknown_name("fault", kind, ALL_KINDS) + f"; there is all, none, {', '.join(ALL_KINDS)}")
    return faults


@asynccontextmanager
async def lab_server(terms: DemoTerms) -> AsyncIterator[ServedSites]:
    """Serve the sites while entered."""
    arguments = [
        "--seed", str(terms.seed), "--faults", fault_kinds(terms.faults), "--seconds", str(terms.seconds),
        "--interval", str(terms.interval), "--busy",
        *(word for name, count in terms.counts.items() for word in (f"--{name}", str(count))),
    ]  # fmt: skip
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tidemill.bootstrap.lab_server", *arguments,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=MAX_LINE_BYTES,
        start_new_session=True,  # Ctrl-C must not reach it: the sites stay up until we have finished
    )  # fmt: skip
    try:
        yield ServedSites(await read_sources(child))
    finally:
        if child.stdin is not None:
            child.stdin.close()
        try:
            await asyncio.wait_for(child.wait(), END_SECONDS)
        except TimeoutError:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()


async def read_sources(child: asyncio.subprocess.Process) -> list[Entry]:
    """Read the sources that the lab prints first."""
    if child.stdout is None:
        return []
    try:
        line = await asyncio.wait_for(child.stdout.readline(), START_SECONDS)
    except TimeoutError:
        line = b""
    if not line:
        msg = "the lab's sites did not start; try fewer with --sites"
        raise Mistake(msg)
    sources: list[Entry] = msgspec.json.decode(line)["sources"]
    return sources


def with_demo_schedule(sources: Sequence[Entry], schedule: str, timeout_seconds: float) -> list[Entry]:
    """Return the sources with a schedule and a time-out that are short enough for a demo."""
    return [
        {
            **source,
            "timeout_seconds": timeout_seconds,
            "targets": [{**target, "schedule": schedule} for target in source["targets"]],
        }
        for source in sources
    ]
