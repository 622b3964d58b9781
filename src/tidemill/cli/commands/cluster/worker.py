"""`tidemill worker`."""

import os
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
    lane: Annotated[
        list[str] | None, typer.Option(metavar="LANE", help="http, browser or live: whose jobs it takes.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=64, help="Ticks and tasks at once.")] = 4,
    *,
    events: Annotated[bool, typer.Option("--events", help="Send events of tasks, as Flower wants them.")] = False,
) -> None:
    """Run a worker of the Celery engine: it takes jobs from the database, woken over the broker.

    The first Ctrl-C finishes what is in hand and ends, the second ends at once; nothing is lost either way.
    """
    chosen = {"worker_name": name, "lanes": lane}
    settings = settings_of(ctx, **{key: value for key, value in chosen.items() if value not in (None, [])})
    words = ["worker", "-P", "threads", "-c", str(threads), "-Q", queues, "--without-mingle", "--without-gossip"]
    words += ["-l", settings.log_level]
    words += ["-n", node_name(settings.worker_name)]
    run_celery(settings, [*words, *(["-E"] if events else [])])


def node_name(name: str | None) -> str:
    """Return what Celery calls this worker: two of one name on a machine would answer `celery inspect` as one."""
    plain = f"worker-{os.getpid()}" if name is None else name
    return plain if "@" in plain else f"{plain}@%h"
