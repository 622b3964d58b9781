"""The demo's summary: what happened, at a glance, and whether the numbers add up."""

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tidemill.core.views import SourceView, Totals
from tidemill.core.views.totals import RecordTotal
from tidemill.terminal.showing import styled_text


def summary(
    totals: Totals, kinds: Sequence[RecordTotal], sources: Sequence[SourceView], seconds: float, folder: str
) -> RenderableType:
    """Return everything that a person wants to know after the demo."""
    records = totals.records
    lines = {
        "pages": f"{totals.pages:,} stored, {totals.pages_unchanged:,} of them unchanged, "
        f"{totals.pages / seconds if seconds else 0:.1f} a second at the sites' own pace",
        "records": f"{records['read']:,} read: {records['accepted']:,} accepted, {records['dropped']:,} dropped, "
        f"{records['quarantined']:,} quarantined; {records['seen_again']:,} seen again",
        **kept_records(totals, kinds),
        "jobs": counts_text(totals.jobs),
        "runs": counts_text(totals.runs),
        "dead letters": counts_text(totals.dead_letters),
        "breakers": counts_text(totals.breakers),
    }
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    for name, text in lines.items():
        table.add_row(name, text)
    doubts = discrepancies(totals, kinds)
    last = Text("It all adds up: every record and every job is accounted for.", style="green")
    if doubts:
        last = Text("; ".join(doubts), style="bold red")
    parts: list[RenderableType] = [table, Text(), last]
    if barred := [source for source in sources if source.circuit_state != "CLOSED"]:
        parts.insert(1, Text(f"barred for now: {', '.join(source.name for source in barred)}", style="yellow"))
    parts += [
        Text(),
        Text("Go on from here:", style="bold"),
        *(styled_text(f"  {step}") for step in next_steps(folder)),
    ]
    return Panel.fit(Group(*parts), title=f"Tidemill demo: {seconds:.0f} s, {len(sources)} sites", title_align="left")


def next_steps(folder: str) -> list[str]:
    """Return what a newcomer does next, command by command."""
    own = [
        "tidemill parse URL             what a page of your own would yield",
        "tidemill sources add NAME URL  scrape it; then `tidemill crawl NAME`, or `tidemill up` for all of them",
    ]
    if not folder:
        return ["tidemill demo --keep FOLDER    the same, kept to look at", *own]
    database = f"--database sqlite:///{folder}/tidemill.db"
    kept = [
        f"tidemill {database} sources list  how each site stands, and why",
        f"tidemill {database} up            the portal, on what was kept",
    ]
    return [*kept, *own, f"kept in {folder}"]


def kept_records(totals: Totals, kinds: Sequence[RecordTotal]) -> dict[str, str]:
    """Return a line for each kind of record that is stored; none for things that are only watched."""
    there = [kind for kind in kinds if sum(totals.of(kind))]
    together = " in all" if len(there) > 1 else ""
    new, changed = totals.records["inserted"], totals.records["updated"]
    news = f" ({new:,} new, {changed:,} changed{together})"
    lines = {}
    for at, kind in enumerate(there):
        listed, gone = totals.of(kind)
        if kind.is_counted_by_runs:
            lines[kind.noun] = f"{listed:,} {kind.how}{'' if at else news}, {gone:,} gone"
        else:
            lines[kind.noun] = f"{listed:,} {kind.how}, {changed:,} changes{together}, {gone:,} merged"
    return lines


def counts_text(counts: Mapping[str, int]) -> str:
    """Return counts by state, the largest first."""
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{count:,} {name.lower()}" for name, count in ordered) or "none"


def discrepancies(totals: Totals, kinds: Sequence[RecordTotal]) -> list[str]:
    """Return what does not add up; this should always be empty."""
    records = totals.records
    found = []
    judged = records["accepted"] + records["dropped"] + records["quarantined"]
    if records["read"] != judged:
        found.append(f"{records['read']} records were read but {judged} judged")
    kept = records["inserted"] + records["updated"] + records["unchanged"] + records["repeated"]
    in_between = sum(totals.jobs.get(state, 0) for state in ("ready", "waiting", "leased"))
    if records["accepted"] != kept and not in_between:
        found.append(f"{records['accepted']} records were accepted but {kept} kept")
    counted = [kind for kind in kinds if kind.is_counted_by_runs]
    exist = sum(sum(totals.of(kind)) for kind in counted)
    if exist != records["inserted"]:
        *most, last = [kind.noun for kind in counted]
        nouns = f"{', '.join(most)} or {last}" if most else last
        found.append(f"{records['inserted']} {nouns} were new but {exist} exist")
    buried = sum(totals.dead_letters.get(state, 0) for state in ("pending", "retrying"))
    if totals.jobs.get("dead", 0) > sum(totals.dead_letters.values()):
        found.append(f"{totals.jobs['dead']} jobs died but {buried} letters wait")
    return found
