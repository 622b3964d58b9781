"""`tidemill migrate`."""

from typing import Annotated, Any, NamedTuple

import typer

from tidemill.bootstrap.migrations import CHAINS, plugin_status, upgrade
from tidemill.bootstrap.system import build
from tidemill.cli.system_opening import refuse_if_absent, settings_of
from tidemill.store.database.migrate import ChainStatus, current, missing_steps
from tidemill.terminal.exit_codes import FAILURE
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.session import run
from tidemill.terminal.showing import print_json, print_line

app = single_command()


class Migrated(NamedTuple):
    """The steps of our own tables and of installed verticals' tables, before and after."""

    before: str | None
    after: str
    plugins_before: dict[str, str | None]
    plugins: list[ChainStatus]


@app.command()
def migrate(
    ctx: typer.Context,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; name the steps that are missing, and end with 1 if any is.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Bring the database's tables to this version."""
    if check:
        missing = run(find_missing(ctx))
        if json:
            print_json({"missing": missing})
        else:
            print_line("\n".join(f"missing step {step}" for step in missing) or "no step is missing")
        raise typer.Exit(FAILURE if missing else 0)
    done = run(run_migrations(ctx))
    if json:
        print_json(as_json(done))
        return
    print_line(step_text("the tables", done.before, done.after))
    for each in done.plugins:
        print_line(plugin_step_text(each, done.plugins_before.get(each.vertical)))


async def find_missing(ctx: typer.Context) -> list[str]:
    """Return the steps that are missing, of our own tables and of those of installed verticals."""
    settings = settings_of(ctx)
    refuse_if_absent(settings)
    system = build(settings)
    try:
        database = system.store.database
        missing = missing_steps(await current(database))
        for chain in CHAINS:
            steps = missing_steps(await current(database, chain), chain)
            missing += [f"{chain.vertical} {step}" for step in steps]
        return missing
    finally:
        await system.close()


async def run_migrations(ctx: typer.Context) -> Migrated:
    """Take every step that is missing."""
    system = build(settings_of(ctx))
    try:
        former = {each.vertical: each.stands_at for each in await plugin_status(system.store.database)}
        before, after = await upgrade(system.store.database)
        return Migrated(before, after, former, await plugin_status(system.store.database))
    finally:
        await system.close()


def step_text(what: str, before: str | None, after: str) -> str:
    """Return how far tables are, and how far they were."""
    if before == after:
        return f"{what} are at step {after} already"
    return f"{what} are at step {after} now (before: {before or 'none'})"


def plugin_step_text(status: ChainStatus, before: str | None) -> str:
    """Return how far a plugin's tables are; they stay when its package goes."""
    whose = f"the tables of {status.vertical}"
    if status.needs is None:
        return f"{whose} stay at step {status.stands_at}: no installed package brings this vertical"
    return step_text(whose, before, status.needs)


def as_json(done: Migrated) -> dict[str, Any]:
    """Return the same for machines; installed verticals are in it where there are any."""
    found: dict[str, Any] = {"before": done.before, "after": done.after}
    if done.plugins:
        found["plugins"] = {
            each.vertical: {
                "before": done.plugins_before.get(each.vertical), "after": each.stands_at,
                "installed": each.needs is not None,
            }
            for each in done.plugins
        }  # fmt: skip
    return found
