"""`tidemill doctor`."""

import typer

from tidemill.bootstrap.system import build
from tidemill.cli.system_opening import refuse_if_absent, settings_of
from tidemill.operations.doctor import DoctorCheck
from tidemill.operations.mistakes import Mistake
from tidemill.terminal.exit_codes import FAILURE
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_json, print_table

app = single_command()


@app.command()
def doctor(ctx: typer.Context, *, json: AsJson = False) -> None:
    """Check that everything is well, and say what to do if it is not."""
    checks = run(run_checks(ctx))
    if json:
        print_json(checks)
    else:
        rows = [(check.level, check.name, check.detail, check.remedy) for check in checks]
        print_table("", ["", "what", "finding", "what to do"], rows)
    raise typer.Exit(FAILURE if any(check.level == "failure" for check in checks) else 0)


async def run_checks(ctx: typer.Context) -> list[DoctorCheck]:
    """Return every check; a missing database is one of them."""
    settings = settings_of(ctx)
    try:
        refuse_if_absent(settings)
    except Mistake as mistake:
        return [DoctorCheck("database", "failure", str(mistake).partition(";")[0], "run `tidemill migrate`")]
    system = build(settings)
    try:
        return await system.actions.doctor.examine()
    finally:
        await system.close()
