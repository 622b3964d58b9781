"""`tidemill webhooks`."""

from datetime import timedelta
from typing import Annotated

import msgspec
import typer

from tidemill.cli.system_opening import open_system
from tidemill.core.views.changes import DeliveryDetail, DeliveryView, FeedView, SubscriptionView
from tidemill.operations.mistakes import Mistake
from tidemill.operations.webhooks.actions import Subscribed
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, Limit, command_group
from tidemill.terminal.session import actor, run
from tidemill.terminal.showing import id_text, print_facts, print_json, print_line, print_table, without_control_codes

app = command_group("Tell other programs of changes: subscribe, rotate, test and replay.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The webhook's name.")]
DeliveryId = Annotated[int, typer.Argument(metavar="ID", min=0, help="The delivery's number.")]


@app.command("list")
def list_webhooks(ctx: typer.Context, *, json: AsJson = False) -> None:
    """List who is told of what."""

    async def work() -> list[SubscriptionView]:
        async with open_system(ctx) as system:
            return await system.actions.webhooks.every()

    found = run(work())
    if json:
        print_json(found)
        return
    rows = [(one.name, one.url, one.feed, one.kinds, _filters(one), one.enabled) for one in found]
    print_table(counted(len(found), "webhook"), ["name", "url", "feed", "kinds", "only", "on"], rows)


@app.command("feeds")
def list_feeds(ctx: typer.Context, *, json: AsJson = False) -> None:
    """List what can be subscribed to: feeds, their kinds of change, and what narrows them."""

    async def work() -> list[FeedView]:
        async with open_system(ctx) as system:
            return system.actions.webhooks.feeds()

    found = run(work())
    if json:
        print_json(found)
        return
    rows = [(one.name, kind, line, ", ".join(one.filters)) for one in found for kind, line in one.kinds.items()]
    print_table(counted(len(found), "feed"), ["feed", "kind", "when", "narrowed by"], rows)


@app.command("add")
def add_webhook(
    ctx: typer.Context,
    name: Name,
    url: Annotated[str, typer.Argument(metavar="URL", help="Where notices are sent.")],
    feed: Annotated[str, typer.Option(help="Whose changes: `tidemill webhooks feeds` lists them.")],
    kinds: Annotated[list[str] | None, typer.Option("--kind", help="Only this kind; may be repeated.")] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME=VALUE", help="Only those; may be repeated.")
    ] = None,
    *,
    json: AsJson = False,
) -> None:
    """Tell an address of changes from now on; the secret that signs them is shown this once."""

    async def work() -> Subscribed:
        async with open_system(ctx) as system:
            return await system.actions.webhooks.subscribe(
                name, url, actor(), feed=feed, kinds=kinds or [], only=parse_filters(only or [])
            )

    done = run(work())
    if json:
        print_json(done)
        return
    print_line(f"webhook {name} is told of {', '.join(done.subscription.kinds)} of {feed}")
    print_line(f"its secret, shown only now: {done.secret}")


@app.command("remove")
def remove_webhook(ctx: typer.Context, name: Name) -> None:
    """Tell an address nothing more."""

    async def work() -> SubscriptionView:
        async with open_system(ctx) as system:
            return await system.actions.webhooks.unsubscribe(name, actor())

    print_line(f"webhook {run(work()).name} is removed")


@app.command("pause")
def pause_webhook(ctx: typer.Context, name: Name) -> None:
    """Leave a webhook alone: changes meanwhile are not noted for it."""
    _switch(ctx, name, enabled=False)


@app.command("resume")
def resume_webhook(ctx: typer.Context, name: Name) -> None:
    """Take a paused webhook up again, from now on."""
    _switch(ctx, name, enabled=True)


def _switch(ctx: typer.Context, name: str, *, enabled: bool) -> None:
    async def work() -> SubscriptionView:
        async with open_system(ctx) as system:
            return await system.actions.webhooks.switch(name, actor(), enabled=enabled)

    print_line(f"webhook {run(work()).name} is {'on' if enabled else 'paused'}")


@app.command("rotate")
def rotate_secret(ctx: typer.Context, name: Name, *, json: AsJson = False) -> None:
    """Give a webhook a new secret, shown this once; the old one signs beside it for another day."""

    async def work() -> Subscribed:
        async with open_system(ctx) as system:
            return await system.actions.webhooks.rotate(name, actor())

    done = run(work())
    if json:
        print_json(done)
        return
    print_line(f"the new secret of {name}, shown only now: {done.secret}")
    print_line(f"the old one signs too until {done.subscription.previous_until}")


@app.command("test")
def try_webhook(ctx: typer.Context, name: Name, *, json: AsJson = False) -> None:
    """Send a test notice now, in one try, and tell what came of it."""

    async def work() -> DeliveryView:
        async with open_system(ctx) as system:
            return await system.actions.webhooks.test(name, actor())

    done = run(work())
    if json:
        print_json(done)
        return
    print_line(f"{name}: {done.status}" + (f", {done.last_error}" if done.last_error else ""))
    if done.status != "delivered":
        raise typer.Exit(1)


@app.command("deliveries")
def list_deliveries(
    ctx: typer.Context,
    webhook: Annotated[str | None, typer.Option(help="Only of this webhook.")] = None,
    status: Annotated[str | None, typer.Option(help="Only pending, delivered or failed ones.")] = None,
    limit: Limit = 50,
    *,
    json: AsJson = False,
) -> None:
    """List notices that were or will be sent, the newest first."""

    async def work() -> list[DeliveryView]:
        async with open_system(ctx) as system:
            return await system.actions.webhooks.deliveries(webhook=webhook, status=status, limit=limit)

    found = run(work())
    if json:
        print_json(found)
        return
    rows = [
        (id_text(one.id), one.subscription, one.notice_key, one.status, one.attempts, one.next_attempt_at,
         one.last_error)
        for one in found
    ]  # fmt: skip
    print_table(
        counted(len(found), "delivery", "deliveries"),
        ["id", "webhook", "notice", "status", "tries", "next", "trouble"],
        rows,
    )


@app.command("show")
def show_delivery(ctx: typer.Context, delivery: DeliveryId, *, json: AsJson = False) -> None:
    """Show a delivery: its body, and what came of each try."""

    async def work() -> DeliveryDetail:
        async with open_system(ctx) as system:
            return await system.actions.webhooks.delivery(delivery)

    found = run(work())
    if json:
        print_json(found)
        return
    print_facts(f"Delivery {found.delivery.id}", msgspec.to_builtins(found.delivery))
    print_table(
        counted(len(found.tries), "try", "tries"),
        ["at", "status", "trouble"],
        [(one.at, one.code, one.error) for one in found.tries],
    )
    typer.echo(without_control_codes(msgspec.json.format(msgspec.json.encode(found.body)).decode()))


@app.command("replay")
def replay_deliveries(
    ctx: typer.Context,
    name: Name,
    delivery: Annotated[int | None, typer.Option(min=0, help="Only this delivery.")] = None,
    hours: Annotated[float, typer.Option(min=0, max=10_000, help="All of the last so many hours.")] = 24,
) -> None:
    """Send again what a webhook was told, with the same keys and bodies."""

    async def work() -> int:
        async with open_system(ctx) as system:
            webhooks = system.actions.webhooks
            if delivery is None:
                return await webhooks.replay_since(name, system.clock.now() - timedelta(hours=hours), actor())
            await webhooks.replay(delivery, actor())
            return 1

    print_line(f"{run(work())} notices will be sent again")


@app.command("retry")
def retry_deliveries(ctx: typer.Context) -> None:
    """Try notices again that were given up."""

    async def work() -> int:
        async with open_system(ctx) as system:
            return await system.actions.webhooks.retry(actor())

    print_line(f"{run(work())} notices will be sent again")


def parse_filters(only: list[str]) -> dict[str, str]:
    """Return filters that were written as NAME=VALUE."""
    for each in only:
        if "=" not in each:
            msg = f"write a filter as NAME=VALUE, not {each!r}"
            raise Mistake(msg)
    return dict(each.split("=", 1) for each in only)


def _filters(one: SubscriptionView) -> str:
    return ", ".join(f"{name}={value}" for name, value in one.only.items())
