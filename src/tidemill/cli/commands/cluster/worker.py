"""`tidemill worker`."""

from typing import Annotated

import typer

from tidemill.cli.celery_program import run_celery
from tidemill.cli.system_opening import settings_of
from tidemill.terminal.options import single_command

app = single_command()

QUEUES = "scraping,maintenance,celery"


@app.command()
def worker(
    ctx: typer.Context,
    queues: Annotated[str, typer.Option(help="Queues whose messages this worker takes.")] = QUEUES,
    name: Annotated[str | None, typer.Option(help="What it is called: a name, or name@host.")] = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Ticks and tasks at once.")] = 4,
    *,
    events: Annotated[bool, typer.Option("--events", help="Send events of tasks, as Flower wants them.")] = False,
) -> None:
    """Run a worker of the Celery engine: it takes jobs from the database, woken over the broker.

    The first Ctrl-C finishes what is in hand and ends, the second ends at once; nothing is lost either way.
    """
    settings = settings_of(ctx, **({} if name is None else {"worker_name": name}))
    words = ["worker", "-P", "threads", "-c", str(threads), "-Q", queues, "--without-mingle", "--without-gossip"]
    words += ["-l", settings.log_level]
    words += [] if name is None else ["-n", name if "@" in name else f"{name}@%h"]
    run_celery(settings, [*words, *(["-E"] if events else [])])
