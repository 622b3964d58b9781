"""Show what an import did, for people and machines."""

from tidemill.operations.importing import ImportCounts, Imported
from tidemill.terminal.exit_codes import FAILURE, PARTIAL
from tidemill.terminal.showing import print_json, print_line, print_table


def report_import(done: Imported, *, as_json: bool, dry_run: bool = False) -> int:
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
            print_line(f"markets: {done.from_templates} targets laid out, one per market; see `tidemill markets list`")
        for what, removed in (("sources", done.removed_sources), ("targets", done.removed_targets)):
            if removed:
                print_line(f"{what}: {len(removed)} taken away: {', '.join(removed[:20])}")
        if done.problems:
            rows = [(problem.line or "file", problem.field, problem.message) for problem in done.problems]
            print_table(f"{len(done.problems)} problems", ["line", "field", "what is wrong"], rows, right=["line"])
    if not done.problems:
        return 0
    return PARTIAL if good_entries(done.sources) + good_entries(done.targets) else FAILURE


def good_entries(counts: ImportCounts) -> int:
    """Return how many entries were good."""
    return counts.created + counts.updated + counts.unchanged
