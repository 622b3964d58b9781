"""What an import did, for people and machines."""

from tidemill.operations.importing import ImportCounts, Imported
from tidemill.terminal.exit_codes import FAILURE, PARTIAL
from tidemill.terminal.showing import emit, say, table


def report_import(done: Imported, *, as_json: bool) -> int:
    """Show it; answers 0 when all is well, 3 when some entries were bad, 1 when nothing could be used."""
    if as_json:
        emit(done)
    else:
        for what, tally in (("sources", done.sources), ("targets", done.targets)):
            if total(tally):
                say(f"{what}: {tally.created} new, {tally.updated} changed, {tally.unchanged} as they were")
        if done.laid_out:
            say(f"markets: {done.laid_out} targets laid out, one per market; see `tidemill markets list`")
        if done.problems:
            rows = [(problem.line or "file", problem.field, problem.message) for problem in done.problems]
            table(f"{len(done.problems)} problems", ["line", "field", "what is wrong"], rows, right=["line"])
    if not done.problems:
        return 0
    return PARTIAL if total(done.sources) + total(done.targets) else FAILURE


def total(tally: ImportCounts) -> int:
    """How many entries were good."""
    return tally.created + tally.updated + tally.unchanged
