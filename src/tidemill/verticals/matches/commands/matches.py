"""`tidemill matches`."""

from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

from tidemill.core.snapshots.changes import LoggedChange, ThingSnapshot
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, command_group
from tidemill.terminal.session import actor, open_system, run
from tidemill.terminal.showing import print_facts, print_json, print_line, print_table
from tidemill.verticals.matches.actions import MatchDetail
from tidemill.verticals.matches.parts import MatchesParts
from tidemill.verticals.matches.record import SIDES, MatchStatus
from tidemill.verticals.matches.views import KnownMatchRow, MappedId

app = command_group("List, show, follow, pause and resume matches; settle which match a site's id means.")
Which = Annotated[str, typer.Argument(metavar="ID", help="The match's id, as `tidemill matches list` shows it.")]
LOOK_EVERY = timedelta(seconds=1)
_OVER = {MatchStatus.COMPLETED, MatchStatus.ABANDONED}


@app.command("list")
def list_matches(
    ctx: typer.Context,
    status: Annotated[MatchStatus | None, typer.Option(help="Only those that stand so.")] = None,
    *,
    json: AsJson = False,
) -> None:
    """List matches with their scores, the latest first."""

    async def work() -> tuple[list[tuple[KnownMatchRow, ThingSnapshot | None]], datetime]:
        async with open_system(ctx) as system:
            found = await system.part(MatchesParts).matches.every(status.value if status else None)
            return found, system.clock.now()

    found, now = run(work())
    if json:
        print_json([{"match": match, "state": snapshot.state if snapshot else None} for match, snapshot in found])
        return
    rows = [_row(match, snapshot, now) for match, snapshot in found]
    print_table(
        counted(len(rows), "match", "matches"),
        ["id", "title", "status", "score", "checked", "changes"],
        rows,
        right=["changes"],
    )


@app.command("show")
def show_match(ctx: typer.Context, which: Which, *, json: AsJson = False) -> None:
    """Show a match: its score, where each field is from, its ids, and where sites disagree."""

    async def work() -> tuple[MatchDetail, list[LoggedChange], datetime]:
        async with open_system(ctx) as system:
            matches = system.part(MatchesParts).matches
            detail = await matches.find(which)
            last = detail.snapshot.seq if detail.snapshot else 0
            return detail, await matches.changes(which, max(0, last - 10)), system.clock.now()

    detail, changes, now = run(work())
    if json:
        state = detail.snapshot.state if detail.snapshot else None
        print_json({"match": detail.match, "state": state, "ids": detail.ids, "conflicts": detail.conflicts,
                    "rosters": detail.rosters, "changes": changes})  # fmt: skip
        return
    _show(detail, changes, now)


@app.command("watch")
def watch_match(
    ctx: typer.Context,
    which: Which,
    seconds: Annotated[
        float | None, typer.Option(min=1, help="End after so many seconds; else Ctrl-C ends it.")
    ] = None,
) -> None:
    """Follow a match: every change of its log as it comes, until the match is over."""

    async def work() -> None:
        async with open_system(ctx) as system:
            matches, clock = system.part(MatchesParts).matches, system.clock
            detail = await matches.find(which)
            until = clock.now() + timedelta(seconds=seconds) if seconds else None
            seen = max(0, detail.snapshot.seq - 1) if detail.snapshot else 0
            while until is None or clock.now() < until:
                for change in await matches.changes(which, seen):
                    print_line(line_of(change))
                    seen = change.seq
                    if change.status in _OVER:
                        return
                await clock.sleep_until(clock.now() + LOOK_EVERY)

    run(work())


@app.command("pause")
def pause_match(ctx: typer.Context, which: Which) -> None:
    """Leave a match's pages alone until it is resumed; readers are told that it is stale."""
    print_line(f"match {which} is paused: {_switch(ctx, which, on=False)} pages are left alone")


@app.command("resume")
def resume_match(ctx: typer.Context, which: Which) -> None:
    """Take a match's pages up again."""
    print_line(f"match {which} is watched again: {_switch(ctx, which, on=True)} pages")


@app.command("map")
def map_match(
    ctx: typer.Context,
    source: Annotated[str | None, typer.Argument(metavar="SOURCE", help="The source that uses the id.")] = None,
    source_key: Annotated[str | None, typer.Argument(metavar="SITE_ID", help="The site's own id.")] = None,
    match: Annotated[
        str | None, typer.Argument(metavar="ID", help="The match that it means; the one it has, if left out.")
    ] = None,
    *,
    json: AsJson = False,
) -> None:
    """Settle which match a site's id means; without arguments, list those in doubt.

    A match that no id means any more is merged into the other one. Both keep their history.
    """
    if source is None or source_key is None:
        _show_doubts(ctx, as_json=json)
        return

    async def work() -> tuple[str, str]:
        async with open_system(ctx) as system:
            return await system.part(MatchesParts).matches.settle(source, source_key, match, actor())

    before, after = run(work())
    was = f", and no longer {before}" if before != after else ""
    print_line(f"{source} {source_key} is match {after}{was}")


def _show_doubts(ctx: typer.Context, *, as_json: bool) -> None:
    async def work() -> list[MappedId]:
        async with open_system(ctx) as system:
            return await system.part(MatchesParts).matches.doubts()

    doubts = run(work())
    if as_json:
        print_json(doubts)
        return
    rows = [(each.source, each.source_key, each.match_key, each.doubt, each.first_seen_at) for each in doubts]
    print_table(
        counted(len(rows), "id in doubt", "ids in doubt"), ["source", "site id", "match", "doubt", "first seen"], rows
    )


def _switch(ctx: typer.Context, which: str, *, on: bool) -> int:
    async def work() -> int:
        async with open_system(ctx) as system:
            matches = system.part(MatchesParts).matches
            return await (matches.resume if on else matches.pause)(which, actor())

    return run(work())


def score_text(state: dict[str, Any]) -> str:
    """Return the score in a line: every innings in order."""
    names = {side: team.get("short_name") or team["name"] for side, team in state.get("teams", {}).items()}
    innings = sorted(state.get("innings", {}).items(), key=lambda each: int(each[0]))
    return ", ".join(
        f"{names.get(each['team'], each['team'])} {each['runs']}/{each['wickets']}{'d' if each.get('declared') else ''}"
        f" ({each['overs']})"
        for _, each in innings
    )


def line_of(change: LoggedChange) -> str:
    """Return an entry of the log in a line."""
    patch = _decoded(change.patch)
    event = (patch.get("last_event") or {}).get("description", "")
    scores = ", ".join(
        f"innings {number}: {words}"
        for number, each in (patch.get("innings") or {}).items()
        if each and (words := " ".join(f"{name} {each[name]}" for name in ("runs", "wickets", "overs") if name in each))
    )
    moved = f"{change.moved_from} > {change.moved_to}" if change.moved_to else ""
    skipped = f"{change.skipped} balls not seen" if change.skipped else ""
    words = "; ".join(filter(None, (scores, event, moved, change.reason, skipped, patch.get("break") or "")))
    return f"{change.seq:>5} {change.changed_at:%H:%M:%S} {change.kind:<10} {change.source:<14} {words}"


def _decoded(text: str) -> dict[str, Any]:
    import msgspec  # noqa: PLC0415 - only for those who follow

    found: dict[str, Any] = msgspec.json.decode(text)
    return found


def _row(match: KnownMatchRow, snapshot: ThingSnapshot | None, now: datetime) -> tuple[Any, ...]:
    if snapshot is None:
        return (match.key, match.title, f"is {match.merged_into}" if match.merged_into else "not read yet", "", "", 0)
    state = snapshot.state
    status = f"{state.get('status', '')} ({state['break']})" if "break" in state else state.get("status", "")
    age = f"{max(0, int((now - snapshot.checked_at).total_seconds()))} s ago"
    return (match.key, state.get("title", match.title), status, score_text(state), age, snapshot.seq)


def _show(detail: MatchDetail, changes: list[LoggedChange], now: datetime) -> None:
    match, snapshot = detail.match, detail.snapshot
    facts: dict[str, Any] = {"title": match.title, "series": match.series, "starts": match.starts_at}
    if snapshot is not None:
        state = snapshot.state
        facts |= {
            "status": state.get("status"), "break": state.get("break"), "score": score_text(state),
            "toss": (state.get("toss") or {}).get("winner"), "venue": state.get("venue"),
            "last event": (state.get("last_event") or {}).get("description"),
            "checked": f"{int((now - snapshot.checked_at).total_seconds())} s ago", "changed": snapshot.changed_at,
            "sequence": snapshot.seq,
        }  # fmt: skip
        facts |= {side: state["teams"][side]["name"] for side in SIDES if side in state.get("teams", {})}
    if match.merged_into:
        facts["merged into"] = match.merged_into
    print_facts(f"Match {match.key}", {name: value for name, value in facts.items() if value not in (None, "")})
    if snapshot is not None:
        rows = [(name, each.source, each.confidence, each.at) for name, each in sorted(snapshot.provenance.items())]
        print_table("Where fields are from", ["field", "source", "confidence", "told"], rows)
    ids = [(each.source, each.source_key, each.doubt if not each.settled_by else "settled") for each in detail.ids]
    print_table("Ids", ["source", "site id", "doubt"], ids)
    for change in changes:
        print_line(line_of(change))
