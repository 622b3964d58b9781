"""`tidemill check`."""

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from tidemill.bootstrap.verticals import UNUSABLE_ADAPTERS, VERTICALS
from tidemill.cli.golden_adapters import selected_adapters
from tidemill.cli.poet_checks import checked_fixtures
from tidemill.engine.clock import RealClock
from tidemill.operations.bundles.bundle import check_bundle, read_bundle
from tidemill.operations.golden import CheckedCase, check
from tidemill.operations.mistakes import Mistake
from tidemill.terminal.counting import counted
from tidemill.terminal.exit_codes import FAILURE
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.showing import print_json, print_line, print_table

app = single_command()


@app.command()
def check_adapters(
    which: Annotated[
        str | None, typer.Argument(metavar="[ADAPTER|FOLDER|BUNDLE]", help="One adapter or bundle; else all adapters.")
    ] = None,
    *,
    json: AsJson = False,
) -> None:
    """Read the golden pages of adapters or the bundle of a dead letter, and compare.

    A folder may also hold the fixtures of web-poet's page objects. A bundle is made by `tidemill dlq bundle`.

    0: all are read as they should be; 1: one is not, or an installed adapter cannot be used.
    """
    if which is not None and which.endswith(".zip"):
        _check_bundle(Path(which), as_json=json)
    now = RealClock().now()
    done = checked_fixtures(Path(which)) if which is not None and Path(which).is_dir() else []
    if not done:
        done = [one for adapter, folder in selected_adapters(which) for one in check(adapter, folder, now)]
    if json:
        print_json(done)
    else:
        _show(done)
    raise typer.Exit(0 if all(one.holds for one in done) and not UNUSABLE_ADAPTERS else FAILURE)


def _check_bundle(path: Path, *, as_json: bool) -> NoReturn:
    if not path.is_file():
        msg = f"there is no file {path}"
        raise Mistake(msg)
    done = check_bundle(read_bundle(path.read_bytes()), VERTICALS)
    if as_json:
        print_json(done)
    else:
        print_line(f"dead letter {done.letter}, {done.adapter} {done.version_now}: {done.words}")
    raise typer.Exit(FAILURE if done.found else 0)


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
    print_table(counted(len(done), "golden page"), ["adapter", "page", "read", "differences", "captured"], rows)
    if any(one.old for one in done):
        print_line("old: captured over 90 days ago; save the page anew with `tidemill savefixture`")
    for broken in UNUSABLE_ADAPTERS:
        print_line(f"adapter {broken.name} ({broken.where}) cannot be used: {broken.reason}")
