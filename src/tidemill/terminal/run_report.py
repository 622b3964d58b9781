"""Show what came of asking for a run."""

from typing import TYPE_CHECKING

from tidemill.terminal.exit_codes import FAILURE, PARTIAL
from tidemill.terminal.showing import print_json, print_line

if TYPE_CHECKING:
    from tidemill.operations.runs import Started


def report_started(started: "Started", *, as_json: bool) -> int:
    """Show the started runs; return 0 when everything was enqueued, 3 when some was turned away, 1 when all was."""
    if as_json:
        print_json(started)
    else:
        runs = ", ".join(str(run_id) for run_id in started.run_ids)
        print_line(f"enqueued {started.jobs} jobs" + (f" in run {runs}" if runs else ""))
        if started.rejected:
            minutes = (started.retry_after_seconds or 0) / 60
            print_line(f"{started.rejected} were turned away: {started.reason}; come back in {minutes:g} minutes")
        for note in started.notes:
            print_line(f"note: {note}")
    if not started.rejected:
        return 0
    return PARTIAL if started.jobs else FAILURE
