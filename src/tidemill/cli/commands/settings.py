"""`tidemill settings`."""

import typer

from tidemill.settings import describe_settings
from tidemill.terminal.global_options import GlobalOptions
from tidemill.terminal.options import AsJson, single
from tidemill.terminal.showing import emit, table

app = single()


@app.command()
def settings(ctx: typer.Context, *, json: AsJson = False) -> None:
    """Show every setting: its value, where that comes from, what it does."""
    place: GlobalOptions = ctx.obj or GlobalOptions()
    overrides = {} if place.database is None else {"database": place.database}
    found = describe_settings(place.settings, **overrides)
    if json:
        emit(found)
        return
    table("", ["setting", "value", "from", "what it does"], [(one.name, plain(one.value), one.origin, one.description)
                                                             for one in found])  # fmt: skip


def plain(value: object) -> object:
    """A value as it would be written in tidemill.toml."""
    match value:
        case dict():
            return ", ".join(f"{name} = {each}" for name, each in value.items())
        case int() | float() if not isinstance(value, bool):
            return f"{value:g}" if isinstance(value, float) else str(value)
        case _:
            return value
