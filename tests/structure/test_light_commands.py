"""Commands that list things start at once: they load neither the whole system nor what reads and fetches pages."""

import subprocess
import sys
from pathlib import Path

import pytest

from tidemill.bootstrap.plugins import OWN
from tidemill.bootstrap.reading import approvals
from tidemill.store.database.migrate import newest
from tidemill.store.database.steps import newest_own_step

HEAVY = ("tidemill.bootstrap.system", "tidemill.bootstrap.verticals", "aiohttp", "alembic", "selectolax", "fastapi")
PROGRAM = """
import sys
from tidemill.cli.app import app
try:
    app(sys.argv[1:], standalone_mode=False)
except SystemExit as end:
    assert not end.code, end.code
print("loaded:", *[name for name in {heavy} if name in sys.modules])
"""


@pytest.mark.shows("A3")
@pytest.mark.parametrize(
    "command",
    [
        ["sources", "list"],
        ["targets", "list"],
        ["runs", "list"],
        ["dlq", "list"],
        ["breaker", "list"],
        ["sql", "dlq"],
        ["--help"],
    ],
    ids=" ".join,
)
def test_a_list_loads_neither_the_whole_system_nor_the_adapters(
    command: list[str], migrated_sqlite_url: str, tmp_path: Path
) -> None:
    database = migrated_sqlite_url.replace("+aiosqlite", "")
    program = PROGRAM.format(heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", program, "--database", database, *command],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1].strip() == "loaded:", done.stdout + done.stderr


def test_what_lists_know_without_loading_is_what_the_loaded_parts_say() -> None:
    assert approvals() == {plugin.name: plugin.load().policy.needs_approval for plugin in OWN}
    assert newest_own_step() == newest()
