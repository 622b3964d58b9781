"""`tidemill diff`."""

from collections import Counter
from datetime import datetime
from typing import Annotated

import typer

from tidemill.cli.commands.data.export import moment_of, parse_filters
from tidemill.cli.system_opening import open_system
from tidemill.operations.exporting.past_differences import RowDifference, differences
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_json, print_line, print_table

app = single_command()
LONGEST_TEXT = 60
CAUSES = 5
"""The last causes of a difference that are shown."""


@app.command()
def diff(
    ctx: typer.Context,
    dataset: Annotated[str, typer.Argument(help="Which, as `tidemill export` lists them.")],
    begin: Annotated[datetime, typer.Option("--from", metavar="MOMENT", help="The first moment.")],
    end: Annotated[datetime, typer.Option("--to", metavar="MOMENT", help="The second moment.")],
    where: Annotated[
        list[str] | None, typer.Option("--where", "-w", metavar="NAME=VALUE", help="Only those; may be repeated.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="How many to show.")] = 100,
    *,
    json: AsJson = False,
) -> None:
    """Show what appeared, changed and vanished between two moments, from history, and which run did it.

    Moments are in UTC unless they name their zone.
    """

    async def work() -> tuple[list[RowDifference], Counter[str]]:
        shown: list[RowDifference] = []
        counts: Counter[str] = Counter()
        async with open_system(ctx) as system:
            found = differences(
                system.actions.exporter.find(dataset), parse_filters(where or []), moment_of(begin) or begin,
                moment_of(end) or end, system.clock.now(),
            )  # fmt: skip
            async for each in found:
                counts[each.kind.value] += 1
                if len(shown) < limit:
                    shown.append(each)
        return shown, counts

    shown, counts = run(work())
    if json:
        print_json({"counts": dict(counts), "differences": shown})
        return
    rows = [(each.kind.value, each.key, each.title[:LONGEST_TEXT], _words(each), _causes(each)) for each in shown]
    print_table("", ["what", "key", "title", "changes", "by"], rows)
    told = ", ".join(f"{counts[kind]} {kind}" for kind in ("appeared", "changed", "vanished"))
    print_line(told if len(shown) == counts.total() else f"{told}; {len(shown)} shown (--limit for more)")


def _words(difference: RowDifference) -> str:
    return "; ".join(
        f"{name}: {_short(pair[0])} -> {_short(pair[1])}" for name, pair in difference.changes.items()
    )  # fmt: skip


def _causes(difference: RowDifference) -> str:
    """Return which runs and replays did it, the last few."""
    told = [
        f"{each.kind} by replay {each.replay_id}" if each.replay_id else
        f"{each.kind} in run {each.run_id}" if each.run_id else each.kind
        for each in difference.causes
    ]  # fmt: skip
    return "; ".join(dict.fromkeys(told[-CAUSES:]))


def _short(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
