"""`tidemill settings`."""

import typer

from tidemill.settings import describe_settings, load_settings
from tidemill.terminal.global_options import GlobalOptions
from tidemill.terminal.options import AsJson, single_command
from tidemill.terminal.showing import print_json, print_table

app = single_command()


@app.command()
def settings(ctx: typer.Context, *, json: AsJson = False) -> None:
    """Show every setting: its value, where that comes from, what it does."""
    options: GlobalOptions = ctx.obj or GlobalOptions()
    overrides = {} if options.database is None else {"database": options.database}
    found = describe_settings(load_settings(options.settings, **overrides))
    if json:
        print_json(found)
        return
    rows = [(one.name, setting_text(one.value), one.origin, one.description) for one in found]
    print_table("", ["setting", "value", "from", "what it does"], rows)


def setting_text(value: object) -> object:
    """Return a value as it would be written in tidemill.toml."""
    match value:
        case dict():
            return ", ".join(f"{name} = {each}" for name, each in value.items())
        case int() | float() if not isinstance(value, bool):
            return f"{value:g}" if isinstance(value, float) else str(value)
        case _:
            return value
