"""`tidemill webhooks`."""

from typing import Annotated

import typer

from tidemill.terminal.options import AsJson, Limit, command_group
from tidemill.terminal.session import actor, open_system, run
from tidemill.terminal.showing import id_text, print_json, print_line, print_table
from tidemill.verticals.prices.notices import NoticeKind
from tidemill.verticals.prices.parts import PricesParts
from tidemill.verticals.prices.views import DeliveryView, SubscriptionView
from tidemill.verticals.prices.webhooks import Subscribed

app = command_group("Tell other programs of prices that fall and stock that is back.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The webhook's name.")]


@app.command("list")
def list_webhooks(ctx: typer.Context, *, json: AsJson = False) -> None:
    """List who is told of what."""

    async def work() -> list[SubscriptionView]:
        async with open_system(ctx) as system:
            return await system.part(PricesParts).webhooks.every()

    found = run(work())
    if json:
        print_json(found)
        return
    rows = [
        (one.name, one.url, one.kinds, id_text(one.product_id), one.least_drop_percent, one.enabled) for one in found
    ]
    print_table(f"{len(found)} webhooks", ["name", "url", "kinds", "product", "least drop %", "on"], rows)


@app.command("add")
def add_webhook(
    ctx: typer.Context,
    name: Name,
    url: Annotated[str, typer.Argument(metavar="URL", help="Where notices are sent.")],
    kinds: Annotated[list[NoticeKind] | None, typer.Option("--kind", help="Only this; may be repeated.")] = None,
    product: Annotated[int | None, typer.Option(help="Only of this product.")] = None,
    least_drop: Annotated[float, typer.Option("--least-drop", min=0, max=100, help="Percent a price must fall.")] = 0,
    *,
    json: AsJson = False,
) -> None:
    """Tell an address of changes from now on; the secret that signs them is shown this once."""

    async def work() -> Subscribed:
        async with open_system(ctx) as system:
            wanted = [kind.value for kind in kinds or []]
            return await system.part(PricesParts).webhooks.subscribe(
                name, url, actor(), kinds=wanted, product_id=product, least_drop_percent=least_drop
            )

    done = run(work())
    if json:
        print_json(done)
        return
    print_line(f"webhook {name} is told of {', '.join(done.subscription.kinds)}")
    print_line(f"its secret, shown only now: {done.secret}")


@app.command("remove")
def remove_webhook(ctx: typer.Context, name: Name) -> None:
    """Tell an address nothing more."""

    async def work() -> SubscriptionView:
        async with open_system(ctx) as system:
            return await system.part(PricesParts).webhooks.unsubscribe(name, actor())

    print_line(f"webhook {run(work()).name} is removed")


@app.command("deliveries")
def list_deliveries(
    ctx: typer.Context,
    status: Annotated[str | None, typer.Option(help="Only pending, delivered or failed ones.")] = None,
    limit: Limit = 50,
    *,
    json: AsJson = False,
) -> None:
    """List notices that were or will be sent, the newest first."""

    async def work() -> list[DeliveryView]:
        async with open_system(ctx) as system:
            return await system.part(PricesParts).webhooks.deliveries(status=status, limit=limit)

    found = run(work())
    if json:
        print_json(found)
        return
    rows = [
        (
            id_text(one.id),
            one.subscription,
            one.notice_key,
            one.status,
            one.attempts,
            one.next_attempt_at,
            one.last_error,
        )
        for one in found
    ]
    print_table(f"{len(found)} deliveries", ["id", "webhook", "notice", "status", "tries", "next", "trouble"], rows)


@app.command("retry")
def retry_deliveries(ctx: typer.Context) -> None:
    """Try notices again that were given up."""

    async def work() -> int:
        async with open_system(ctx) as system:
            return await system.part(PricesParts).webhooks.retry(actor())

    print_line(f"{run(work())} notices will be sent again")
