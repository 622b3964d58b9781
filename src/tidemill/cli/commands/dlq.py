"""`tidemill dlq`."""

from typing import Annotated

import typer

from tidemill.bootstrap.system import System
from tidemill.cli.opening import opened
from tidemill.core.dead_letter import DeadLetterStatus
from tidemill.core.views import DeadLetterDetail, DeadLetterFilter, DeadLetterView
from tidemill.operations.dead_letters import HandledDeadLetters
from tidemill.operations.mistakes import Mistake
from tidemill.terminal.exit_codes import PARTIAL
from tidemill.terminal.options import AsJson, Limit, Source, Yes, group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import emit, facts, harmless, key, say, table

app = group("Look at dead letters, retry and discard them.")

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

    async def work() -> list[DeadLetterView]:
        async with opened(ctx) as system:
            return await system.store.views.dead_letters(
                await filter_of(system, status, source, stage, error), limit=limit
            )

    found = run(work())
    if json:
        emit(found)
        return
    rows = [
        (key(one.id), one.source_name, one.stage, one.error_type, one.status,
         f"{one.retry_count}/{one.max_retries}", one.next_retry_at, one.url, one.error_message)
        for one in found
    ]  # fmt: skip
    columns = ["id", "source", "stage", "error", "status", "retries", "next retry", "url", "message"]
    table(f"{len(found)} dead letters", columns, rows, right=["id"])


@app.command("show")
def show_dead_letter(
    ctx: typer.Context,
    dead_letter_id: Annotated[int, typer.Argument(metavar="ID", help="The letter's number.")],
    *,
    json: AsJson = False,
) -> None:
    """Show a dead letter with its stack and everything that a retry works from."""

    async def work() -> DeadLetterDetail:
        async with opened(ctx) as system:
            return await system.actions.dead_letters.find(dead_letter_id)

    detail = run(work())
    if json:
        emit(detail)
        return
    one = detail.letter
    facts(
        f"Dead letter {one.id}",
        {
            "status": one.status,
            "source": one.source_name,
            "url": one.url,
            "job": key(one.job_id),
            "stage": one.stage,
            "error": one.error_type,
            "message": one.error_message,
            "retries": f"{one.retry_count} of {one.max_retries}",
            "next retry": one.next_retry_at,
            "notes": one.resolution_notes,
            "died": one.created_at,
        },
    )
    facts("Payload", dict(detail.payload))
    if detail.error_stack:
        typer.echo(harmless(detail.error_stack))


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
    refuse_unclear(keys, everything=everything)

    async def work() -> HandledDeadLetters:
        async with opened(ctx) as system:
            if everything:
                return await system.actions.dead_letters.retry_all(
                    await filter_of(system, None, source, stage, error), actor()
                )
            done = [await system.actions.dead_letters.retry(one, actor()) for one in keys or []]
            return HandledDeadLetters(count=sum(one.count for one in done))

    raise typer.Exit(report(run(work()), "put back into the queue", as_json=json))


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
    refuse_unclear(keys, everything=everything)
    if everything and not yes:
        typer.confirm("Discard every pending letter that the filters mean?", abort=True)

    async def work() -> HandledDeadLetters:
        async with opened(ctx) as system:
            if everything:
                which = await filter_of(system, None, source, stage, error)
                return await system.actions.dead_letters.discard_all(which, actor(), notes)
            done = [await system.actions.dead_letters.discard(one, actor(), notes) for one in keys or []]
            return HandledDeadLetters(count=sum(one.count for one in done))

    raise typer.Exit(report(run(work()), "discarded", as_json=json))


async def filter_of(
    system: System, status: str | None, source: str | None, stage: str | None, error: str | None
) -> DeadLetterFilter:
    """The filter that the options mean."""
    owner = (await system.actions.sources.find(source)).id if source else None
    return DeadLetterFilter(status=status, source_id=owner, stage=stage, error_type=error)


def refuse_unclear(keys: list[int] | None, *, everything: bool) -> None:
    """Either numbers or --all."""
    if bool(keys) == everything:
        msg = "name letters by number, or say --all (with --source, --stage or --error to narrow it)"
        raise Mistake(msg)


def report(done: HandledDeadLetters, words: str, *, as_json: bool) -> int:
    """Show what was done; answers 3 when some were left alone."""
    if as_json:
        emit(done)
    else:
        say(f"{done.count} letters {words}")
        if done.orphans:
            say(f"{len(done.orphans)} were left alone, because their source was removed; discard them")
    return PARTIAL if done.orphans else 0
