"""The `tidemill` command: a table of commands, each loaded only when it is run.

`tidemill --help` is fast because it reads this table instead of importing the whole system.
"""

import importlib
import keyword
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer._click.core import Command as ClickCommand
from typer._click.core import Context
from typer.core import TyperCommand, TyperGroup

from tidemill import __version__
from tidemill.bootstrap.plugins import PLUGINS
from tidemill.plugin import Command, Plugin, RunningSystem
from tidemill.terminal.global_options import GlobalOptions

RUN, MANY, LOOK, ACT = "Run", "Run on many machines", "Look", "Act"
PAGES, UPKEEP = "Try a page", "Set up and keep up"


_OWN_COMMANDS = {
    "up": (RUN, "Run everything in one process: schedule, workers and web app; or a part of it, as often as wanted."),
    "demo": (RUN, "Watch Tidemill scrape a small web of misbehaving sites on this machine."),
    "crawl": (RUN, "Scrape a source now, to the end, and answer with an exit code."),
    "tick": (RUN, "Do one piece of periodic work now, whether or not its time has come."),
    "stage": (RUN, "Do one stage of certain jobs by hand, and leave them before the next."),
    "simulate": (RUN, "Run the real system through weeks of virtual time and check its laws."),
    "bench": (RUN, "Measure Tidemill beside Scrapy and a bare script (in a checkout)."),
    "worker": (MANY, "Run a worker of the Celery engine: it takes jobs from the database, woken over the broker."),
    "beat": (MANY, "Send the workers of the Celery engine their periodic work when it is due."),
    "list": (
        LOOK,
        "List adapters, verticals, sources, or data: events, agenda, offers, listings, matches and the like.",
    ),
    "runs": (LOOK, "Look at runs, stage by stage; take up jobs that waited too long."),
    "why": (LOOK, "Explain anything: which gate, which rule, which page."),
    "status": (LOOK, "Show on one screen how everything stands; the exit code is 1 if it is not healthy."),
    "doctor": (LOOK, "Check that everything is well, and say what to do if it is not."),
    "sql": (LOOK, "Ask the database a question, read-only: the runbook's or your own."),
    "export": (LOOK, "Write data as JSON Lines, CSV, Parquet and more, however much there is."),
    "webhooks": (ACT, "Tell other programs of changes: subscribe, rotate, test and replay."),
    "diff": (LOOK, "Show what appeared, changed and vanished between two moments, from history, and which run did it."),
    "sources": (ACT, "List, import, add, switch, run and remove sources."),
    "targets": (ACT, "List, import, add, pause, run and remove targets."),
    "discover": (ACT, "Search municipalities for agendas, and import what a search without a database found."),
    "candidates": (ACT, "Look through the sites that discovery found, approve and reject them."),
    "adapters": (ACT, "List adapters, switch them on and off, bless what they yield."),
    "quarantine": (ACT, "Look at records that were set aside, release and reject them."),
    "proposals": (ACT, "Look at selectors that are proposed for redesigned pages, and accept or reject them."),
    "replay": (ACT, "Read stored pages again, each at its own moment, and report what would differ."),
    "replays": (ACT, "Look at replays and at changes held at the gate; accept, refuse, revert and roll back."),
    "dlq": (ACT, "Look at dead letters, retry, discard and bundle them."),
    "breaker": (ACT, "Look at circuit breakers and reset them."),
    "incidents": (ACT, "Look at incidents; acknowledge, snooze, comment on and close them."),
    "objectives": (LOOK, "See how freshness objectives stand: budgets, what burns them, whom they leave out."),
    "alerts": (ACT, "List the alerts, what was sent, and send a test message."),
    "browsers": (ACT, "Look at the browsers of running workers, and have them replaced."),
    "fetch": (PAGES, "Fetch one page through every gate and tell what came back."),
    "view": (PAGES, "See what the fetcher saw, in a browser, with everything active taken out."),
    "parse": (PAGES, "Read a page and show what becomes of every record on it."),
    "shell": (PAGES, "Try selectors on a fetched, saved or stored page."),
    "new": (PAGES, "Make something new out of a template: an adapter with its golden pages and its test."),
    "import": (PAGES, "Write a sources file from a project of another tool."),
    "check": (PAGES, "Read the golden pages of adapters or the bundle of a dead letter, and compare."),
    "savefixture": (PAGES, "Save a page as a golden one, with what the adapter makes of it today."),
    "score": (PAGES, "Score what is read on a folder of saved pages and phrases, precision and recall apart."),
    "people": (UPKEEP, "See who can sign in to the portal, invite people, and help them back in."),
    "tokens": (UPKEEP, "Make, list and revoke the tokens by which programs use the API."),
    "settings": (UPKEEP, "Show every setting: its value, where that comes from, what it does."),
    "migrate": (UPKEEP, "Bring the database's tables to this version."),
    "backup": (UPKEEP, "Write everything that is kept to a folder, while the work goes on."),
    "restore": (UPKEEP, "Bring a backup back into an empty database."),
}


def module_name(command: str) -> str:
    """Return the module of a command: its name, unless Python keeps that for itself."""
    return f"{command}_" if keyword.iskeyword(command) else command


FOLDERS = {PAGES: "tidemill.cli.commands.pages", MANY: "tidemill.cli.commands.cluster"}
"""Panels whose commands stand in a folder of their own."""
OWN_FOLDERS = {
    **dict.fromkeys(
        ("export", "diff", "backup", "restore", "webhooks", "replay", "replays"), "tidemill.cli.commands.data"
    ),
    "stage": "tidemill.cli.commands.pages",
    **dict.fromkeys(("incidents", "alerts", "objectives", "status"), "tidemill.cli.commands.watching"),
}
"""Commands that stand in another folder than their panel's."""
OWN = {
    name: Command(
        panel, line, f"{OWN_FOLDERS.get(name) or FOLDERS.get(panel, 'tidemill.cli.commands')}.{module_name(name)}"
    )
    for name, (panel, line) in _OWN_COMMANDS.items()
}
"""The commands that belong to no vertical; a test compares these lines with the commands' own help."""


def with_plugins(own: Mapping[str, Command], plugins: Iterable[Plugin[Any, Any]]) -> dict[str, Command]:
    """Return our own commands and those that verticals bring, each in its place; ours keep their names."""
    table = list(own.items())
    for plugin in plugins:
        for name, command in plugin.commands.items():
            if name not in dict(table):
                names = [each for each, _ in table]
                table.insert(names.index(command.after) + 1 if command.after in names else len(table), (name, command))
    return dict(table)


COMMANDS = with_plugins(OWN, PLUGINS.values())
"""Every command by name."""


class LazyGroup(TyperGroup):
    """Knows its commands by name and help only, and imports the one that is run."""

    def __init__(self, **options: Any) -> None:
        """Put a placeholder for every command in its place."""
        super().__init__(**options)
        self.commands = {
            name: TyperCommand(name, help=entry.help, rich_help_panel=entry.panel) for name, entry in COMMANDS.items()
        }

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, ClickCommand | None, list[str]]:  # fmt: skip
        """Return the real command for the name; a typo gets a suggestion."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, load(str(name)), rest


def load(name: str) -> ClickCommand:
    """Import a command's module and return its command."""
    module = importlib.import_module(COMMANDS[name].module)
    command = typer.main.get_command(module.app)
    command.name = name
    return command


app = typer.Typer(
    name="tidemill",
    cls=LazyGroup,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer's signature
    if wanted:
        typer.echo(f"tidemill {__version__}")
        raise typer.Exit


def open_system(context: typer.Context) -> AbstractAsyncContextManager[RunningSystem]:
    """Open the system for a vertical's command; the import is here because it loads all of the system."""
    from tidemill.cli.system_opening import open_system  # noqa: PLC0415 - see above

    return open_system(context)


@app.callback()
def tidemill(
    ctx: typer.Context,
    settings: Annotated[
        Path | None,
        typer.Option("--settings", metavar="FILE", help="Read settings from this file instead of tidemill.toml."),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option("--database", metavar="URL", help="sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME."),
    ] = None,
    version: Annotated[  # noqa: ARG001, FBT002 - handled before we get here
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Tidemill keeps scraped data fresh and trustworthy, without ever stopping.

    Begin with [bold]tidemill demo[/bold]. Every command that reads takes --json for machines. Exit codes: 0 complete,
    1 failure, 2 usage, 3 partial, 4 empty although nothing said so.
    """
    ctx.obj = GlobalOptions(settings, database, open_system)


def main() -> None:
    """Run the command line; a person's mistake is one line, never a traceback."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    command = typer.main.get_command(app)
    try:
        answer: Any = command.main(arguments, prog_name="tidemill", standalone_mode=False)
    except typer.Abort:
        return print_error("stopped", 130)
    except typer.TyperException as mistake:
        return print_usage_error(mistake)
    except KeyboardInterrupt:
        return print_error("stopped", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains once more at its end
        return 141
    except Exception as error:
        from tidemill.cli.mistakes import error_message  # noqa: PLC0415 - it imports half of the system

        code, message = error_message(error)
        if message is None:
            raise
        return print_error(f"error: {message}", code)
    return answer if isinstance(answer, int) else 0


def print_error(message: str, code: int) -> int:
    """Print one line on standard error and return the exit code."""
    sys.stderr.write(f"{message}\n")
    return code


def print_usage_error(mistake: typer.TyperException) -> int:
    """Print what is wrong with the arguments in one line, or the help where the error is the help."""
    message = mistake.format_message()
    context = getattr(mistake, "ctx", None)
    if context is None or "Usage:" in message or not message:
        return print_error(message, mistake.exit_code)
    from tidemill.terminal.usage_words import in_our_words  # noqa: PLC0415 - only a mistake needs it

    return print_error(f"error: {in_our_words(message)} (see `{context.command_path} --help`)", mistake.exit_code)
