"""Write docs/cli.md from the commands themselves: `python -m tidemill.cli.manual > docs/cli.md`."""

import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any

from tidemill.cli.app import COMMANDS, load

INTRODUCTION = """\
# The command line

Written from the commands' own words (`python -m tidemill.cli.manual > docs/cli.md`); a test holds the two together.

`tidemill [--settings FILE] [--database URL] COMMAND ...`: settings come from the command line, then `TIDEMILL_*`
variables, then `tidemill.toml`, then the defaults. Every command that reads takes `--json`.

| exit code | means |
| --- | --- |
| 0 | complete |
| 1 | failure: the database is away, no page could be had, a check failed |
| 2 | usage: something was typed that makes no sense; the message says what to type |
| 3 | partial: some of it went well |
| 4 | empty: the pages came, held nothing, and did not say so; a replay compared no record |
| 130 | stopped by Ctrl-C before it began to finish |
"""


def manual() -> str:
    """Return the whole page."""
    parts = [INTRODUCTION]
    panels = dict.fromkeys(entry.panel for entry in COMMANDS.values())
    for panel in panels:
        parts.append(f"\n## {panel}\n")
        for name in (name for name, entry in COMMANDS.items() if entry.panel == panel):
            parts += describe_command(f"tidemill {name}", load(name))
    return "".join(parts)


def describe_command(path: str, command: Any) -> Iterator[str]:
    """Yield a command with its parameters, and everything under it."""
    below = getattr(command, "commands", {})
    yield f"\n### {path}\n\n{without_markup(command.help or '')}\n"
    parameters = [] if below else [one for one in command.params if one.name != "help"]
    if parameters:
        yield "\n| parameter | what it does |\n| --- | --- |\n"
        yield from (parameter_row(parameter) for parameter in parameters)
    for name, one in below.items():
        yield from describe_command(f"{path} {name}", one)


def parameter_row(parameter: Any) -> str:
    """Return the row of one argument or option."""
    if parameter.param_type_name == "argument":
        name = parameter.metavar or parameter.name.upper()
    else:
        name = " ".join([*parameter.opts, *parameter.secondary_opts])
    help_text = (getattr(parameter, "help", None) or "").replace("|", "\\|")
    return f"| `{name.replace('|', chr(92) + '|')}` | {help_text} |\n"


def without_markup(text: str) -> str:
    """Return help text without terminal markup."""
    return re.sub(r"\[/?bold\]", "", inspect.cleandoc(text)).strip()


def main() -> None:
    """Print the page."""
    sys.stdout.write(manual())


if __name__ == "__main__":
    main()
