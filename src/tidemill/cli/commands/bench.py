"""`tidemill bench`."""

import subprocess
import sys
from pathlib import Path

import typer

from tidemill.operations.mistakes import Mistake
from tidemill.terminal.options import single_command

app = single_command()
ROOT = Path(__file__).resolve().parents[4]
"""The checkout, when we run from one."""


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def bench(ctx: typer.Context) -> None:
    """Measure Tidemill beside Scrapy and a bare script (in a checkout).

    What follows is passed on; `tidemill bench -- --help` lists it.
    """
    if not (ROOT / "benchmarks" / "__main__.py").is_file():
        msg = "the benchmarks come with a checkout of the project, not with an installed package"
        raise Mistake(msg)
    done = subprocess.run([sys.executable, "-m", "benchmarks", *ctx.args], cwd=ROOT, check=False)  # noqa: S603 - our own
    raise typer.Exit(done.returncode)
