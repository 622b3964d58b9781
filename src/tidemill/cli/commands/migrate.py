"""`tidemill migrate`."""

import typer

from tidemill.bootstrap.system import build
from tidemill.cli.system_opening import settings_of
from tidemill.store.database.migrate import upgrade
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_json, print_line

app = single_command()


@app.command()
def migrate(ctx: typer.Context, *, json: AsJson = False) -> None:
    """Bring the database's tables to this version."""

    async def upgrade_tables() -> tuple[str | None, str]:
        system = build(settings_of(ctx))
        try:
            return await upgrade(system.store.database)
        finally:
            await system.close()

    before, after = run(upgrade_tables())
    if json:
        print_json({"before": before, "after": after})
    elif before == after:
        print_line(f"the tables are at step {after} already")
    else:
        print_line(f"the tables are at step {after} now (before: {before or 'none'})")
