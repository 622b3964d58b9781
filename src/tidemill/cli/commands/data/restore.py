"""`tidemill restore`."""

from pathlib import Path
from typing import Annotated

import typer

from tidemill.bootstrap.store import pages_folder_of
from tidemill.bootstrap.system import build
from tidemill.cli.commands.data.backup import Programs
from tidemill.cli.system_opening import settings_of
from tidemill.store.database.migrate import newest
from tidemill.store.upkeep.backups import (
    BackupManifest,
    begin_new_epoch,
    read_manifest,
    restore_dump,
    restore_file,
)
from tidemill.terminal.options import single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_line

app = single_command()


@app.command()
def restore(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(help="What `tidemill backup` wrote.", exists=True, file_okay=False)],
    programs: Programs = None,
) -> None:
    """Bring a backup back into an empty database.

    Readers of streams are told to begin anew. Jobs that were in hand are taken up once their lease has passed.
    """
    manifest = run(bring_back(ctx, folder, programs))
    todo = "" if manifest.step == newest() else "; run `tidemill migrate` before anything else"
    print_line(f"restored the database at step {manifest.step}{todo}")


async def bring_back(ctx: typer.Context, folder: Path, programs: Path | None) -> BackupManifest:
    """Restore the backup into the database of the settings."""
    manifest, system = read_manifest(folder), build(settings_of(ctx))
    database = system.store.database
    try:
        if database.is_sqlite:
            file = Path(str(database.engine.url.database))
            restore_file(folder, manifest, file, pages_folder_of(system.settings, database))
        else:
            await restore_dump(folder, manifest, database, programs)
        await begin_new_epoch(database)
    finally:
        await system.close()
    return manifest
