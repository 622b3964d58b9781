"""`tidemill score`."""

from pathlib import Path
from typing import Annotated

import typer

from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.showing import print_json, print_table
from tidemill.verticals.events.scoring import score

app = single_command()


@app.command()
def score_reading(
    folder: Annotated[Path, typer.Argument(help="A folder with events, dates or structured in it.")],
    *,
    time_zone: Annotated[str, typer.Option(help="The clock that the pages' times are on.")] = "America/New_York",
    json: AsJson = False,
) -> None:
    """Score the reading library on a folder of saved pages and tables: days, titles, dates."""
    found = score(folder, time_zone)
    if json:
        print_json(
            [{"what": one.what, "right": one.right, "of": one.of, "share": round(one.share, 4)} for one in found]
        )
        return
    rows = [(one.what, one.right, one.of, f"{one.share:.0%}") for one in found]
    print_table(str(folder), ["what", "right", "of", "share"], rows, right=["right", "of", "share"])
