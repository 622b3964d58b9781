"""How a replay's report is shown on a screen."""

from pathlib import Path

from tidemill.core.replay.gate import pages_words, proves_nothing
from tidemill.core.replay.report import ReplayReport
from tidemill.core.replay.views import ReplayView, ReplayWithReport
from tidemill.operations.mistakes import Mistake
from tidemill.terminal.showing import as_text, print_json, print_line, print_table
from tidemill.web.portal.replay_reports import report_as_html

DAYS_SHOWN = 40
NOTHING = "no record was compared, so this proves nothing"


def show_replay(shown: ReplayWithReport, *, as_json: bool, html: Path | None = None) -> None:
    """Print a replay with its report, and write it as HTML where asked."""
    if html is not None:
        write_html(shown, html)
    if as_json:
        print_json(shown)
        return
    replay, report = shown.replay, shown.report
    print_line(f"replay {replay.id} of {replay.scope.words} is {replay.status}; as a change it is {replay.state_words}")
    print_applied(replay)
    if report is None:
        print_line(f"{replay.pages_done} of {replay.pages_total} pages read: `tidemill replay --resume {replay.id}`")
        return
    if not replay.pages_total:
        young = "" if replay.scope.since is None else " that young; a longer --since, or none, reaches further"
        print_line(f"no page of {replay.scope.words} is stored{young}")
        print_line(NOTHING)
        return
    _print_totals(report)
    _print_fields(report)
    _print_days(report)
    if proves_nothing(report):
        print_line(NOTHING)
    for source, day in report.broke.items():
        print_line(f"{source} yields too little since {day}")
    for each in report.certificates:
        words = "complete" if each.now_complete else "not complete"
        print_line(f"run {each.run_id} of {each.source} would have been {words}")
    for why in replay.held_because:
        print_line(f"beyond what passes without a person: {why}")
    if "milliseconds_a_page" in replay.cost:
        print_line(f"{replay.cost['milliseconds_a_page']} ms a page; report {replay.digest[:16]}")


def print_applied(replay: ReplayView) -> None:
    """Print what a replay did to the records, and whether that was taken back."""
    done = ", ".join(f"{count} {name}" for name, count in replay.applied.items()) or "nothing had to be corrected"
    if replay.applied_at is not None:
        print_line(f"applied by {replay.applied_by} at {as_text(replay.applied_at)}: {done}")
    if replay.reverted_at is not None:
        print_line(f"taken back by {replay.reverted_by} at {as_text(replay.reverted_at)}")


def write_html(shown: ReplayWithReport, path: Path) -> None:
    """Write a report as a page of its own."""
    try:
        path.write_text(report_as_html(shown), encoding="utf-8")
    except OSError as error:
        msg = f"the report cannot be written to {path}: {error.strerror}"
        raise Mistake(msg) from error


def _print_totals(report: ReplayReport) -> None:
    print_line(f"pages: {pages_words(report)}; {report.pages_differing} differ")
    rows = [
        ("records accepted", report.then, report.now),
        ("dropped", report.verdicts_then["dropped"], report.verdicts_now["dropped"]),
        ("set aside", report.verdicts_then["quarantined"], report.verdicts_now["quarantined"]),
        ("pages not read", report.failed_then, report.failed_now),
        ("confidence", report.confidence_then, report.confidence_now),
    ]
    print_table("", ["", "then", "now"], rows, right=("then", "now"))
    print_line(
        f"{report.same} the same, {report.changed} changed, {report.lost} lost, {report.added} added, "
        f"{report.renamed} with another identity"
    )
    for reason, count in report.lost_because.items():
        print_line(f"lost: {count} {reason}")


def _print_fields(report: ReplayReport) -> None:
    differing = [
        (name, each.then, each.now, each.changed)
        for name, each in report.fields.items()
        if each.changed or each.then != each.now
    ]
    if differing:
        print_table("by field", ["field", "then", "now", "changed"], differing, right=("then", "now", "changed"))


def _print_days(report: ReplayReport) -> None:
    rows = [
        (day.source, day.day, day.pages, day.failed_now, day.then, day.now, day.added, day.lost, day.changed)
        for day in report.days[-DAYS_SHOWN:]
    ]
    names = ["source", "day", "pages", "not read", "then", "now", "added", "lost", "changed"]
    print_table("by day", names, rows, right=names[2:])
