"""Options that many commands share, so that they look and read the same everywhere."""

import inspect
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many to show.")]
Source = Annotated[str | None, typer.Option("--source", "-s", metavar="NAME", help="Only of this source.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Prune = Annotated[bool, typer.Option("--prune", help="Take away what the file no longer names.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what the file would do, and change nothing.")]
Reason = Annotated[str, typer.Option("--reason", help="Why, for the audit log.")]


def command_group(text: str) -> typer.Typer:
    """Return a command with subcommands."""
    app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help=text, add_completion=False)

    @app.callback()
    def _with_subcommands() -> None:
        pass

    _with_subcommands.__doc__ = text
    return app


def single_command() -> typer.Typer:
    """Return a command without subcommands."""
    return typer.Typer(rich_markup_mode="rich", add_completion=False)


def with_switches(command: Callable[..., None], switches: Mapping[str, str]) -> Callable[..., None]:
    """Give a command a switch per name, with its help, before its last option; it takes them as `**chosen`."""
    signature = inspect.signature(command, eval_str=True)
    own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    more = [_switch(name, text) for name, text in switches.items()]
    command.__signature__ = signature.replace(parameters=[*own[:-1], *more, own[-1]])  # type: ignore[attr-defined]
    return command


def with_choices(command: Callable[..., None], name: str, choices: Mapping[str, str]) -> Callable[..., None]:
    """Make an option of a command take one of these words, by default the first; each comes with its meaning."""
    known: Any = StrEnum(name, {word.upper(): word for word in choices})  # type: ignore[misc]  # only known when run
    text = f"{'; '.join(f'{word}: {meaning}' for word, meaning in choices.items())}."
    annotation: Any = Annotated[known, typer.Option(help=text)]
    signature = inspect.signature(command, eval_str=True)
    parameters = [
        each.replace(annotation=annotation, default=next(iter(known))) if each.name == name else each
        for each in signature.parameters.values()
    ]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return command


def _switch(name: str, text: str) -> inspect.Parameter:
    annotation: Any = Annotated[bool, typer.Option(f"--{name}", help=text)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
