"""`tidemill tick`."""

from typing import Annotated

import typer

from tidemill.cli.system_opening import open_system
from tidemill.core.audit import AuditEntry
from tidemill.core.views import TickView
from tidemill.operations.mistakes import NotFound, unknown_name
from tidemill.terminal.exit_codes import FAILURE
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import print_json, print_line, print_table, without_control_codes

app = single_command()


@app.command()
def tick(
    ctx: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="What to do; without it, all are listed.")
    ] = None,
    *,
    json: AsJson = False,
) -> None:
    """Do one piece of periodic work now, whether or not its time has come.

    Without a name, list what there is and how it went last.
    """

    async def run_tick() -> tuple[str, list[TickView]]:
        async with open_system(ctx) as system:
            if name is None:
                known = {view.name: view for view in await system.store.views.ticks()}
                return "", [known[each] for each in sorted(known)]
            if name not in system.ticks.chores:
                raise NotFound(unknown_name("tick", name, system.ticks.chores))
            await system.worker.sign_in()
            try:
                note = AuditEntry(actor(), "tick.run", f"tick {name}")
                await system.store.audit.note([note], system.clock.now())
                answer = await system.ticks.run_now(name)
            finally:
                await system.worker.sign_off()
            return answer, [view for view in await system.store.views.ticks() if view.name == name]

    answer, views = run(run_tick())
    if json:
        print_json({"status": answer, "ticks": views} if name else views)
    elif name is None:
        rows = [
            (one.name, one.status, one.slot, one.last_success, without_control_codes(one.detail)[:120]) for one in views
        ]
        print_table("Periodic work", ["tick", "status", "last slot", "last success", "what it did"], rows)
    else:
        print_line(f"{name}: {answer}, {views[0].detail if views else ''}")
    raise typer.Exit(FAILURE if answer == "failed" else 0)
