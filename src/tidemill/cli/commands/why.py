"""`tidemill why`."""

from typing import Annotated

import typer

from tidemill.cli.system_opening import with_system
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_json, print_line, print_table

app = single_command()
STEP_SIGNS = {True: "ok", False: "no", None: ""}


@app.command()
def why(
    ctx: typer.Context,
    subject: Annotated[
        str,
        typer.Argument(
            metavar="SUBJECT",
            help="source:NAME, target:ID, target:URL, job:ID, run:ID, event:ID[.FIELD], listing:ID[.FIELD], price:ID, "
            "product:ID, match:ID[.FIELD], letter:ID, quarantine:ID, incident:ID, service:NAME or market:ID",
        ),
    ],
    *,
    json: AsJson = False,
) -> None:
    """Explain anything: which gate, which rule, which page."""
    found = run(with_system(ctx, lambda system: system.actions.why.explain(subject)))
    if json:
        print_json(found)
        return
    print_line(f"{found.subject}: {found.verdict}")
    print_table(
        "", ["", "gate", "finding"], [(STEP_SIGNS[step.ok] or " ", step.gate, step.detail) for step in found.steps]
    )
