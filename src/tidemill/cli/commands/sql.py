"""`tidemill sql`."""

from collections.abc import Sequence
from typing import Annotated

import typer

from tidemill.cli.system_opening import with_read_side
from tidemill.operations.mistakes import NotFound, unknown_name
from tidemill.store.views import runbook
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_json, print_line, print_table

app = single_command()

QUESTIONS = {
    "pipeline": "SELECT current_stage, COUNT(*) AS jobs, "
    "COUNT(*) FILTER (WHERE completed_at IS NOT NULL) AS completed, "
    "COUNT(*) FILTER (WHERE attempts >= max_attempts) AS failed FROM pipeline_jobs "
    "WHERE created_at > NOW() - INTERVAL '24 hours' GROUP BY current_stage",
    "breakers": "SELECT name, circuit_state, failure_count, cooldown_until FROM source_health_status "
    "WHERE circuit_state != 'CLOSED'",
    "dlq": "SELECT stage, error_type, COUNT(*) AS letters FROM dead_letter_queue WHERE status = 'pending' "
    "GROUP BY stage, error_type",
}
"""The runbook's daily checks, by name."""


@app.command(context_settings={"ignore_unknown_options": True})
def sql(
    ctx: typer.Context,
    question: Annotated[
        str, typer.Argument(metavar="NAME|SELECT", help="pipeline, breakers, dlq, or a SELECT of your own.")
    ] = "pipeline",
    *,
    json: AsJson = False,
) -> None:
    """Ask the database a question, read-only: the runbook's or your own.

    The runbook's NOW() and INTERVAL work on SQLite too.
    """
    if " " not in question.strip() and question not in QUESTIONS:
        raise NotFound(unknown_name("question", question, QUESTIONS) + "; or write a SELECT")

    answer = run(with_read_side(ctx, lambda side: runbook.ask(side.database, QUESTIONS.get(question, question))))
    if json:
        print_json([dict(zip(answer.columns, row, strict=True)) for row in answer.rows])
        return
    rows: Sequence[Sequence[object]] = [[str(value) if isinstance(value, int) else value for value in row]
                                        for row in answer.rows]  # fmt: skip
    print_table("", list(answer.columns), rows)
    print_line(counted(len(answer.rows), "row") + (", and more that are not shown" if answer.cut else ""))
