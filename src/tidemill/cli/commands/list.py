"""`tidemill list`."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

import msgspec
import typer

from tidemill.bootstrap.installed import UnusablePackage
from tidemill.bootstrap.plugins import UNUSABLE_PLUGINS
from tidemill.bootstrap.verticals import UNLOADABLE_PLUGINS, UNUSABLE_ADAPTERS, VERTICALS
from tidemill.cli.system_opening import open_system
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_json, print_table

app = single_command()


class What(StrEnum):
    """The kinds of things that can be listed."""

    ADAPTERS = "adapters"
    VERTICALS = "verticals"
    SOURCES = "sources"


class ListLine(msgspec.Struct, frozen=True):
    """A name with a short description."""

    name: str
    about: str


@app.command("list")
def list_things(
    ctx: typer.Context,
    what: Annotated[What, typer.Argument(help="What to list.")] = What.ADAPTERS,
    *,
    json: AsJson = False,
) -> None:
    """List adapters, verticals and sources."""
    lines = run(source_lines(ctx)) if what is What.SOURCES else known_lines(what)
    if json:
        print_json(lines)
        return
    print_table("", [what.value, ""], [(line.name, line.about) for line in lines])


def known_lines(what: What) -> list[ListLine]:
    """Return what this version brings along, without a database."""
    if what is What.VERTICALS:
        usable = [
            ListLine(one.name, f"policy {one.policy.name}, {one.policy.schedule}, {len(one.adapters)} adapters")
            for one in VERTICALS.values()
        ]
        return usable + left_out(UNUSABLE_PLUGINS + UNLOADABLE_PLUGINS)
    adapters = [adapter for vertical in VERTICALS.values() for adapter in vertical.adapters.values()]
    known = [
        ListLine(one.id, f"{one.version}, for {'any site' if one.domain == '*' else one.domain}") for one in adapters
    ]
    return known + left_out(UNUSABLE_ADAPTERS)


def left_out(unusable: Iterable[UnusablePackage]) -> list[ListLine]:
    """What installed packages bring and cannot be used."""
    return [ListLine(one.name, f"left out: {one.reason}") for one in unusable]


async def source_lines(ctx: typer.Context) -> list[ListLine]:
    """Return the sources of this installation."""
    async with open_system(ctx) as system:
        return [
            ListLine(one.name, one.reason or one.base_url)
            for one in await system.store.views.sources(system.clock.now())
        ]
