"""`tidemill quarantine`."""

from typing import Annotated

import msgspec
import typer

from tidemill.bootstrap.system import System
from tidemill.cli.system_opening import open_system, with_system
from tidemill.core.views.quality import QuarantinedView, QuarantineFilter
from tidemill.operations.mistakes import Mistake
from tidemill.operations.quarantine import Reviewed
from tidemill.terminal.counting import counted
from tidemill.terminal.exit_codes import PARTIAL
from tidemill.terminal.options import AsJson, Limit, Source, Yes, command_group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import id_text, print_facts, print_json, print_line, print_table

app = command_group("Look at records that were set aside, release and reject them.")

Records = Annotated[list[int] | None, typer.Argument(metavar="[ID]...", help="The records' numbers.")]
Vertical = Annotated[str | None, typer.Option(help="Only of this vertical.")]
Because = Annotated[
    str | None, typer.Option("--because", help="Only set aside for this reason, such as AMBIGUOUS_PRICE.")
]
Notes = Annotated[str, typer.Option(help="Why; kept with the record.")]
All = Annotated[bool, typer.Option("--all", help="Every waiting record that the filters mean.")]


@app.command("list")
def list_records(
    ctx: typer.Context,
    source: Source = None,
    vertical: Vertical = None,
    because: Because = None,
    limit: Limit = 50,
    *,
    settled: Annotated[bool, typer.Option("--settled", help="Also those that were decided on.")] = False,
    json: AsJson = False,
) -> None:
    """List records that were set aside, the newest first."""

    async def load_records() -> list[QuarantinedView]:
        async with open_system(ctx) as system:
            which = await filter_of(system, source, vertical, because)
            return await system.actions.quarantine.every(
                msgspec.structs.replace(which, waiting=not settled), limit=limit
            )  # fmt: skip

    found = run(load_records())
    if json:
        print_json(found)
        return
    rows = [(id_text(one.id), one.source_name, one.reason, one.detail, one.page_url, one.review) for one in found]
    print_table(
        counted(len(found), "record"), ["id", "source", "reason", "detail", "page", "decided"], rows, right=["id"]
    )


@app.command("show")
def show_record(
    ctx: typer.Context,
    record_id: Annotated[int, typer.Argument(metavar="ID", help="The record's number.")],
    *,
    json: AsJson = False,
) -> None:
    """Show a record with what was read and why it was set aside."""
    one = run(with_system(ctx, lambda system: system.actions.quarantine.find(record_id)))
    if json:
        print_json(one)
        return
    print_facts(
        f"Record {one.id}",
        {
            "source": one.source_name,
            "vertical": one.vertical,
            "reason": one.reason,
            "detail": one.detail,
            "page": f"{one.page_url} (stored as {one.page_id})",
            "run": id_text(one.run_id),
            "set aside": one.created_at,
            "decided": f"{one.review} by {one.reviewed_by}" if one.review else None,
            "notes": one.review_notes,
        },
    )
    print_facts("What was read", dict(one.raw.get("fields") or one.raw.get("record") or one.raw))


@app.command("release")
def release_records(
    ctx: typer.Context,
    records: Records = None,
    source: Source = None,
    vertical: Vertical = None,
    because: Because = None,
    notes: Notes = "",
    put_right: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Put a field right first; may be repeated.")
    ] = None,
    *,
    everything: All = False,
    json: AsJson = False,
) -> None:
    """Publish records after all, once the rules can live with them: some by number, or --all with filters."""
    require_ids_or_all(records, everything=everything)
    fields = dict(parse_field(text) for text in put_right or [])

    async def release() -> Reviewed:
        async with open_system(ctx) as system:
            if everything:
                which = await filter_of(system, source, vertical, because)
                return await system.actions.quarantine.release_all(which, actor(), notes)
            for one in records or []:
                await system.actions.quarantine.release(one, actor(), notes, fields)
            return Reviewed(records=len(records or []))

    raise typer.Exit(report(run(release()), "released", as_json=json))


@app.command("reject")
def reject_records(
    ctx: typer.Context,
    records: Records = None,
    source: Source = None,
    vertical: Vertical = None,
    because: Because = None,
    notes: Notes = "",
    *,
    everything: All = False,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Give records up, their reasons kept: some by number, or --all with filters."""
    require_ids_or_all(records, everything=everything)
    if everything and not yes:
        typer.confirm("Reject every waiting record that the filters mean?", abort=True)

    async def reject() -> Reviewed:
        async with open_system(ctx) as system:
            if everything:
                which = await filter_of(system, source, vertical, because)
                return await system.actions.quarantine.reject_all(which, actor(), notes)
            for one in records or []:
                await system.actions.quarantine.reject(one, actor(), notes)
            return Reviewed(records=len(records or []))

    raise typer.Exit(report(run(reject()), "rejected", as_json=json))


async def filter_of(system: System, source: str | None, vertical: str | None, because: str | None) -> QuarantineFilter:
    """Return the filter that the options mean."""
    owner = (await system.actions.sources.find(source)).id if source else None
    return QuarantineFilter(source_id=owner, vertical=vertical, reason=because)


def parse_field(text: str) -> tuple[str, str]:
    """Return the field's name and value from NAME=VALUE."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        msg = f"{text!r} is no field; write NAME=VALUE, such as price=12.99"
        raise Mistake(msg)
    return name.strip(), value.strip()


def require_ids_or_all(records: list[int] | None, *, everything: bool) -> None:
    """Raise Mistake unless either ids or --all are given."""
    if bool(records) == everything:
        msg = "name records by number, or say --all (with --source, --vertical or --because to narrow it)"
        raise Mistake(msg)


def report(done: Reviewed, words: str, *, as_json: bool) -> int:
    """Show what was done; return 3 when some were refused."""
    if as_json:
        print_json(done)
    else:
        print_line(f"{counted(done.records, 'record')} {words}")
        for record, reason in done.refused.items():
            print_line(f"record {record}: {reason}")
    return PARTIAL if done.refused else 0
