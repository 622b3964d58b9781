"""`tidemill backup`."""

from pathlib import Path
from typing import Annotated

import typer

from tidemill.bootstrap.store import pages_folder_of
from tidemill.cli.system_opening import open_system
from tidemill.store.upkeep.backups import BackupManifest, write_backup
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_json, print_line

app = single_command()

Programs = Annotated[
    Path | None, typer.Option("--programs", metavar="FOLDER", help="Where pg_dump and pg_restore are; else the PATH.")
]


@app.command()
def backup(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(help="A new folder, made if it is not there.")],
    programs: Programs = None,
    *,
    json: AsJson = False,
) -> None:
    """Write everything that is kept to a folder, while the work goes on.

    With SQLite that is the database and the pages beside it, with PostgreSQL a dump by pg_dump. Pages in an
    S3-compatible store stay there. `tidemill restore` brings it back.
    """
    done = run(write(ctx, folder, programs))
    if json:
        print_json(done)
    else:
        pages = "with its pages" if done.has_pages else "without pages of its own"
        print_line(f"{folder} holds the database at step {done.step}, {pages}")


async def write(ctx: typer.Context, folder: Path, programs: Path | None) -> BackupManifest:
    """Write the backup."""
    async with open_system(ctx) as system:
        pages = pages_folder_of(system.settings, system.store.database)
        return await write_backup(system.store.database, pages, folder, programs)
