"""A private RabbitMQ node: nothing of it is where another node would look, and nothing of it stays."""

import os
import shutil
import sys
from pathlib import Path

from tools.cluster.processes import ClusterProcess, free_port, wait_until

PROGRAM = "/usr/lib/rabbitmq/bin/rabbitmq-server"
STARTS_WITHIN = 90


class PrivateRabbit:
    """One node with its own port mapper, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        """Nothing runs yet."""
        program = PROGRAM if Path(PROGRAM).exists() else shutil.which("rabbitmq-server")
        mapper = shutil.which("epmd")
        if program is None or mapper is None:
            sys.exit("RabbitMQ is missing: install rabbitmq-server")
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.port, distribution, mapped = free_port(), free_port(), free_port()
        (folder / "plugins").write_text("[].\n")
        environment = {
            "HOME": str(folder), "RABBITMQ_NODENAME": "tidemill@localhost", "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port), "RABBITMQ_DIST_PORT": str(distribution),
            "RABBITMQ_MNESIA_BASE": str(folder / "data"), "RABBITMQ_LOG_BASE": str(folder), "RABBITMQ_LOGS": "-",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"), "ERL_EPMD_PORT": str(mapped),
            "ERL_EPMD_ADDRESS": "127.0.0.1", "RABBITMQ_CONF_ENV_FILE": str(folder / "none"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1",
        }  # fmt: skip
        # A node starts a port mapper that outlives it; one that is there already is ours to end.
        self.mapper = ClusterProcess("epmd", [mapper, "-port", str(mapped)], folder, environment)
        self.node = ClusterProcess("rabbitmq", [program], folder, environment)

    @property
    def url(self) -> str:
        """Its address, as the setting `broker` takes it."""
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"  # pragma: allowlist secret

    def start(self) -> None:
        """Start it, and return once it takes connections."""
        self.mapper.start()
        self.node.start()
        wait_until(self._is_up, STARTS_WITHIN, "RabbitMQ is up")

    def _is_up(self) -> bool:
        return "completed with" in self.node.log.read_text(errors="replace").rpartition("Starting RabbitMQ")[2]

    def kill(self) -> None:
        """Kill it, and delete what it kept."""
        self.node.kill()
        shutil.rmtree(self._folder / "data", ignore_errors=True)

    def stop(self) -> None:
        """End the node and its port mapper."""
        self.node.kill()
        self.mapper.kill()
        for process in (self.node, self.mapper):
            assert not process.is_running, f"{process.name} is left"  # noqa: S101 - a script's own mistake

    @staticmethod
    def is_possible() -> bool:
        """Whether it is installed, and we may run it."""
        return os.geteuid() == 0 and (Path(PROGRAM).exists() or shutil.which("rabbitmq-server") is not None)
