"""`tidemill runs`."""

from typing import Annotated

import typer

from tidemill.bootstrap.reading import ReadSide
from tidemill.cli.system_opening import with_read_side, with_system
from tidemill.core.run import RunStatus
from tidemill.core.views import RunView
from tidemill.operations.mistakes import require_found
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, Limit, Source, command_group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import id_text, print_facts, print_json, print_line, print_table

app = command_group("Look at runs, stage by stage; take up jobs that waited too long.")


@app.command("list")
def list_runs(
    ctx: typer.Context,
    source: Source = None,
    status: Annotated[RunStatus | None, typer.Option(help="Only with this status.")] = None,
    before: Annotated[int | None, typer.Option(help="Go on before this number.")] = None,
    limit: Limit = 50,
    *,
    json: AsJson = False,
) -> None:
    """List runs, the newest first."""

    async def load_runs(side: ReadSide) -> list[RunView]:
        return await side.views.runs(await side.source_id(source), status, before=before, limit=limit)

    found = run(with_read_side(ctx, load_runs))
    if json:
        print_json(found)
        return
    rows = [
        (id_text(one.id), one.source_name, one.trigger, one.status, one.complete, one.started_at,
         f"{one.urls_succeeded}/{one.urls_attempted}", one.pages_unchanged, one.records_read, one.records_accepted,
         one.records_dropped, one.records_quarantined, one.records_inserted, one.records_updated,
         ", ".join(one.degraded or ()))
        for one in found
    ]  # fmt: skip
    columns = ["run", "source", "trigger", "status", "complete", "started", "pages", "unchanged", "read", "accepted",
               "dropped", "quarantined", "new", "changed", "without"]  # fmt: skip
    print_table(counted(len(found), "run"), columns, rows, right=["run", *columns[6:-1]])


@app.command("show")
def show_run(
    ctx: typer.Context,
    run_id: Annotated[int, typer.Argument(metavar="ID", help="The run's number.")],
    *,
    json: AsJson = False,
) -> None:
    """Show a run with its jobs, stage by stage."""
    detail = require_found(run(with_read_side(ctx, lambda side: side.views.run(run_id))), "run", run_id)
    if json:
        print_json(detail)
        return
    one = detail.run
    print_facts(
        f"Run {one.id} of {one.source_name}",
        {
            "status": one.status,
            "complete": one.complete,
            "doubts": one.doubts,
            "degraded": one.degraded,
            "trigger": one.trigger,
            "adapter": f"{one.adapter_id} {one.adapter_version}",
            "started": one.started_at,
            "took": None if one.duration_ms is None else f"{one.duration_ms / 1000:.1f} s",
            "pages": f"{one.urls_succeeded} of {one.urls_attempted}, {one.pages_unchanged} unchanged, "
            f"{one.urls_failed} failed, {one.urls_refused} refused",
            "records": f"{one.records_read} read: {one.records_accepted} accepted, {one.records_dropped} dropped, "
            f"{one.records_quarantined} quarantined; {one.records_inserted} new, {one.records_updated} changed, "
            f"{one.records_seen_again} seen again, {one.records_removed} gone",
            "failures": detail.failures,
        },
    )
    print_table("Stages", ["stage", "status", "jobs"], [(each.stage, each.status, each.jobs) for each in detail.stages])
    rows = [
        (id_text(job.id), job.url, job.stage, job.status, job.attempts, job.failure, job.error) for job in detail.jobs
    ]
    print_table("Jobs", ["job", "url", "stage", "status", "tries", "failure", "detail"], rows, right=["job", "tries"])


@app.command("requeue-stale")
def requeue_stale(ctx: typer.Context, source: Source = None, *, json: AsJson = False) -> None:
    """Take up jobs that waited for so long that they were set aside."""
    count = run(with_system(ctx, lambda system: system.actions.runs.requeue_stale(source, actor())))
    if json:
        print_json({"jobs": count})
    else:
        print_line(f"{counted(count, 'job is', 'jobs are')} ready again")
