"""What came of asking for a run."""

from tidemill.operations.runs import Started
from tidemill.terminal.exit_codes import FAILURE, PARTIAL
from tidemill.terminal.showing import emit, say


def report_started(started: Started, *, as_json: bool) -> int:
    """Show it; answers 0 when everything was enqueued, 3 when some was turned away, 1 when all was."""
    if as_json:
        emit(started)
    else:
        runs = ", ".join(str(run_id) for run_id in started.run_ids)
        say(f"enqueued {started.jobs} jobs" + (f" in run {runs}" if runs else ""))
        if started.rejected:
            minutes = (started.retry_after_seconds or 0) / 60
            say(f"{started.rejected} were turned away: {started.reason}; come back in {minutes:g} minutes")
        for note in started.notes:
            say(f"note: {note}")
    if not started.rejected:
        return 0
    return PARTIAL if started.jobs else FAILURE
