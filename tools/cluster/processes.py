"""Processes of a cluster, each with a log; they end with whoever started them."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

BIN = Path(sys.executable).parent
STOP_SECONDS = 50


def free_port() -> int:
    """A port of loopback that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


class ClusterProcess:
    """One process that can be started, stopped, killed and frozen, again and again."""

    def __init__(self, name: str, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        """Not started; its words go to a log in `folder`."""
        self.name = name
        self.command = list(command)
        self.log = folder / f"{name}.log"
        self.changed = dict(environment)
        self._folder = folder
        self._running: subprocess.Popen[bytes] | None = None

    def set_environment(self, **changes: str) -> None:
        """Change variables for the next start."""
        self.changed |= changes

    @property
    def pid(self) -> int:
        """The number of the process."""
        assert self._running is not None, f"{self.name} has not been started"  # noqa: S101 - a script's own mistake
        return self._running.pid

    @property
    def is_running(self) -> bool:
        """Whether it is there."""
        return self._running is not None and self._running.poll() is None

    def start(self) -> None:
        """Start it; it is killed if we are."""
        with_us = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        with self.log.open("ab") as log:
            self._running = subprocess.Popen(
                [*with_us, *self.command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._folder,
                env={**os.environ, **self.changed}, start_new_session=True,  # noqa: TID251 - a script, not the program
            )  # fmt: skip

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal; one that is gone hears nothing."""
        if self.is_running:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Take it away at once, with the processes that it started."""
        if self._running is not None:
            if self.is_running:
                os.killpg(self.pid, signal.SIGKILL)
            self._running.wait()

    def stop(self) -> int | None:
        """Have it finish and wait for its end; one that does not is killed. Answers its exit code."""
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        return self.ended()

    def ended(self) -> int | None:
        """Wait for the end of a process that was asked to stop."""
        if self._running is None:
            return None
        try:
            return self._running.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def cpu_seconds(self) -> float:
        """Processor time of the process and of all that it started and still has."""
        ticks = os.sysconf("SC_CLK_TCK")
        total = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                words = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(words[3]) == self.pid:  # the session is the process's own
                total += sum(int(word) for word in words[11:15])
        return total / ticks


def wait_until(holds: Callable[[], object], seconds: float, words: str) -> None:
    """Ask until a function answers something true."""
    ends = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > ends:
            sys.exit(f"it never came to this: {words}")
        time.sleep(0.1)  # noqa: TID251 - a script
