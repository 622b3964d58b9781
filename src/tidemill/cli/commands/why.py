"""`tidemill why`."""

from typing import Annotated

import typer

from tidemill.cli.opening import opened
from tidemill.operations.explanation import Explanation
from tidemill.terminal.options import AsJson, single
from tidemill.terminal.session import run
from tidemill.terminal.showing import emit, say, table

app = single()
SIGNS = {True: "ok", False: "no", None: ""}


@app.command()
def why(
    ctx: typer.Context,
    subject: Annotated[
        str,
        typer.Argument(
            metavar="SUBJECT",
            help="source:NAME, target:ID, target:URL, job:ID, run:ID, event:ID[.FIELD], service:NAME or market:ID",
        ),
    ],
    *,
    json: AsJson = False,
) -> None:
    """Explain anything: which gate, which rule, which page."""

    async def work() -> Explanation:
        async with opened(ctx) as system:
            return await system.actions.why.explain(subject)

    found = run(work())
    if json:
        emit(found)
        return
    say(f"{found.subject}: {found.verdict}")
    table("", ["", "gate", "finding"], [(SIGNS[step.ok] or " ", step.gate, step.detail) for step in found.steps])
