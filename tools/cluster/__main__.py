"""Run a cluster on this machine until Ctrl-C; `--down` stops the one that runs.

make cluster        PostgreSQL, Redis, two web apps, three workers, two beats
make cluster-down   stop it from another terminal
"""

import argparse
import os
import shutil
import signal
import sys
import threading
from pathlib import Path

from tools.cluster.processes import wait_until
from tools.cluster.topology import ClusterTopology

FOLDER = Path("build/cluster").absolute()
NOTE = FOLDER.with_suffix(".pid")
LAB = {"allow_networks": ["127.0.0.0/8"]}


def main() -> None:
    """Run, or stop what runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--down", action="store_true", help="stop the cluster that runs")
    parser.add_argument("--workers", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.down:
        stop_running()
    else:
        run(arguments.workers)


def run(workers: int) -> None:
    """Run until somebody stops it."""
    if NOTE.exists() and is_alive(int(NOTE.read_text())):
        sys.exit("a cluster runs already: make cluster-down")
    NOTE.parent.mkdir(parents=True, exist_ok=True)
    NOTE.write_text(str(os.getpid()))
    stopping = threading.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: stopping.set())
    topology = ClusterTopology(FOLDER, LAB, workers=workers)
    try:
        topology.start()
        print(f"database  {topology.database}\nbroker    {topology.broker}")
        for number, port in enumerate(topology.ports, 1):
            print(f"web{number}      http://127.0.0.1:{port}/")
        print(
            f"settings  {topology.folder / 'tidemill.toml'}\nlogs      {topology.folder}/*.log\nCtrl-C stops it",
            flush=True,
        )
        stopping.wait()
    finally:
        print("Stopping; jobs in hand are finished", flush=True)
        topology.stop()
        shutil.rmtree(FOLDER, ignore_errors=True)
        NOTE.unlink(missing_ok=True)
    print("Stopped; nothing is left")


def stop_running() -> None:
    """Stop the cluster that runs, and wait for its end."""
    if not NOTE.exists() or not is_alive(pid := int(NOTE.read_text())):
        print("no cluster runs")
        return
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not NOTE.exists(), 120, "the cluster has stopped")


def is_alive(pid: int) -> bool:
    """Whether there is such a process."""
    return Path(f"/proc/{pid}").exists()


main()
