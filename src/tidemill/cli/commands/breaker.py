"""`tidemill breaker`."""

from typing import Annotated

import typer

from tidemill.cli.opening import opened
from tidemill.core.views import BreakerView
from tidemill.operations.breakers import BreakerReset
from tidemill.operations.mistakes import Mistake
from tidemill.terminal.options import AsJson, group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import emit, say, table

app = group("Look at circuit breakers and reset them.")


@app.command("list")
def list_breakers(
    ctx: typer.Context,
    tripped: Annotated[bool, typer.Option("--open", help="Only those that are not closed.")] = False,  # noqa: FBT002 - typer's
    *,
    json: AsJson = False,
) -> None:
    """List breakers, the open ones first."""

    async def work() -> list[BreakerView]:
        async with opened(ctx) as system:
            return await system.store.views.breakers()

    found = [one for one in run(work()) if one.state != "CLOSED" or not tripped]
    if json:
        emit(found)
        return
    rows = [(one.source_name, one.state, one.failure_count, one.cooldown_until, one.consecutive_opens, one.total_calls,
             one.total_failures, one.total_rejections, one.changed_at) for one in found]  # fmt: skip
    columns = ["source", "state", "failures", "cooldown until", "opened", "calls", "failed", "turned away", "changed"]
    table(f"{len(found)} breakers", columns, rows, right=["failures", "opened", "calls", "failed", "turned away"])


@app.command("reset")
def reset_breaker(
    ctx: typer.Context,
    source: Annotated[str | None, typer.Argument(metavar="[SOURCE]", help="The source's name.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every breaker that is not closed.")] = False,
    json: AsJson = False,
) -> None:
    """Close a breaker at once: the next call goes through."""
    if (source is None) != everything:
        msg = "name a source, or say --all"
        raise Mistake(msg)

    async def work() -> list[BreakerReset]:
        async with opened(ctx) as system:
            if source is not None:
                return [await system.actions.breakers.reset(source, actor())]
            return await system.actions.breakers.reset_all(actor())

    done = run(work())
    if json:
        emit(done)
        return
    for one in done:
        say(f"breaker of {one.source} is closed (was {one.was})")
    if not done:
        say("every breaker was closed already")
