"""Prometheus and Alertmanager on this machine: where their programs are, and how they are run for a test."""

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest

from rig.postgres_binaries import dying_with_parent

UNPACKED = Path(__file__).resolve().parents[2] / "build" / "prometheus" / "usr" / "bin"
SHARE = UNPACKED.parent / "share"
STARTS_WITHIN = 60.0


def program(name: str) -> str:
    """Where a program is; without it the test is skipped on a laptop, and fails in CI."""
    found = shutil.which(name, path=f"{UNPACKED}{os.pathsep}{os.environ.get('PATH', '')}")  # noqa: TID251 - the search path
    if found is None:
        reason = f"there is no {name}: `make prometheus` gets it"
        if os.environ.get("CI"):  # noqa: TID251 - set by every CI service
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def at_home(name: str) -> list[str]:
    """The words that run a program which looks for its files under /usr/share, though it was only unpacked."""
    found = program(name)
    if Path(found).parent != UNPACKED:
        return [found]
    script = 'mount --bind "$1" /usr/share && shift && exec "$@"'
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", str(SHARE)]
    trial = subprocess.run([*words, "true"], capture_output=True, check=False)
    if trial.returncode:
        pytest.skip(f"{name} is unpacked, not installed, and this machine gives no namespaces to run it in")
    return [*words, *dying_with_parent(), found]


def checked(*words: str, folder: Path) -> str:
    """What a checking program says; it fails the test when the program is not content."""
    done = subprocess.run([program(words[0]), *words[1:]], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


class PrometheusServer:
    """A running Prometheus, asked over its API."""

    def __init__(self, address: str, session: aiohttp.ClientSession) -> None:
        """It answers at this address."""
        self.address, self._session = address, session

    async def values(self, query: str) -> list[Any]:
        """What a query returns now."""
        answer = await self._get(f"/api/v1/query?query={quote(query)}")
        return list(answer["data"]["result"])

    async def firing(self) -> set[str]:
        """The names of alerts that fire."""
        answer = await self._get("/api/v1/alerts")
        return {each["labels"]["alertname"] for each in answer["data"]["alerts"] if each["state"] == "firing"}

    async def _get(self, path: str) -> Any:
        async with self._session.get(self.address + path) as answer:
            body = await answer.json()
            assert answer.status == 200, body
            return body


async def until(holds: Any, seconds: float = STARTS_WITHIN) -> Any:
    """Ask until it holds, and return what it said; fail after so many seconds."""
    async with asyncio.timeout(seconds):
        while True:
            try:
                if found := await holds():
                    return found
            except (aiohttp.ClientError, AssertionError):
                pass
            await asyncio.sleep(0.05)  # noqa: TID251 - programs of others live in real time


@asynccontextmanager
async def running(command: Sequence[str]) -> AsyncIterator[None]:
    """A program that runs while entered."""
    with tempfile.TemporaryFile() as log:
        process = await asyncio.create_subprocess_exec(*dying_with_parent(), *command, stdout=log, stderr=log)
        try:
            yield
            if process.returncode is not None:
                log.seek(0)
                pytest.fail(f"{command[0]} ended: {log.read()[-2000:].decode(errors='replace')}")
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


@asynccontextmanager
async def a_prometheus(config: dict[str, Any], folder: Path, port: int) -> AsyncIterator[PrometheusServer]:
    """A Prometheus with this configuration, answering on a port of loopback."""
    file = folder / "prometheus.json"
    file.write_text(json.dumps(config))  # JSON is YAML
    command = [
        program("prometheus"), f"--config.file={file}", f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn",
    ]  # fmt: skip
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(running(command))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        server = PrometheusServer(f"http://127.0.0.1:{port}", session)
        await until(lambda: server.values("vector(1)"))
        yield server


@asynccontextmanager
async def an_alertmanager(config: dict[str, Any], folder: Path, port: int) -> AsyncIterator[str]:
    """An Alertmanager with this configuration; yields its address."""
    file = folder / "alertmanager.json"
    file.write_text(json.dumps(config))
    command = [
        *at_home("prometheus-alertmanager"), f"--config.file={file}", f"--storage.path={folder / 'alertmanager'}",
        f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address=", "--log.level=warn",
    ]  # fmt: skip
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(running(command))
        session = await stack.enter_async_context(aiohttp.ClientSession())

        async def answers() -> bool:
            async with session.get(f"http://127.0.0.1:{port}/-/ready") as answer:
                return answer.status == 200

        await until(answers)
        yield f"127.0.0.1:{port}"
