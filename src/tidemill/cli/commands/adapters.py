"""`tidemill adapters`."""

from typing import Annotated

import typer

from tidemill.cli.opening import actor, opened, run
from tidemill.cli.options import AsJson, Reason, group
from tidemill.cli.showing import emit, say, table
from tidemill.operations.adapters import AdapterLine

app = group("List adapters and switch them on and off.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="The adapter's name, such as events.generic.")]


@app.command("list")
def list_adapters(ctx: typer.Context, *, json: AsJson = False) -> None:
    """List adapters with their versions, and who switched which off."""

    async def work() -> list[AdapterLine]:
        async with opened(ctx) as system:
            return await system.desks.adapters.every()

    found = run(work())
    if json:
        emit(found)
        return
    rows = [(one.id, one.vertical, one.version, one.enabled, one.disabled_by, one.disabled_reason) for one in found]
    table(f"{len(found)} adapters", ["adapter", "vertical", "version", "on", "off by", "because"], rows)


@app.command("enable")
def enable_adapter(ctx: typer.Context, name: Name) -> None:
    """Switch an adapter on; what was held against it is forgiven."""

    async def work() -> AdapterLine:
        async with opened(ctx) as system:
            return await system.desks.adapters.enable(name, actor())

    say(f"adapter {run(work()).id} is on")


@app.command("disable")
def disable_adapter(ctx: typer.Context, name: Name, reason: Reason = "") -> None:
    """Switch an adapter off: nothing is enqueued for its targets any more."""

    async def work() -> AdapterLine:
        async with opened(ctx) as system:
            return await system.desks.adapters.disable(name, actor(), reason)

    say(f"adapter {run(work()).id} is off")
