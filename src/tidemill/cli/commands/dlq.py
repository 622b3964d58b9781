"""`tidemill dlq`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidemill.bootstrap.reading import ReadSide
from tidemill.cli.system_opening import open_system, with_read_side, with_system
from tidemill.core.dead_letter import DeadLetterStatus
from tidemill.core.views import DeadLetterFilter, DeadLetterView
from tidemill.operations.mistakes import Mistake
from tidemill.terminal.counting import counted
from tidemill.terminal.exit_codes import PARTIAL
from tidemill.terminal.options import AsJson, Limit, Source, Yes, command_group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import id_text, print_facts, print_json, print_line, print_table, without_control_codes

if TYPE_CHECKING:  # the list does without the whole system
    from tidemill.bootstrap.system import System
    from tidemill.operations.dead_letters import HandledDeadLetters

app = command_group("Look at dead letters, retry, discard and bundle them.")

Keys = Annotated[list[int] | None, typer.Argument(metavar="[ID]...", help="The letters' numbers.")]
Stage = Annotated[str | None, typer.Option(help="Only those that died at this stage.")]
Error = Annotated[str | None, typer.Option("--error", help="Only with this error, such as timeout.")]
All = Annotated[bool, typer.Option("--all", help="Every pending letter that the filters mean.")]


@app.command("list")
def list_dead_letters(
    ctx: typer.Context,
    status: Annotated[DeadLetterStatus | None, typer.Option(help="Only with this status.")] = None,
    source: Source = None,
    stage: Stage = None,
    error: Error = None,
    limit: Limit = 50,
    *,
    json: AsJson = False,
) -> None:
    """List dead letters, the newest first."""

    async def load_dead_letters(side: ReadSide) -> list[DeadLetterView]:
        owner = await side.source_id(source)
        which = DeadLetterFilter(status=status, source_id=owner, stage=stage, error_type=error)
        return await side.views.dead_letters(which, limit=limit)

    found = run(with_read_side(ctx, load_dead_letters))
    if json:
        print_json(found)
        return
    rows = [
        (id_text(one.id), one.source_name, one.stage, one.error_type, one.status,
         f"{one.retry_count}/{one.max_retries}", one.next_retry_at, one.url, one.error_message)
        for one in found
    ]  # fmt: skip
    columns = ["id", "source", "stage", "error", "status", "retries", "next retry", "url", "message"]
    print_table(counted(len(found), "dead letter"), columns, rows, right=["id"])


@app.command("show")
def show_dead_letter(
    ctx: typer.Context,
    dead_letter_id: Annotated[int, typer.Argument(metavar="ID", help="The letter's number.")],
    *,
    json: AsJson = False,
) -> None:
    """Show a dead letter with its stack and everything that a retry works from."""
    detail = run(with_system(ctx, lambda system: system.actions.dead_letters.find(dead_letter_id)))
    if json:
        print_json(detail)
        return
    one = detail.letter
    print_facts(
        f"Dead letter {one.id}",
        {
            "status": one.status,
            "source": one.source_name,
            "url": one.url,
            "job": id_text(one.job_id),
            "stage": one.stage,
            "error": one.error_type,
            "message": one.error_message,
            "retries": f"{one.retry_count} of {one.max_retries}",
            "next retry": one.next_retry_at,
            "notes": one.resolution_notes,
            "died": one.created_at,
        },
    )
    print_facts("Payload", dict(detail.payload))
    if detail.error_stack:
        typer.echo(without_control_codes(detail.error_stack))


@app.command("bundle")
def bundle_dead_letter(
    ctx: typer.Context,
    dead_letter_id: Annotated[int, typer.Argument(metavar="ID", help="The letter's number.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here instead of beside you.")] = None,
) -> None:
    """Save a dead letter as a failing test: `tidemill check FILE` fails on it the same way offline."""
    content = run(with_system(ctx, lambda system: system.actions.bundles.bundle(dead_letter_id, actor())))
    from tidemill.operations.bundles.bundle import file_name  # noqa: PLC0415 - loads the adapters

    path = output or Path(file_name(dead_letter_id))
    path.write_bytes(content)
    print_line(f"saved {path}; `tidemill check {path}` fails on it the same way")


@app.command("retry")
def retry_dead_letters(
    ctx: typer.Context,
    keys: Keys = None,
    source: Source = None,
    stage: Stage = None,
    error: Error = None,
    *,
    everything: All = False,
    json: AsJson = False,
) -> None:
    """Try letters again, now, at the stage where their jobs died: some by number, or --all with filters."""
    require_ids_or_all(keys, everything=everything)

    async def retry() -> "HandledDeadLetters":
        async with open_system(ctx) as system:
            if everything:
                return await system.actions.dead_letters.retry_all(
                    await filter_of(system, None, source, stage, error), actor()
                )
            done = [await system.actions.dead_letters.retry(one, actor()) for one in keys or []]
            from tidemill.operations.dead_letters import HandledDeadLetters  # noqa: PLC0415 - as above

            return HandledDeadLetters(count=sum(one.count for one in done))

    raise typer.Exit(report(run(retry()), "put back into the queue", as_json=json))


@app.command("discard")
def discard_dead_letters(
    ctx: typer.Context,
    keys: Keys = None,
    source: Source = None,
    stage: Stage = None,
    error: Error = None,
    notes: Annotated[str, typer.Option(help="Why; kept with the letter.")] = "",
    *,
    everything: All = False,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Give letters up: some by number, or --all with filters."""
    require_ids_or_all(keys, everything=everything)
    if everything and not yes:
        typer.confirm("Discard every pending letter that the filters mean?", abort=True)

    async def discard() -> "HandledDeadLetters":
        async with open_system(ctx) as system:
            if everything:
                which = await filter_of(system, None, source, stage, error)
                return await system.actions.dead_letters.discard_all(which, actor(), notes)
            done = [await system.actions.dead_letters.discard(one, actor(), notes) for one in keys or []]
            from tidemill.operations.dead_letters import HandledDeadLetters  # noqa: PLC0415 - as above

            return HandledDeadLetters(count=sum(one.count for one in done))

    raise typer.Exit(report(run(discard()), "discarded", as_json=json))


async def filter_of(
    system: "System", status: str | None, source: str | None, stage: str | None, error: str | None
) -> DeadLetterFilter:
    """Return the filter that the options mean."""
    owner = (await system.actions.sources.find(source)).id if source else None
    return DeadLetterFilter(status=status, source_id=owner, stage=stage, error_type=error)


def require_ids_or_all(keys: list[int] | None, *, everything: bool) -> None:
    """Raise Mistake unless either ids or --all are given."""
    if bool(keys) == everything:
        msg = "name letters by number, or say --all (with --source, --stage or --error to narrow it)"
        raise Mistake(msg)


def report(done: "HandledDeadLetters", words: str, *, as_json: bool) -> int:
    """Show what was done; return 3 when some were left alone."""
    if as_json:
        print_json(done)
    else:
        print_line(f"{counted(done.count, 'letter')} {words}")
        if done.orphans:
            left = counted(len(done.orphans), "letter was", "letters were")
            print_line(f"{left} left alone, because the source was removed; discard them")
    return PARTIAL if done.orphans else 0
