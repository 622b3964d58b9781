"""`tidemill savefixture`."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from tidemill.cli.golden_adapters import adapters_in_folder
from tidemill.cli.page_loading import fetch_page, is_url, page_of
from tidemill.cli.poet_checks import is_page_object, save_fixture
from tidemill.cli.system_opening import settings_of, with_system
from tidemill.core.outcome import Fail
from tidemill.core.page import Page
from tidemill.core.vertical import Adapter
from tidemill.engine.clock import RealClock
from tidemill.operations.golden import MANIFEST, GoldenCase, cases_in, read_case, write_cases
from tidemill.operations.mistakes import Mistake, NotFound
from tidemill.terminal.counting import counted
from tidemill.terminal.options import single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_line

app = single_command()


@app.command()
def savefixture(
    ctx: typer.Context,
    what: Annotated[str, typer.Argument(metavar="URL|PAGE", help="An address to fetch, or a stored page's number.")],
    adapter: Annotated[
        str, typer.Option(help="The folder of the adapter whose golden page it becomes, or a page object: poet:...")
    ],
    name: Annotated[
        str, typer.Option(help="What to call the page: usual, empty, changed, blocked or another.")
    ] = "usual",
) -> None:
    """Save a page as a golden one, with what the adapter makes of it today.

    Look over what it wrote down before you keep it.
    """
    page = (
        page_of(run(fetch_page(settings_of(ctx), what)), RealClock().now())
        if is_url(what)
        else _load_stored_page(ctx, what)
    )
    if is_page_object(adapter):
        print_line(
            f"saved {save_fixture(adapter, page, name)}; check by hand that its output.json says what is on the page; "
            "`tidemill check fixtures` reads it again"
        )
        return
    found, folder = adapters_in_folder(Path(adapter))[0]
    case = save_golden_page(page, found, folder, name)
    outcome = case.failure or ("an empty page" if case.empty else counted(len(case.records or []), "record"))
    print_line(
        f"saved {folder / case.page}: {outcome}; check by hand that {folder / MANIFEST} says what is on the page"
    )


def _load_stored_page(ctx: typer.Context, what: str) -> Page:
    if not what.isdecimal():
        msg = f"{what!r} is neither an address nor a page's number; `tidemill runs show` names the pages of a run"
        raise Mistake(msg)

    page = run(with_system(ctx, lambda system: system.store.ledger.materials.page(int(what))))
    if page is None:
        msg = f"There is no stored page {what}."
        raise NotFound(msg)
    return page


def save_golden_page(page: Page, adapter: Adapter, folder: Path, name: str) -> GoldenCase:
    """Write the page and its case, in place of one of the same name."""
    folder.mkdir(parents=True, exist_ok=True)
    file = f"{name}.html"
    (folder / file).write_bytes(page.text.encode())
    blank = GoldenCase(name=name, page=file, url=page.final_url or page.url, captured_at=page.fetched_at)
    case = _with_reading(blank, adapter, folder)
    known = cases_in(folder) if (folder / MANIFEST).is_file() else []
    write_cases(folder, [each for each in known if each.name != name] + [case])
    return case


def _with_reading(case: GoldenCase, adapter: Adapter, folder: Path) -> GoldenCase:
    reading = read_case(adapter, case, folder)
    if isinstance(reading, Fail):
        return msgspec.structs.replace(case, failure=str(reading.failure))
    if not reading.records:
        return msgspec.structs.replace(case, empty=True)
    return msgspec.structs.replace(case, records=[dict(record.fields) for record in reading.records])
