"""Backups: the database and the folder of pages as one folder, and that folder back into an empty database.

A database is written first and the pages after it: bytes are on disk before a row points at them, so every row of the
copy finds its page.
"""

import asyncio
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import delete, inspect
from sqlalchemy.engine import URL

from tidemill.pipeline.ports import StoreError
from tidemill.store.database.database import Database, explained
from tidemill.store.database.migrate import current
from tidemill.store.schema import engine_state
from tidemill.store.snapshots.epochs import NAME as EPOCH

MANIFEST, SQLITE_FILE, DUMP, PAGES = "backup.json", "tidemill.db", "tidemill.dump", "pages"


class BackupManifest(msgspec.Struct, frozen=True):
    """What a backup holds: the kind of database, the step of its tables, and whether the pages are in it."""

    kind: str
    step: str
    has_pages: bool


async def write_backup(database: Database, pages: Path | None, folder: Path, programs: Path | None) -> BackupManifest:
    """Write everything to a new folder, while others work; `programs` holds pg_dump where it is not on the PATH."""
    step = await current(database)
    if step is None:
        msg = "the database has no tables; there is nothing to back up"
        raise StoreError(msg)
    make_empty(folder)
    if database.is_sqlite:
        await asyncio.to_thread(copy_file, str(database.engine.url.database), folder / SQLITE_FILE)
    else:
        await run_program(programs, "pg_dump", database.engine.url, ["-Fc", "--no-owner", "-f", str(folder / DUMP)])
    has_pages = await asyncio.to_thread(copy_pages, pages, folder / PAGES)
    manifest = BackupManifest(database.dialect, step, has_pages)
    (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
    return manifest


def make_empty(folder: Path) -> None:
    """Make the folder that a backup goes to; one that holds something is left alone."""
    if folder.exists() and any(folder.iterdir()):
        msg = f"{folder} is not empty; name a new folder for each backup"
        raise StoreError(msg)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def copy_file(file: str, to: Path) -> None:
    """Copy a SQLite database as it stands now; those who write to it need not wait."""
    with explained(), closing(sqlite3.connect(file)) as connection:
        connection.execute("VACUUM INTO ?", (str(to),))


def copy_pages(pages: Path | None, to: Path) -> bool:
    """Copy the folder of pages, where there is one; answers whether there is.

    A segment may be removed meanwhile: that happens only when nothing has pointed to it for a while.
    """
    if pages is None or not pages.is_dir():
        return False
    to.mkdir()
    for file in sorted(pages.iterdir()):
        with suppress(FileNotFoundError):
            shutil.copyfile(file, to / file.name)
    return True


def read_manifest(folder: Path) -> BackupManifest:
    """Read what a backup holds; raise StoreError if it is none, or was not finished."""
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=BackupManifest)
    except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
        msg = f"{folder} holds no finished backup: it has no {MANIFEST} that can be read"
        raise StoreError(msg) from error


def restore_file(folder: Path, manifest: BackupManifest, file: Path, pages: Path | None) -> None:
    """Put a backup's SQLite file and pages in their places, which must be free."""
    if manifest.kind != "sqlite":
        msg = f"this backup is of {manifest.kind}; name such a database with --database"
        raise StoreError(msg)
    for place in filter(None, (file, pages)):
        if place.exists():
            msg = f"{place} exists; a backup is restored to where nothing is"
            raise StoreError(msg)
    if manifest.has_pages and pages is not None:
        shutil.copytree(folder / PAGES, pages)
    shutil.copyfile(folder / SQLITE_FILE, file)


async def restore_dump(folder: Path, manifest: BackupManifest, database: Database, programs: Path | None) -> None:
    """Read a dump into an empty PostgreSQL database, all of it or nothing."""
    if manifest.kind != "postgresql":
        msg = f"this backup is of {manifest.kind}; name such a database with --database"
        raise StoreError(msg)
    async with database.read() as connection:
        if await connection.run_sync(lambda sync: inspect(sync).get_table_names()):
            msg = "the database has tables already; a backup is restored into an empty one"
            raise StoreError(msg)
    words = ["--no-owner", "--single-transaction", "--exit-on-error", str(folder / DUMP)]
    await run_program(programs, "pg_restore", database.engine.url, words)


async def begin_new_epoch(database: Database) -> None:
    """Have streams begin a new epoch: what readers were told since the backup never happened here."""
    async with database.write() as connection:
        await connection.execute(delete(engine_state).where(engine_state.c.name == EPOCH))


async def run_program(programs: Path | None, name: str, url: URL, words: Sequence[str]) -> None:
    """Run one of PostgreSQL's programs on a database; the password is in no argument, where others could see it."""
    program = shutil.which(name) if programs is None else str(programs / name)
    if program is None:
        msg = f"{name} is not on the PATH; install PostgreSQL's client programs, or name their folder with --programs"
        raise StoreError(msg)
    with connection_words(url) as address:
        try:
            child = await asyncio.create_subprocess_exec(
                program, *words, "--dbname", address, stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            msg = f"{program} cannot be run: {error.strerror}"
            raise StoreError(msg) from error
        _, said = await child.communicate()
    if child.returncode:
        msg = f"{name} failed: {said.decode(errors='replace').strip()[:1_000]}"
        raise StoreError(msg)


@contextmanager
def connection_words(url: URL) -> Iterator[str]:
    """The address as PostgreSQL's programs take it, with the password in a file that only we can read."""
    parts: dict[str, Any] = {"host": url.host, "port": url.port, "user": url.username, "dbname": url.database}
    with tempfile.NamedTemporaryFile("w", prefix="tidemill-", suffix=".pgpass") as file:  # made with mode 0600
        if url.password:
            file.write(f"*:*:*:*:{str(url.password).replace(chr(92), chr(92) * 2).replace(':', chr(92) + ':')}\n")
            file.flush()
            parts["passfile"] = file.name
        yield conninfo({**parts, **{name: value for name, value in url.query.items() if isinstance(value, str)}})


def conninfo(parts: Mapping[str, Any]) -> str:
    """Words of libpq: key='value', quoted."""
    quoted = {key: json.dumps(str(value))[1:-1].replace("'", "\\'") for key, value in parts.items() if value}
    return " ".join(f"{key}='{value}'" for key, value in quoted.items())
