"""`tidemill browsers`."""

import typer

from tidemill.cli.system_opening import with_system
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, command_group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import id_text, print_json, print_line, print_table

MEGABYTE = 1_000_000

app = command_group("Look at the browsers of running workers, and have them replaced.")


@app.command("list")
def list_browsers(ctx: typer.Context, *, json: AsJson = False) -> None:
    """List the browsers of every running process, with what they use and what was replaced so far."""
    pools = run(with_system(ctx, lambda system: system.actions.browsers.pools()))
    if json:
        print_json(pools)
        return
    rows = [
        (pool.process, id_text(one.pid), "leaving" if one.is_leaving else "serving", one.vitals.started_at,
         one.vitals.tasks, one.vitals.busy, one.vitals.memory_bytes // MEGABYTE, one.vitals.pids,
         sum(pool.state.recycled.values()))
        for pool in pools for one in pool.state.browsers
    ]  # fmt: skip
    columns = ["process", "pid", "state", "started", "pages", "in use", "MB", "processes", "replaced"]
    right = ["pid", "pages", "in use", "MB", "processes", "replaced"]
    print_table(
        f"{counted(len(rows), 'browser')} in {counted(len(pools), 'process', 'processes')}", columns, rows, right=right
    )


@app.command("recycle")
def recycle_browsers(ctx: typer.Context, *, json: AsJson = False) -> None:
    """Have every browser finish its pages and be replaced; running workers see to it within seconds."""
    concerned = run(with_system(ctx, lambda system: system.actions.browsers.recycle(actor())))
    if json:
        print_json(concerned)
        return
    for pool in concerned:
        print_line(f"the browser of {pool.process} will be replaced within seconds")
    if not concerned:
        print_line("no process has a browser open just now")
