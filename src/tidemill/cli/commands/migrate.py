"""`tidemill migrate`."""

import typer

from tidemill.bootstrap.system import build
from tidemill.cli.opening import settings_of
from tidemill.store.database.migrate import upgrade
from tidemill.terminal.options import AsJson, single
from tidemill.terminal.session import run
from tidemill.terminal.showing import emit, say

app = single()


@app.command()
def migrate(ctx: typer.Context, *, json: AsJson = False) -> None:
    """Bring the database's tables to this version."""

    async def work() -> tuple[str | None, str]:
        system = build(settings_of(ctx))
        try:
            return await upgrade(system.store.database)
        finally:
            await system.close()

    before, after = run(work())
    if json:
        emit({"before": before, "after": after})
    elif before == after:
        say(f"the tables are at step {after} already")
    else:
        say(f"the tables are at step {after} now (before: {before or 'none'})")
