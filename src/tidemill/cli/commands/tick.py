"""`tidemill tick`."""

from typing import Annotated

import typer

from tidemill.cli.opening import opened
from tidemill.core.views import TickView
from tidemill.operations.mistakes import NotFound, unknown_name
from tidemill.terminal.exit_codes import FAILURE
from tidemill.terminal.options import AsJson, single
from tidemill.terminal.session import run
from tidemill.terminal.showing import emit, harmless, say, table

app = single()


@app.command()
def tick(
    ctx: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="What to do; without it, all are listed.")
    ] = None,
    *,
    json: AsJson = False,
) -> None:
    """Do one piece of periodic work by hand.

    Without a name, list what there is and how it went last.
    """

    async def work() -> tuple[str, list[TickView]]:
        async with opened(ctx) as system:
            if name is None:
                known = {view.name: view for view in await system.store.views.ticks()}
                return "", [known[each] for each in sorted(known)]
            if name not in system.ticks.chores:
                raise NotFound(unknown_name("tick", name, system.ticks.chores))
            await system.worker.sign_in()
            try:
                answer = await system.ticks.tick(name)
            finally:
                await system.worker.sign_off()
            return answer, [view for view in await system.store.views.ticks() if view.name == name]

    answer, views = run(work())
    if json:
        emit({"status": answer, "ticks": views} if name else views)
    elif name is None:
        rows = [(one.name, one.status, one.slot, one.last_success, harmless(one.detail)[:120]) for one in views]
        table("Periodic work", ["tick", "status", "last slot", "last success", "what it did"], rows)
    elif answer == "taken":
        say(f"{name} was done for this slot already; nothing to do")
    else:
        say(f"{name}: {answer}, {views[0].detail if views else ''}")
    raise typer.Exit(FAILURE if answer == "failed" else 0)
