"""`tidemill shell`."""

import code
from pathlib import Path
from typing import Annotated, Any

import typer

from tidemill.bootstrap.plugins import DEFAULT_VERTICAL
from tidemill.bootstrap.verticals import VERTICALS
from tidemill.cli.page_loading import fetch_page, is_url, page_from_file, page_of
from tidemill.cli.page_reading import PageReading, read_page, trial_source
from tidemill.cli.system_opening import open_system, settings_of
from tidemill.core.page import Page
from tidemill.engine.clock import RealClock
from tidemill.operations.mistakes import Mistake, parse_key, require_found
from tidemill.reading import Document
from tidemill.terminal.options import single_command
from tidemill.terminal.session import run

app = single_command()

BANNER = """\
{url} ({size:,} bytes)
  page             the page: page.text, page.final_url, page.status_code
  document         its tree: document.title, document.first("h1"), document.absolute("/agenda")
  css("h3 a")      what a selector finds, as text; css("a", "href") as an attribute
  read()           its records with their verdicts; read(selectors={{"item": ".event"}}) tries selectors
"""


@app.command()
def shell(
    ctx: typer.Context,
    what: Annotated[
        str, typer.Argument(metavar="FILE|URL|page:ID", help="A saved page, an address to fetch, or a stored page.")
    ],
    command: Annotated[
        str | None, typer.Option("-c", metavar="CODE", help="Run this and end, instead of asking.")
    ] = None,
    url: Annotated[str, typer.Option(help="The address of a saved page: its links are relative to it.")] = "",
) -> None:
    """Try selectors on a fetched, saved or stored page."""
    page = find_page(ctx, what, url)
    names = namespace(page)
    if command is not None:
        execute(command, names)
        return
    code.interact(BANNER.format(url=page.final_url, size=len(page.body)), local=names, exitmsg="")


def find_page(ctx: typer.Context, what: str, url: str) -> Page:
    """Return the page that is meant: stored, fetched or from a file."""
    if what.startswith("page:"):
        return run(load_stored_page(ctx, parse_key("page", what.removeprefix("page:"))))
    if is_url(what):
        return page_of(run(fetch_page(settings_of(ctx), what)), RealClock().now())
    return page_from_file(Path(what), url or "https://saved.invalid/", RealClock().now())


async def load_stored_page(ctx: typer.Context, page_id: int) -> Page:
    """Return a stored page."""
    async with open_system(ctx) as system:
        return require_found(await system.store.ledger.materials.page(page_id), "page", page_id)


def namespace(page: Page) -> dict[str, Any]:
    """Return the names that a person can use in the shell."""
    document = Document.of(page)

    def css(selector: str, attribute: str | None = None) -> list[str]:
        nodes = document.css(selector)
        if attribute is not None:
            return [node.attributes.get(attribute) or "" for node in nodes]
        return [" ".join(node.text().split()) for node in nodes]

    def read(
        vertical: str = DEFAULT_VERTICAL, adapter: str | None = None, selectors: dict[str, Any] | None = None
    ) -> PageReading:
        kind = VERTICALS[vertical]
        source = trial_source(kind, adapter, selectors or {}, url=page.final_url or page.url)
        return read_page(page, kind, source, page.fetched_at)

    return {"page": page, "document": document, "css": css, "read": read}


def execute(command: str, names: dict[str, Any]) -> None:
    """Run one piece of code, and print the value of an expression."""
    try:
        compiled = compile(command, "<-c>", "eval")
    except SyntaxError:
        try:
            exec(compile(command, "<-c>", "exec"), names)  # noqa: S102 - the person's own code on their own machine
        except SyntaxError as error:
            msg = f"the code cannot be read: {error.msg}"
            raise Mistake(msg) from error
        return
    value = eval(compiled, names)  # noqa: S307 - the person's own code on their own machine
    if value is not None:
        typer.echo(value if isinstance(value, str) else repr(value))
