"""`tidemill view`."""

import sys
import tempfile
import webbrowser
from html import escape
from pathlib import Path
from typing import Annotated

import typer

from tidemill.cli.commands.pages.shell import load_stored_page
from tidemill.cli.page_loading import fetch_page, is_url, page_of
from tidemill.cli.system_opening import settings_of
from tidemill.core.page import Page
from tidemill.engine.clock import RealClock
from tidemill.operations.mistakes import parse_key
from tidemill.reading.sanitize import sanitized_html
from tidemill.terminal.options import single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_line

app = single_command()

# A scraped page is never trusted: the file may show what the fetcher saw, and do nothing else.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'"


@app.command()
def view(
    ctx: typer.Context,
    what: Annotated[str, typer.Argument(metavar="URL|PAGE_ID", help="An address to fetch, or a stored page's number.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the file here.")] = None,
    *,
    print_path: Annotated[
        bool, typer.Option("--print-path", help="Print where the file is, and open nothing.")
    ] = False,
) -> None:
    """See what the fetcher saw, in a browser, with everything active taken out.

    A browser is opened on a terminal only; otherwise the file's path is printed.
    """
    page = find_page(ctx, what)
    file = output or Path(tempfile.mkdtemp(prefix="tidemill-view-")) / "page.html"
    file.write_text(safe_html(page), "utf-8")
    if print_path or not sys.stdout.isatty():
        typer.echo(str(file))
    elif not webbrowser.open(file.absolute().as_uri()):
        print_line(f"no browser could be opened; the page is in {file}")


def find_page(ctx: typer.Context, what: str) -> Page:
    """Return the page that is meant: fetched or stored."""
    if is_url(what):
        return page_of(run(fetch_page(settings_of(ctx), what)), RealClock().now())
    return run(load_stored_page(ctx, parse_key("page", what.removeprefix("page:"))))


def safe_html(page: Page) -> str:
    """Return the page as an HTML file without scripts, frames or anything that is loaded."""
    if "html" not in page.content_type and "xml" not in page.content_type and "<" not in page.text[:200]:
        return f"{_head(page)}<pre>{escape(page.text)}</pre>"
    return f"{_head(page)}{sanitized_html(page.text)}"


def _head(page: Page) -> str:
    """Return what goes before the page: a content security policy, and where the page is from."""
    heading = escape(
        f"{page.final_url} ({page.status_code}, {len(page.body):,} bytes, {page.fetched_at:%Y-%m-%d %H:%M} UTC)"
    )
    return (
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<div style="all:initial;display:block;font:14px sans-serif;padding:8px;background:#ffd">{heading}</div>\n'
    )
