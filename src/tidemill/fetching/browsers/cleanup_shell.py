"""What happens to a browser when we are gone: somebody stays behind who ends it, however we went.

A shell waits for the end of a pipe that only we hold. A word on the pipe dismisses it; the pipe's end without a
word means that we died (kill -9 included), and it kills the driver and the browser and removes their profile.
"""

import asyncio
from contextlib import suppress
from pathlib import Path

_WILL = 'read -r word || { kill -s KILL -- "$1"; kill -s KILL -- "-$2"; rm -rf -- "$3"; } 2>/dev/null'
SHELL = "/bin/sh"


class LastWill:
    """The one who stays behind for one browser."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        """Not for callers: see `leave_will`."""
        self._process = process

    @property
    def pid(self) -> int:
        """The shell's own process."""
        return self._process.pid

    async def revoke(self) -> None:
        """The browser is gone in good order: nothing is left to be done."""
        with suppress(ConnectionError):  # it may be gone itself
            await self._process.communicate(b"revoked\n")


async def leave_will(driver: int, browser: int, profile: Path) -> LastWill:
    """See to it that these end when we do; `browser` leads a process group of its own."""
    process = await asyncio.create_subprocess_exec(
        SHELL, "-c", _WILL, "tidemill-browser-will", str(driver), str(browser), str(profile),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in a terminal must not reach it
    )  # fmt: skip
    return LastWill(process)
