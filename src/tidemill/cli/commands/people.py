"""`tidemill people`."""

from typing import Annotated

import typer

from tidemill.cli.system_opening import with_system
from tidemill.core.access.roles import Role
from tidemill.core.views.access import PersonView
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, Yes, command_group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import print_json, print_line, print_table

app = command_group("See who can sign in to the portal, invite people, and help them back in.")
Who = Annotated[str, typer.Argument(metavar="NAME", help="The person's name.")]
HOW_LONG = "It works once, within 15 minutes, below the address of the web app:"


@app.command("list")
def list_people(ctx: typer.Context, *, json: AsJson = False) -> None:
    """List who can sign in."""
    found = run(with_system(ctx, lambda system: system.actions.people.every()))
    if json:
        print_json(found)
        return
    rows = [(one.name, one.role, state_of(one), one.last_seen_at) for one in found]
    print_table(counted(len(found), "person", "people"), ["name", "role", "state", "last seen"], rows)


@app.command("first")
def first_admin(ctx: typer.Context) -> None:
    """Print a link that makes the first admin."""
    secret = run(with_system(ctx, lambda system: system.actions.people.first_link(actor())))
    print_link(secret)


@app.command("invite")
def invite_person(
    ctx: typer.Context, name: Who, role: Annotated[Role, typer.Option(help="What they may do.")] = Role.VIEWER
) -> None:
    """Invite a person, and print the link by which they choose a password."""
    print_link(run(with_system(ctx, lambda system: system.actions.people.invite(name, role, actor()))))


@app.command("reset")
def reset_person(ctx: typer.Context, name: Who) -> None:
    """Print a link by which a person chooses a new password."""
    print_link(run(with_system(ctx, lambda system: system.actions.people.reset(name, actor()))))


@app.command("role")
def change_role(
    ctx: typer.Context, name: Who, role: Annotated[Role, typer.Argument(help="What they may do from now on.")]
) -> None:
    """Give a person another role; they sign in again."""
    done = run(with_system(ctx, lambda system: system.actions.people.change_role(name, role, actor())))
    print_line(f"{done.name} is {done.role} now")


@app.command("disable")
def disable_person(ctx: typer.Context, name: Who) -> None:
    """Switch a person off; their sessions end."""
    run(with_system(ctx, lambda system: system.actions.people.set_disabled(name, actor(), disabled=True)))
    print_line(f"{name} can no longer sign in")


@app.command("enable")
def enable_person(ctx: typer.Context, name: Who) -> None:
    """Let a person sign in again."""
    run(with_system(ctx, lambda system: system.actions.people.set_disabled(name, actor(), disabled=False)))
    print_line(f"{name} can sign in again")


@app.command("remove")
def remove_person(ctx: typer.Context, name: Who, *, yes: Yes = False) -> None:
    """Remove a person; what they did stays in the audit log."""
    if not yes:
        typer.confirm(f"Remove {name}? They can no longer sign in.", abort=True)
    run(with_system(ctx, lambda system: system.actions.people.remove(name, actor())))
    print_line(f"{name} is removed")


def print_link(secret: str) -> None:
    """Print a one-time link and how long it holds."""
    print_line(HOW_LONG)
    print_line(f"/welcome?link={secret}")


def state_of(person: PersonView) -> str:
    """Return in a word whether a person can sign in."""
    if person.disabled_at is not None:
        return "off"
    return "can sign in" if person.has_password else "invited"
