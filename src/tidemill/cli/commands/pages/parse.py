"""`tidemill parse`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from tidemill.bootstrap.plugins import DEFAULT_VERTICAL
from tidemill.cli.crawling import NOTHING_USABLE_FAILURES
from tidemill.cli.page_loading import fetch_page, is_url, page_from_file, page_of
from tidemill.cli.page_reading import JudgedRecord, PageReading, find_vertical, read_page, read_selectors, trial_source
from tidemill.cli.system_opening import settings_of
from tidemill.engine.clock import RealClock
from tidemill.terminal.exit_codes import EMPTY, FAILURE
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_json, print_line, print_table

app = single_command()


@app.command()
def parse(
    ctx: typer.Context,
    what: Annotated[str, typer.Argument(metavar="FILE|URL", help="A saved page, or an address to fetch.")],
    vertical: Annotated[str, typer.Option(help="What kind of data to look for.")] = DEFAULT_VERTICAL,
    adapter: Annotated[str | None, typer.Option(help="What reads the page; see `tidemill list adapters`.")] = None,
    selectors: Annotated[str, typer.Option(help="Selectors as JSON, or a file of them.")] = "",
    *,
    url: Annotated[str, typer.Option(help="The address of a saved page: its links are relative to it.")] = "",
    city: Annotated[str, typer.Option(help="Where the site is at home.")] = "",
    time_zone: Annotated[str, typer.Option(help="The clock that its times are on.")] = "Europe/Amsterdam",
    language: Annotated[str, typer.Option(help="The language that it is in.")] = "nl",
    json: AsJson = False,
) -> None:
    """Read a page and show what becomes of every record on it.

    Nothing is stored. 0: read, or it says that it is empty; 4: it held nothing and did not say so; 1: not readable.
    """
    kind = find_vertical(vertical)
    address = what if is_url(what) else url or "https://saved.invalid/"
    spec = read_selectors(selectors)
    source = trial_source(kind, adapter, spec, url=address, city=city, time_zone=time_zone, language=language)
    now = RealClock().now()
    if is_url(what):
        page = page_of(run(fetch_page(settings_of(ctx), what)), now)
    else:
        page = page_from_file(Path(what), address, now)
    found = read_page(page, kind, source, now)
    if json:
        print_json(found)
    else:
        show_reading(found, kind.shown)
    raise typer.Exit(exit_code(found))


def exit_code(found: PageReading) -> int:
    """Return the exit code for how the page was read."""
    if found.failure is None:
        return 0 if found.records or found.declared_empty else EMPTY
    return EMPTY if found.failure in NOTHING_USABLE_FAILURES else FAILURE


def show_reading(found: PageReading, columns: Mapping[str, str]) -> None:
    """Show every record with its verdict."""
    if found.failure is not None:
        print_line(f"{found.adapter}: {found.failure} ({found.detail})")
        return
    rows = [row_of(one, columns) for one in found.records]
    print_table(f"{len(rows)} records by {found.adapter}", ["verdict", "title", *columns, "read by", "why not"], rows)
    if found.declared_empty:
        print_line("the page says that there is nothing")
    for note in found.notes:
        print_line(f"note: {note}")
    if found.next_url:
        print_line(f"next page: {found.next_url}")


def row_of(one: JudgedRecord, columns: Mapping[str, str]) -> tuple[Any, ...]:
    """Return a record's row: what the rules made of it, else what the page says."""
    fields = one.raw.fields
    title = getattr(one.record, "title", None) or fields.get("title") or fields.get("name")
    shown = [getattr(one.record, field, None) or fields.get(name) for name, field in columns.items()]
    return one.verdict, title, *shown, one.raw.strategy, one.reason or one.detail
