"""`tidemill tokens`."""

from typing import Annotated

import typer

from tidemill.cli.system_opening import with_system
from tidemill.core.access.roles import TokenScope
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, command_group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import id_text, print_json, print_line, print_table

app = command_group("Make, list and revoke the tokens by which programs use the API.")


@app.command("list")
def list_tokens(ctx: typer.Context, *, json: AsJson = False) -> None:
    """List tokens without their secrets, the newest first."""
    found = run(with_system(ctx, lambda system: system.actions.tokens.every()))
    if json:
        print_json(found)
        return
    rows = [
        (id_text(one.id), one.name, f"{one.prefix}...", one.scope, one.created_by, one.expires_at or "never",
         one.last_used_at, one.revoked_at)
        for one in found
    ]  # fmt: skip
    columns = ["id", "name", "begins with", "scope", "made by", "ends", "last used", "revoked"]
    print_table(counted(len(found), "token"), columns, rows, right=["id"])


@app.command("make")
def make_token(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What it is for.")],
    scope: Annotated[TokenScope, typer.Option(help="What it may be used for.")] = TokenScope.READ,
    days: Annotated[int | None, typer.Option(min=1, max=3_660, help="When it ends; never without this.")] = None,
    vertical: Annotated[list[str] | None, typer.Option(help="Bind it to a vertical; may be repeated.")] = None,
    *,
    json: AsJson = False,
) -> None:
    """Make a token, and print its secret this once."""
    made = run(
        with_system(ctx, lambda system: system.actions.tokens.make(name, scope, actor(), days=days, verticals=vertical))
    )
    if json:
        print_json(made)
        return
    print_line("Keep this; it is shown once:")
    print_line(made.secret)


@app.command("revoke")
def revoke_token(
    ctx: typer.Context, token_id: Annotated[int, typer.Argument(metavar="ID", help="The token's number.")]
) -> None:
    """Revoke a token at once."""
    done = run(with_system(ctx, lambda system: system.actions.tokens.revoke(token_id, actor())))
    print_line(f"{done.name} is revoked")
