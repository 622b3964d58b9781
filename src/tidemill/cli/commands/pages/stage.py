"""`tidemill stage`."""

from enum import StrEnum
from typing import Annotated

import typer

from tidemill.cli.stage_by_hand import BY_HAND, StageAnswer, do_stage, jobs_to_do
from tidemill.cli.system_opening import open_system
from tidemill.core.outcome import Stage
from tidemill.operations.mistakes import Mistake
from tidemill.terminal.exit_codes import FAILURE, PARTIAL
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import id_text, print_json, print_table

app = single_command()
StageName = StrEnum("StageName", {stage.name: stage.value for stage in BY_HAND})  # type: ignore[misc]  # only known when run


@app.command()
def stage(
    ctx: typer.Context,
    name: Annotated[StageName, typer.Argument(metavar="STAGE", help="fetch, parse, normalize or persist.")],
    jobs: Annotated[list[int] | None, typer.Argument(metavar="[JOB]...", help="The jobs' numbers.")] = None,
    *,
    of_run: Annotated[
        int | None, typer.Option("--run", metavar="ID", help="Every job of this run that stands before the stage.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what the stage would answer, of ended jobs too; write nothing.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Do one stage of certain jobs by hand, and leave them before the next.

    A job goes through fetch, parse, normalize and persist; `tidemill runs show` says where each stands. Workers that
    are running take a job up from there, so stop them to go on by hand. 0 all went well, 3 some did, 1 none.
    """
    wanted = Stage(name.value)
    if not jobs and of_run is None:
        msg = "name jobs by their number, or a run with --run; `tidemill runs list` shows runs"
        raise Mistake(msg)
    if dry_run and wanted is Stage.FETCH:
        msg = "a fetch asks the site, whoever wants to know; `tidemill fetch URL` does it and stores nothing"
        raise Mistake(msg)

    async def do() -> list[StageAnswer]:
        async with open_system(ctx) as system:
            chosen = await jobs_to_do(system, wanted, jobs or (), of_run)
            return await do_stage(system, wanted, chosen, dry_run=dry_run, actor=actor())

    answers = run(do())
    if json:
        print_json(answers)
    else:
        rows = [(id_text(one.job_id), one.url, one.answer, one.produced) for one in answers]
        print_table(f"{wanted}: {len(answers)} jobs", ["job", "url", "answer", "what it made"], rows, right=["job"])
    well = sum(1 for one in answers if one.went_well)
    raise typer.Exit(0 if well == len(answers) else PARTIAL if well else FAILURE)
