"""The epoch of an installation's log: offsets of one epoch mean nothing in another.

A restored backup tells another story under numbers that readers have seen already, so that it gets a new epoch. It is
recognised by what a copy cannot take along: on PostgreSQL the server's identity and timeline and the table's own file;
on SQLite the file, and a note beside it of what readers have been told. Restoring the same bytes onto the same file
within the last second of changes is all that goes unnoticed.
"""

from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from tidemill.core.snapshots.cursors import StreamCursor, parse_cursor
from tidemill.pipeline.ports import Clock
from tidemill.store.database.database import Database
from tidemill.store.database.upserts import upsert
from tidemill.store.schema import change_log, engine_state

NAME = "stream_epoch"

_IDENTITY = text(
    "SELECT system.system_identifier, checkpoint.timeline_id, base.oid, log.oid, log.relfilenode"
    " FROM pg_control_system() system, pg_control_checkpoint() checkpoint, pg_database base, pg_class log"
    " WHERE base.datname = current_database() AND log.oid = 'change_log'::regclass"
)
_HEAD = select(func.coalesce(func.max(change_log.c.change_offset), 0))
_KEPT = select(engine_state.c.value).where(engine_state.c.name == NAME)
_KEEP = upsert(engine_state, ["name"])


class Epochs:
    """Tells the epoch and the newest offset, and begins a new epoch when the log is not the one that it was."""

    def __init__(self, database: Database, clock: Clock) -> None:
        """Ask nothing yet; on SQLite the note is kept beside the database's file."""
        self._database = database
        self._clock = clock
        file = database.engine.url.database if database.is_sqlite else None
        self._file = Path(file) if file else None
        self._note = Path(f"{file}.published") if file else None
        self._noted: StreamCursor | None = None

    async def head(self) -> StreamCursor:
        """Return the present epoch and the offset of the newest entry, as one reading."""
        async with self._database.read() as connection:
            return await self._kept(connection) or StreamCursor("", 0)

    async def open(self, seen: StreamCursor | None = None) -> StreamCursor:
        """Return epoch and newest offset, in a new epoch if this is not the log that readers know.

        `seen` is the newest that this process has told them.
        """
        async with self._database.write() as connection:
            identity = await self._identity(connection)
            kept = await self._kept(connection)
            value: Mapping[str, str] | None = (await connection.execute(_KEPT)).scalar()
            told = seen or self.read_note()
            if kept is None or not value or value["identity"] != identity or is_another(kept, told):
                offset = int((await connection.execute(_HEAD)).scalar_one())
                kept = StreamCursor(token_hex(4), offset)
                row = {"epoch": kept.epoch, "identity": identity}
                now = self._clock.now()
                await connection.execute(
                    _KEEP[connection.dialect.name], {"name": NAME, "value": row, "updated_at": now}
                )
        self.note(kept)
        return kept

    def note(self, told: StreamCursor) -> None:
        """Note beside a SQLite file what readers have been told; elsewhere nothing is needed."""
        if self._note is not None and told != self._noted:
            aside = self._note.with_name(f"{self._note.name}.new")
            aside.write_text(f"{told}\n")
            aside.replace(self._note)
            self._noted = told

    def read_note(self) -> StreamCursor | None:
        """Return what the note says that readers have been told; None without a note that can be read."""
        try:
            return parse_cursor(self._note.read_text().strip()) if self._note else None
        except (OSError, UnicodeDecodeError):
            return None

    async def _kept(self, connection: AsyncConnection) -> StreamCursor | None:
        value = (await connection.execute(_KEPT)).scalar()
        head = int((await connection.execute(_HEAD)).scalar_one())
        return None if value is None else StreamCursor(value["epoch"], head)

    async def _identity(self, connection: AsyncConnection) -> str:
        if self._file is not None:
            found = self._file.stat()
            return f"{found.st_dev}:{found.st_ino}"
        return ":".join(str(each) for each in (await connection.execute(_IDENTITY)).one())


def is_another(kept: StreamCursor, told: StreamCursor | None) -> bool:
    """Return whether a log cannot be the one of which readers have been told so much."""
    return told is not None and (told.epoch != kept.epoch or told.offset > kept.offset)
