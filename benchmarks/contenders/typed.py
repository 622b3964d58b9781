"""A mix through what a person types: its name, then `crawl` (`tidemill crawl --all`) or `up` (`tidemill up`).

The sources are in the database before. The time begins when the command is started and ends when it has ended, or, for
`up`, when readers see the last event: the start of Python, its imports and the processes below it are within it.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import msgspec
import uvloop

from benchmarks.contenders.mixed import KEPT, bring_in
from benchmarks.contenders.tidemill_system import settings_for
from benchmarks.mixed_pages import wanted
from benchmarks.mixes import MIXES, Mix
from benchmarks.stopwatch import Stopwatch, peak_megabytes
from benchmarks.task import Figures, Task, answer, task_from_command_line
from tidemill.bootstrap.system import build
from tidemill.settings import load_settings

WORDS = {"crawl": ("crawl", "--all", "--json"), "up": ("up", "--no-web")}
LOOKS_EVERY, PATIENCE = 0.1, 600.0
"""Seconds between two looks into the database of `up`, and how many it may take at most."""


def main(task: Task, name: str, command: str) -> Figures:
    """Bring the sources in, run the command, and count what it has left."""
    mix = MIXES[name]
    uvloop.run(_prepare(task, mix))
    watch = Stopwatch()
    watch.start()
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "tidemill", *WORDS[command]],
        env=os.environ | _environment(task),  # noqa: TID251 - what the command is given
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as running:
        if command == "up":
            _await_all(task, mix, running)
            watch.stop()
            running.send_signal(signal.SIGINT)
        running.wait(PATIENCE)
    if command != "up":
        watch.stop()
    return Figures(watch.seconds, watch.cpu_seconds, peak_megabytes(), found_in(task.sqlite_file), watch.waited_seconds)


async def _prepare(task: Task, mix: Mix) -> None:
    system = build(load_settings(**settings_for(task)))
    try:
        await bring_in(system, task, mix)
    finally:
        await system.close()


def _environment(task: Task) -> dict[str, str]:
    told = {name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
            for name, value in settings_for(task).items()}  # fmt: skip
    return {f"TIDEMILL_{name.upper()}": value for name, value in told.items()}


def _await_all(task: Task, mix: Mix, running: subprocess.Popen[bytes]) -> None:
    """Look until readers see everything, or for as long as anybody would wait."""
    right = wanted(task, mix.kinds)
    enough = {"published": right["events"], "products": right["products"], "jobs_done": task.pages, "runs_open": 0}
    for _ in range(int(PATIENCE / LOOKS_EVERY)):
        found = found_in(task.sqlite_file)
        if running.poll() is not None or all(found[name] == count for name, count in enough.items()):
            return
        time.sleep(LOOKS_EVERY)  # noqa: TID251 - nobody tells it when readers see the last event


def found_in(file: str) -> dict[str, int]:
    """What is in the database so far."""
    connection = sqlite3.connect(file, timeout=30)
    try:
        return {name: int(connection.execute(query).fetchone()[0]) for name, query in KEPT.items()}
    finally:
        connection.close()


if __name__ == "__main__":
    answer(main(task_from_command_line(), *sys.argv[2:]))
