"""A shell that ends a browser when our process dies, however it died.

The shell waits for the end of a pipe that only our process holds. A line on the pipe dismisses it; the end of the pipe
without a line means that our process died (kill -9 included), and the shell then kills the driver and the browser and
removes their profile.
"""

import asyncio
from contextlib import suppress
from pathlib import Path

_SCRIPT = 'read -r word || { kill -s KILL -- "$1"; kill -s KILL -- "-$2"; rm -rf -- "$3"; } 2>/dev/null'
SHELL = "/bin/sh"


class CleanupShell:
    """The shell that waits to clean up after one browser."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        """Made by `start_cleanup_shell`."""
        self._process = process

    @property
    def pid(self) -> int:
        """The shell's own process."""
        return self._process.pid

    async def dismiss(self) -> None:
        """End the shell: the browser was closed in good order."""
        with suppress(ConnectionError):  # it may have ended already
            await self._process.communicate(b"revoked\n")


async def start_cleanup_shell(driver: int, browser: int, profile: Path) -> CleanupShell:
    """Start a shell that ends these processes when ours dies; `browser` leads a process group of its own."""
    process = await asyncio.create_subprocess_exec(
        SHELL, "-c", _SCRIPT, "tidemill-browser-will", str(driver), str(browser), str(profile),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in a terminal must not reach it
    )  # fmt: skip
    return CleanupShell(process)
