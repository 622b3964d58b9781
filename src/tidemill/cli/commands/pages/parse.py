"""`tidemill parse`."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from tidemill.bootstrap.plugins import DEFAULT_VERTICAL
from tidemill.cli.crawling import NOTHING_USABLE_FAILURES
from tidemill.cli.page_loading import fetch_page, is_url, page_from_file, page_of
from tidemill.cli.page_origin import needs_scripts, page_language, page_zone
from tidemill.cli.page_reading import (
    JudgedRecord,
    PageReading,
    find_vertical,
    read_page,
    read_selectors,
    trial_source,
    vertical_of,
)
from tidemill.cli.system_opening import settings_of
from tidemill.core.vertical import Vertical
from tidemill.engine.clock import RealClock
from tidemill.terminal.counting import counted
from tidemill.terminal.exit_codes import EMPTY, FAILURE
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_json, print_line, print_table

app = single_command()

NEEDS_SCRIPTS = "the page says that it needs JavaScript: try --browser, and `fetcher: browser` in its source"


@app.command()
def parse(
    ctx: typer.Context,
    what: Annotated[str, typer.Argument(metavar="FILE|URL", help="A saved page, or an address to fetch.")],
    vertical: Annotated[str | None, typer.Option(help="What kind of data to look for; the adapter's own.")] = None,
    adapter: Annotated[str | None, typer.Option(help="What reads the page; see `tidemill list adapters`.")] = None,
    selectors: Annotated[str, typer.Option(help="Selectors as JSON, or a file of them.")] = "",
    *,
    url: Annotated[str, typer.Option(help="The address of a saved page: its links are relative to it.")] = "",
    city: Annotated[str, typer.Option(help="Where the site is at home.")] = "",
    time_zone: Annotated[str, typer.Option(help="The clock that its times are on; the page is asked.")] = "",
    language: Annotated[str, typer.Option(help="The language that it is in; the page is asked.")] = "",
    browser: Annotated[bool, typer.Option("--browser", help="Fetch it with a browser, as a visitor's would.")] = False,
    json: AsJson = False,
) -> None:
    """Read a page and show what becomes of every record on it.

    Nothing is stored. 0: read, or it says that it is empty; 4: it held nothing and did not say so; 1: not readable.
    """
    kind = find_vertical(vertical) if vertical else vertical_of(adapter, DEFAULT_VERTICAL)
    address = what if is_url(what) else url or "https://saved.invalid/"
    spec = read_selectors(selectors)
    trial_source(kind, adapter, spec, url=address)  # refuses what it does not know before anything is fetched
    now = RealClock().now()
    if is_url(what):
        page = page_of(run(fetch_page(settings_of(ctx), what, browser=browser)), now)
    else:
        page = page_from_file(Path(what), address, now)
    spoken, said_where = (language, "as you say") if language else page_language(page)
    zone, zone_known = (time_zone, "as you say") if time_zone else page_zone(page, spoken)
    source = trial_source(kind, adapter, spec, url=address, city=city, time_zone=zone, language=spoken)
    found = read_page(page, kind, source, now)
    if not browser and found.failure in NOTHING_USABLE_FAILURES and needs_scripts(page):
        found = msgspec.structs.replace(found, detail=f"{found.detail}; {NEEDS_SCRIPTS}")
    if json:
        print_json(found)
    else:
        show_reading(found, kind)
        print_line(f"read as {spoken} ({said_where}), times in {zone} ({zone_known})")
    raise typer.Exit(exit_code(found))


def exit_code(found: PageReading) -> int:
    """Return the exit code for how the page was read."""
    if found.failure is None:
        return 0 if found.records or found.declared_empty else EMPTY
    return EMPTY if found.failure in NOTHING_USABLE_FAILURES else FAILURE


def show_reading(found: PageReading, kind: Vertical) -> None:
    """Show every record with its verdict."""
    if found.failure is not None:
        print_line(f"{found.adapter}: {found.failure} ({found.detail})")
        return
    columns = kind.shown
    rows = [row_of(one, kind) for one in found.records]
    print_table(
        f"{counted(len(rows), 'record')} by {found.adapter}", ["verdict", "title", *columns, "read by", "why not"], rows
    )
    if found.declared_empty:
        print_line("the page says that there is nothing")
    for note in found.notes:
        print_line(f"note: {note}")
    if found.next_url:
        print_line(f"next page: {found.next_url}")
    if found.follow:
        print_line(f"pages to follow: {len(found.follow)}, the first {found.follow[0].partition('#')[0]}")


def written(value: Any, *, is_amount: bool) -> Any:
    """Return a value as people write it: amounts in cents as 14.95."""
    return f"{value / 100:.2f}" if is_amount and isinstance(value, int) else value


def row_of(one: JudgedRecord, kind: Vertical) -> tuple[Any, ...]:
    """Return a record's row: what the rules made of it, else what the page says."""
    fields = one.raw.fields
    title = getattr(one.record, "title", None) or fields.get("title") or fields.get("name")
    shown = [
        written(getattr(one.record, field, None), is_amount=field in kind.amounts) or fields.get(name)
        for name, field in kind.shown.items()
    ]
    return one.verdict, title, *shown, one.raw.strategy, one.reason or one.detail
