"""Show what an import did, for people and machines."""

from typing import TYPE_CHECKING

from tidemill.terminal.counting import counted
from tidemill.terminal.exit_codes import FAILURE, PARTIAL
from tidemill.terminal.showing import id_text, print_json, print_line, print_table

if TYPE_CHECKING:  # importing loads the adapters, and a list does not need them
    from tidemill.operations.importing import ImportCounts, Imported


def report_import(done: "Imported", *, as_json: bool, dry_run: bool = False) -> int:
    """Show the import, or what it would do.

    Return 0 when all is well, 3 when some entries were bad, 1 when none could be used.
    """
    if as_json:
        print_json(done)
    else:
        if dry_run:
            print_line("nothing was changed; this is what the file would do")
        for what, counts in (("sources", done.sources), ("targets", done.targets)):
            if good_entries(counts):
                print_line(f"{what}: {counts.created} new, {counts.updated} changed, {counts.unchanged} as they were")
        if done.from_templates:
            print_line(
                f"markets: {counted(done.from_templates, 'target')} laid out, one per market: `tidemill markets list`"
            )
        for what, removed in (("sources", done.removed_sources), ("targets", done.removed_targets)):
            if removed:
                print_line(f"{what}: {len(removed)} taken away: {', '.join(removed[:20])}")
        if done.problems:
            rows = [(id_text(problem.line or "file"), problem.field, problem.message) for problem in done.problems]
            print_table(
                counted(len(done.problems), "problem"), ["line", "field", "what is wrong"], rows, right=["line"]
            )
    if not done.problems:
        return 0
    return PARTIAL if good_entries(done.sources) + good_entries(done.targets) else FAILURE


def good_entries(counts: "ImportCounts") -> int:
    """Return how many entries were good."""
    return counts.created + counts.updated + counts.unchanged
