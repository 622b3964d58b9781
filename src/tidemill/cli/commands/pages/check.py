"""`tidemill check`."""

from pathlib import Path
from typing import Annotated

import typer

from tidemill.bootstrap.verticals import UNUSABLE_ADAPTERS
from tidemill.cli.golden_adapters import selected_adapters
from tidemill.cli.poet_checks import checked_fixtures
from tidemill.engine.clock import RealClock
from tidemill.operations.golden import CheckedCase, check
from tidemill.terminal.exit_codes import FAILURE
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.showing import print_json, print_line, print_table

app = single_command()


@app.command()
def check_adapters(
    which: Annotated[str | None, typer.Argument(metavar="[ADAPTER|FOLDER]", help="One adapter; else all.")] = None,
    *,
    json: AsJson = False,
) -> None:
    """Read the golden pages of adapters, and compare them field by field.

    A folder may also hold the fixtures of web-poet's page objects.

    0: all are read as they should be; 1: one is not, or an installed adapter cannot be used.
    """
    now = RealClock().now()
    done = checked_fixtures(Path(which)) if which is not None and Path(which).is_dir() else []
    if not done:
        done = [one for adapter, folder in selected_adapters(which) for one in check(adapter, folder, now)]
    if json:
        print_json(done)
    else:
        _show(done)
    raise typer.Exit(0 if all(one.holds for one in done) and not UNUSABLE_ADAPTERS else FAILURE)


def _show(done: list[CheckedCase]) -> None:
    rows = [
        (
            one.adapter,
            one.case,
            "as it should be" if one.holds else "differs",
            "; ".join(one.differences),
            "old" if one.old else "",
        )
        for one in done
    ]
    print_table(f"{len(done)} golden pages", ["adapter", "page", "read", "differences", "captured"], rows)
    if any(one.old for one in done):
        print_line("old: captured over 90 days ago; save the page anew with `tidemill savefixture`")
    for broken in UNUSABLE_ADAPTERS:
        print_line(f"adapter {broken.name} ({broken.where}) cannot be used: {broken.reason}")
