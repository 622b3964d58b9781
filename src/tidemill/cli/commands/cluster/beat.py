"""`tidemill beat`."""

import typer

from tidemill.cli.celery_program import run_celery
from tidemill.cli.system_opening import settings_of
from tidemill.terminal.options import single_command

app = single_command()


@app.command()
def beat(ctx: typer.Context) -> None:
    """Send the workers of the Celery engine their periodic work when it is due.

    Two at once are better than one: each slot is done once, whoever sends it.
    """
    settings = settings_of(ctx)
    run_celery(settings, ["beat", "-l", settings.log_level])
