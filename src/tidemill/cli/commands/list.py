"""`tidemill list`."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import msgspec
import typer

from tidemill.bootstrap.installed import UnusablePackage
from tidemill.bootstrap.plugins import UNUSABLE_PLUGINS
from tidemill.bootstrap.verticals import UNLOADABLE_PLUGINS, UNUSABLE_ADAPTERS, VERTICALS
from tidemill.cli.commands.data.export import moment_of, parse_filters
from tidemill.cli.system_opening import open_system
from tidemill.operations.exporting.dataset import ColumnKind, ExportDataset, ExportRow
from tidemill.operations.exporting.exporter import as_it_was
from tidemill.operations.mistakes import Mistake, NotFound, unknown_name
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_json, print_table

app = single_command()
MOST_LISTED = 10_000
COLUMNS = 7
"""Columns of a list whose kind of data names none."""


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
    what: Annotated[
        str, typer.Argument(help="adapters, verticals, sources, or a kind of data as `tidemill export` lists them.")
    ] = What.ADAPTERS.value,
    as_of: Annotated[
        datetime | None,
        typer.Option("--as-of", metavar="MOMENT", help="Data as readers saw it then, such as 2026-11-01T12:00."),
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", "-w", metavar="NAME=VALUE", help="Only such data; may be repeated.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST_LISTED, help="How many of the data to show.")] = 50,
    *,
    json: AsJson = False,
) -> None:
    """List adapters, verticals, sources, or data: events, agenda, offers, listings, matches and the like.

    With `--as-of` data is listed as readers saw it at that moment, in UTC unless it names its zone.
    """
    if what not in set(What):
        _list_data(ctx, what, as_of, where or [], limit, as_json=json)
        return
    if as_of is not None or where:
        msg = f"--as-of and --where are for data; {what} are listed as they are now"
        raise Mistake(msg)
    lines = run(source_lines(ctx)) if what == What.SOURCES else known_lines(What(what))
    if json:
        print_json(lines)
        return
    print_table("", [what, ""], [(line.name, line.about) for line in lines])


def _list_data(
    ctx: typer.Context, name: str, as_of: datetime | None, where: Sequence[str], limit: int, *, as_json: bool
) -> None:
    async def work() -> tuple[ExportDataset, Sequence[ExportRow]]:
        async with open_system(ctx) as system:
            datasets = system.actions.exporter.datasets
            if name not in datasets:
                raise NotFound(unknown_name("list", name, [*What, *datasets]))
            dataset = as_it_was(datasets[name], moment_of(as_of), system.clock.now())
            return dataset, await dataset.load(dataset.parse_filters(parse_filters(where)), None, limit)

    dataset, rows = run(work())
    if as_json:
        print_json([row.values for row in rows])
        return
    names = (
        dataset.listed or [column.name for column in dataset.columns if column.kind is not ColumnKind.JSON][:COLUMNS]
    )
    then = "" if as_of is None else f" as of {as_of.isoformat()}"
    print_table(
        f"{name}{then}: {counted(len(rows), 'row')}",
        list(names),
        [[_cell(row.values.get(each)) for each in names] for row in rows],
    )


def _cell(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def known_lines(what: What) -> list[ListLine]:
    """Return what this version brings along, without a database."""
    if what is What.VERTICALS:
        usable = [
            ListLine(
                one.name, f"policy {one.policy.name}, {one.policy.schedule}, {counted(len(one.adapters), 'adapter')}"
            )
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
