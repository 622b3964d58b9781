"""Who only crawls by hand has the gate as well: a change is replayed before the crawl begins."""

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from .conftest import Cli

pytestmark = pytest.mark.shows("X1", "P1")


def do(cli: Cli, *statements: str) -> None:
    """Change the database by hand."""
    with closing(sqlite3.connect(cli.database.partition("///")[2])) as connection, connection:
        for each in statements:
            connection.execute(each)


OLDER = "UPDATE adapter_versions SET version = '0.9.0'"
ASK_ANEW = "UPDATE scrape_targets SET etag = '', last_modified = '', good_digest = NULL"


def test_a_change_that_alters_nothing_is_through_before_the_crawl_begins(
    cli: Cli, import_lab: Callable[..., list[str]]
) -> None:
    (name, *_) = import_lab()
    assert cli("crawl", name).code == 0
    do(cli, OLDER)
    assert cli("crawl", name).code == 0
    changes = cli("replays", "changes", "--json").json
    assert {(each["before"], each["status"]) for each in changes} == {("0.9.0", "passed")}


def test_a_change_that_proves_nothing_is_held_and_the_crawl_says_so(
    cli: Cli, import_lab: Callable[..., list[str]]
) -> None:
    (name, *_) = import_lab()
    assert cli("crawl", name).code == 0
    do(cli, OLDER, "DELETE FROM staged_records", ASK_ANEW)
    told = cli("crawl", name)
    assert told.code == 1
    assert "a change of reading is held at the gate" in told.out
    assert "tidemill replays list --waiting" in told.out
