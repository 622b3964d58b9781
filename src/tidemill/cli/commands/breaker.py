"""`tidemill breaker`."""

from typing import TYPE_CHECKING, Annotated

import typer

from tidemill.cli.system_opening import open_system, with_read_side
from tidemill.operations.mistakes import Mistake
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, command_group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import print_json, print_line, print_table

if TYPE_CHECKING:
    from tidemill.operations.breakers import BreakerReset

app = command_group("Look at circuit breakers and reset them.")


@app.command("list")
def list_breakers(
    ctx: typer.Context,
    tripped: Annotated[bool, typer.Option("--open", help="Only those that are not closed.")] = False,  # noqa: FBT002 - typer's
    *,
    json: AsJson = False,
) -> None:
    """List breakers, the open ones first."""
    found = [
        one
        for one in run(with_read_side(ctx, lambda side: side.views.breakers()))
        if one.state != "CLOSED" or not tripped
    ]
    if json:
        print_json(found)
        return
    rows = [(one.source_name, one.state, one.failure_count, one.cooldown_until, one.consecutive_opens, one.total_calls,
             one.total_failures, one.total_rejections, one.changed_at) for one in found]  # fmt: skip
    columns = ["source", "state", "failures", "cooldown until", "opened", "calls", "failed", "turned away", "changed"]
    print_table(
        counted(len(found), "breaker"), columns, rows, right=["failures", "opened", "calls", "failed", "turned away"]
    )


@app.command("reset")
def reset_breaker(
    ctx: typer.Context,
    source: Annotated[str | None, typer.Argument(metavar="[SOURCE]", help="The source's name.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every breaker that is open.")] = False,
    json: AsJson = False,
) -> None:
    """End a breaker's rest at once: what waits is free, one probe goes, and its answer decides."""
    if (source is None) != everything:
        msg = "name a source, or say --all"
        raise Mistake(msg)

    async def reset_breakers() -> "list[BreakerReset]":
        async with open_system(ctx) as system:
            if source is not None:
                return [await system.actions.breakers.reset(source, actor())]
            return await system.actions.breakers.reset_all(actor())

    done = run(reset_breakers())
    if json:
        print_json(done)
        return
    for one in done:
        freed = f"{one.freed} waiting jobs are free" if one.freed else "nothing was waiting"
        rests = one.host_rests_until
        when = f"after {rests:%Y-%m-%d %H:%M} UTC, when its host's rest is over" if rests else "at once"
        goes = "calls go" if one.was == "CLOSED" else "one probe goes"
        print_line(f"breaker of {one.source} was {one.was}; {freed}, and {goes} {when}")
    if not done:
        print_line("no breaker is open")
