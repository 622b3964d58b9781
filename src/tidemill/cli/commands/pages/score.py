"""`tidemill score`."""

from pathlib import Path
from typing import Annotated

import typer

from tidemill.bootstrap.plugins import PLUGINS
from tidemill.operations.mistakes import Mistake
from tidemill.operations.scoring.phrases import date_scores, money_scores
from tidemill.operations.scoring.score import Score
from tidemill.operations.scoring.structured import structured_scores
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.showing import print_json, print_table

app = single_command()


@app.command()
def score_reading(
    folder: Annotated[
        Path, typer.Argument(help="A folder with events, products, dates, money, prices or structured in it.")
    ],
    *,
    time_zone: Annotated[str, typer.Option(help="The clock that the pages' times are on.")] = "America/New_York",
    json: AsJson = False,
) -> None:
    """Score what is read on a folder of saved pages and phrases, precision and recall apart."""
    found = _scores(folder, time_zone)
    if json:
        print_json([_fields(one) for one in found])
        return
    rows = [
        (one.what, one.half, one.right, one.read, one.of, f"{one.precision:.3f}", f"{one.recall:.3f}", f"{one.f1:.3f}")
        for one in found
    ]
    names = ["what", "half", "right", "read", "of", "precision", "recall", "f1"]
    print_table(str(folder), names, rows, right=names[2:])


def _scores(folder: Path, time_zone: str) -> list[Score]:
    found = [*date_scores(folder), *money_scores(folder), *structured_scores(folder)]
    for plugin in PLUGINS.values():
        found += plugin.scores(folder, time_zone)
    if not found:
        msg = f"there is nothing to score in {folder}: no pages or phrases with expected answers"
        raise Mistake(msg)
    return found


def _fields(score: Score) -> dict[str, object]:
    return {
        "what": score.what, "half": score.half, "right": score.right, "read": score.read, "of": score.of,
        "precision": round(score.precision, 4), "recall": round(score.recall, 4),
        "f1": round(score.f1, 4),
    }  # fmt: skip
