"""Options that many commands share, so that they look and read the same everywhere."""

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many to show.")]
Source = Annotated[str | None, typer.Option("--source", "-s", metavar="NAME", help="Only of this source.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Reason = Annotated[str, typer.Option("--reason", help="Why, for the audit log.")]


def group(text: str) -> typer.Typer:
    """A command with subcommands."""
    app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help=text, add_completion=False)

    @app.callback()
    def _with_subcommands() -> None:
        pass

    _with_subcommands.__doc__ = text
    return app


def single() -> typer.Typer:
    """A command without subcommands."""
    return typer.Typer(rich_markup_mode="rich", add_completion=False)
