"""Break a cluster in every way while it works, then count: nothing lost, nothing doubled, no host hurried.

make chaos                              20,000 jobs on 60 hosts
make chaos ARGS="--jobs 3000 --calm"    the same without trouble
make chaos ARGS="--rabbitmq"            over RabbitMQ instead of Redis
make chaos ARGS="--from-commit v0.1.0"  begin with the programs of before, and replace them in the middle
"""

import argparse
import asyncio
import json
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tools.cluster import network
from tools.cluster.counting import judge
from tools.cluster.processes import BIN, ClusterProcess, free_port, wait_until
from tools.cluster.proxy import CuttableProxy
from tools.cluster.rabbitmq import PrivateRabbit
from tools.cluster.topology import ClusterTopology

FOLDER = Path("build/chaos").absolute()
HOSTS = 60
RABBIT = FOLDER.with_name("chaos-rabbitmq")
LEASE = 15
CLEARED_WITHIN = 330
"""Seconds within which /health must be content again: a worker that vanished is told of for five minutes."""


class Chaos:
    """One run: a cluster, the sites that it scrapes, what is done to it, and what /health says meanwhile."""

    def __init__(
        self, jobs: int, interval: float, seed: int, *, rabbitmq: bool, commit: str | None, own_network: bool
    ) -> None:
        """Nothing runs yet."""
        self._own_network = own_network
        self.jobs = jobs
        self.interval = interval
        self.dice = random.Random(seed)  # noqa: S311 - which process dies next is no secret
        self.port = free_port()
        names = [f"h{number:02}.test" for number in range(HOSTS)]
        settings: dict[str, Any] = {
            "allow_networks": ["127.0.0.0/8"], "lease_seconds": LEASE, "look_again_seconds": 10, "reader_processes": 1,
            "max_pending": 1_000_000, "max_pending_per_adapter": 1_000_000, "lanes": ["http"],
            "host_addresses": dict.fromkeys(names, "127.0.0.1"),
            "ticks": {"dispatch": "every 10s", "rescue": "every 5s", "services": "every 5s",
                      "retry_letters": "every 10s"},
        }  # fmt: skip
        self.names = names
        shutil.rmtree(FOLDER, ignore_errors=True)
        self.rabbit = PrivateRabbit(RABBIT) if rabbitmq else None
        self.topology = ClusterTopology(FOLDER, settings, broker=self.rabbit.url if self.rabbit else None)
        if commit:
            self.topology.use_programs_of(commit)
        words = [str(BIN / "python"), "-m", "tools.cluster.origin", str(self.port), str(FOLDER / "origin.json")]
        self.origin = ClusterProcess("origin", words, FOLDER, {"PYTHONPATH": str(Path(__file__).parents[2])})
        self.proxy = CuttableProxy(free_port(), self.topology.postgres_port)
        self.told: list[tuple[float, str]] = []
        self.health: list[tuple[float, list[str], list[str]]] = []
        self.began = time.monotonic()
        self.over = threading.Event()

    def say(self, words: str) -> None:
        """Tell what is done, and remember when."""
        at = time.monotonic() - self.began
        self.told.append((at, words))
        print(f"{at:6.1f} s  {words}", flush=True)

    def start(self) -> None:
        """Start the sites and the cluster; one worker reaches the database through the proxy."""
        self.origin.start()
        self.proxy.start()
        if self.rabbit:
            self.rabbit.start()
        self.topology.start(behind={"worker3": self.proxy.port})
        self._import()
        threading.Thread(target=self._watch_health, daemon=True).start()

    def _import(self) -> None:
        per_host = self.jobs // HOSTS
        entries = [
            {"name": name, "vertical": "events", "base_url": f"http://{name}:{self.port}", "adapter": "events.generic",
             "pace": {"interval_seconds": self.interval, "burst": 1, "parallel": 2},
             "targets": [{"url": f"/agenda/{number}", "schedule": "0 6 * * *"} for number in range(per_host)]}
            for name in self.names
        ]  # fmt: skip
        file = FOLDER / "sources.yaml"
        file.write_text(json.dumps(entries))
        self.command("sources", "import", str(file))

    def command(self, *words: str) -> str:
        """Run one command of `tidemill` to its end."""
        web = self.topology.processes["web1"]
        process = ClusterProcess("command", [*web.command[:3], *words], FOLDER, web.changed)
        process.log.unlink(missing_ok=True)
        process.start()
        if code := process.ended():
            sys.exit(f"tidemill {' '.join(words)} ended with {code}: {process.log.read_text()[-2_000:]}")
        return process.log.read_text()

    def _watch_health(self) -> None:
        while not self.over.wait(1):
            for port in self.topology.ports:
                found = self.topology.health(port)
                at = time.monotonic() - self.began
                names = [worker["name"] for worker in found.get("workers", [])]
                self.health.append((at, found.get("reasons", ["nobody answers"]), names))

    def query(self, statement: str) -> list[Any]:
        """Ask the database itself."""

        async def ask() -> list[Any]:
            import asyncpg  # noqa: PLC0415 - an extra

            connection = await asyncpg.connect(self.topology.database)
            try:
                return list(await connection.fetch(statement))
            finally:
                await connection.close()

        return asyncio.run(ask())

    def is_content(self) -> bool:
        """Whether every web app says that all is well."""
        return all(found.get("reasons") == [] for found in map(self.topology.health, self.topology.ports))

    def done(self) -> int:
        """Jobs that have ended well; -1 while the database is away."""
        try:
            return int(self.query("SELECT count(*) AS n FROM pipeline_jobs WHERE status = 'done'")[0]["n"])
        except (OSError, Exception):  # noqa: BLE001 - it is being broken on purpose
            return -1

    # What is done to the cluster.

    def kill_worker(self) -> None:
        """Kill a worker and all its processes; start it again a little later."""
        victim = self.topology.processes[f"worker{self.dice.randint(1, 3)}"]
        self.say(f"kill -9 {victim.name}")
        victim.kill()
        time.sleep(self.dice.uniform(0.5, 3))  # noqa: TID251 - a script
        victim.start()

    def freeze_worker(self) -> None:
        """Freeze a worker for twice its lease."""
        self._freeze("worker1", 2 * LEASE)

    def hang_beat(self) -> None:
        """Let one beat hang while the other goes on."""
        self._freeze("beat1", 20)

    def _freeze(self, name: str, seconds: float) -> None:
        self.say(f"freeze {name} for {seconds} s")
        self.topology.processes[name].signal(signal.SIGSTOP)
        time.sleep(seconds)  # noqa: TID251 - a script
        self.topology.processes[name].signal(signal.SIGCONT)
        self.say(f"{name} goes on")

    def lose_broker(self) -> None:
        """Kill the broker and delete its files; start it empty later."""
        self.say("kill -9 the broker and delete its files")
        if self.rabbit:
            self.rabbit.kill()
        else:
            self.topology.processes["redis"].kill()
            shutil.rmtree(self.topology.redis_data, ignore_errors=True)
        time.sleep(25)  # noqa: TID251 - a script
        if self.rabbit:
            self.rabbit.node.start()
        else:
            self.topology.start_redis()
        self.say("the broker is back, empty")

    def kill_beats(self) -> None:
        """Kill both beats; start them later."""
        self.say("kill -9 both beats")
        beats = [self.topology.processes[name] for name in ("beat1", "beat2")]
        for beat in beats:
            beat.kill()
        time.sleep(30)  # noqa: TID251 - a script
        for beat in beats:
            beat.start()
        self.say("beats are back")

    def restart_database(self) -> None:
        """Stop PostgreSQL and start it again."""
        self.say("stop PostgreSQL")
        self.topology.postgres.stop()
        time.sleep(12)  # noqa: TID251 - a script
        self.topology.postgres.start()
        self.say("PostgreSQL is back")

    def cut_network(self) -> None:
        """Cut one worker off from the database for longer than its lease."""
        self.say("cut the network between worker3 and the database")
        if self._own_network:
            network.cut(self.proxy.port)
        else:
            self.proxy.cut()
        time.sleep(2 * LEASE)  # noqa: TID251 - a script
        if self._own_network:
            network.mend()
        else:
            self.proxy.mend()
        self.say("the network is back")

    def roll(self) -> None:
        """Replace workers, beats and web apps one after the other, as an upgrade does: the next when one is up."""
        if self.topology.is_of_before:
            self.say("tidemill migrate of the new version, beside the old programs")
            self.topology.use_own_programs()
            self.command("migrate")
        for name in ("worker1", "worker2", "worker3", "beat1", "beat2", "web1", "web2"):
            process = self.topology.processes[name]
            code = process.stop()
            process.start()
            if name.startswith("worker"):
                wait_until(partial(self._is_at_work, process.pid), 120, f"{name} is at work again")
            self.say(f"replaced {name} (it ended with {code})")

    def _is_at_work(self, pid: int) -> bool:
        found = [each for port in self.topology.ports for each in self.topology.health(port).get("workers", [])]
        return any(worker["pid"] == pid for worker in found)

    def troubles(self) -> list[Callable[[], None]]:
        """Everything that is done, in its order."""
        kills = [self.kill_worker] * 20
        first = [self.lose_broker, self.freeze_worker, self.hang_beat, self.restart_database]
        second = [self.kill_beats, self.cut_network, self.roll]
        return [*kills[:6], *first, *kills[6:13], *second, *kills[13:]]


def main() -> None:
    """Run it, and end with 1 if anything was lost, doubled or hurried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--interval", type=float, default=0.5, help="seconds between two requests to one host")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calm", action="store_true", help="break nothing")
    parser.add_argument("--rabbitmq", action="store_true", help="RabbitMQ as the broker instead of Redis")
    parser.add_argument("--from-commit", help="begin with the programs of this commit, and upgrade to these")
    parser.add_argument("--patience", type=float, default=1_800, help="seconds after which it is given up")
    words = parser.parse_args()
    own_network = network.enter_own_network()
    chaos = Chaos(
        words.jobs, words.interval, words.seed,
        rabbitmq=words.rabbitmq, commit=words.from_commit, own_network=own_network,
    )  # fmt: skip
    print("in a network of its own" if own_network else "no network namespace: a proxy cuts the wire")
    expected = words.jobs // HOSTS * HOSTS
    try:
        chaos.start()
        chaos.say(f"{expected} jobs on {HOSTS} hosts")
        chaos.query("UPDATE scrape_targets SET next_due_at = now()")
        for trouble in [] if words.calm else chaos.troubles():
            trouble()
            chaos.say(f"{chaos.done()} jobs are done")
        wait_until(lambda: chaos.done() >= expected, words.patience, "every job is done")
        chaos.say("every job is done")
        began = time.monotonic()
        while time.monotonic() - began < CLEARED_WITHIN and not chaos.is_content():
            time.sleep(1)  # noqa: TID251 - /health clears what is over
        cpu = {name: process.cpu_seconds() for name, process in chaos.topology.processes.items()}
        chaos.over.set()
        chaos.origin.stop()
        problems = judge(chaos, expected, cpu)
    finally:
        chaos.over.set()
        codes = chaos.topology.stop()
        chaos.origin.kill()
        if chaos.rabbit:
            chaos.rabbit.stop()
            shutil.rmtree(RABBIT, ignore_errors=True)
        print(f"ended: {codes}")
    sys.exit("\n".join(problems) if problems else 0)


if __name__ == "__main__":
    main()
