"""`tidemill prices`."""

from typing import Annotated

import typer

from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, Limit, Source, command_group
from tidemill.terminal.session import actor, open_system, run
from tidemill.terminal.showing import id_text, print_json, print_line, print_table
from tidemill.verticals.prices.parts import PricesParts
from tidemill.verticals.prices.views import (
    LinkView,
    LowestView,
    OfferFilter,
    OfferView,
    PricePoint,
    ProductFilter,
    ProductView,
)

app = command_group("Look at products, offers and prices; link offers to products.")

Offer = Annotated[int, typer.Argument(metavar="OFFER", help="The offer's number.")]
Product = Annotated[int, typer.Argument(metavar="PRODUCT", help="The product's number.")]
Words = Annotated[str | None, typer.Option(help="Only with this in the title.")]


def money(cents: int | None, currency: str = "") -> str:
    """An amount as people write it; what has no cents is written the same way."""
    return "-" if cents is None else f"{cents / 100:.2f} {currency}".strip()


@app.command("products")
def list_products(ctx: typer.Context, text: Words = None, limit: Limit = 50, *, json: AsJson = False) -> None:
    """List products that readers may see, with the lowest price in stock."""

    async def work() -> list[ProductView]:
        async with open_system(ctx) as system:
            return await system.part(PricesParts).store.views.products(ProductFilter(text=text), limit=limit)

    found = run(work())
    if json:
        print_json(found)
        return
    rows = [(id_text(one.id), one.title, one.brand, one.offers, one.in_stock, money(one.lowest_cents)) for one in found]
    print_table(
        counted(len(found), "product"),
        ["id", "title", "brand", "offers", "in stock", "from"],
        rows,
        right=["id", "from"],
    )


@app.command("offers")
def list_offers(
    ctx: typer.Context, source: Source = None, text: Words = None, limit: Limit = 50, *, json: AsJson = False
) -> None:
    """List what shops ask now, as readers see it."""

    async def work() -> tuple[list[OfferView], list[str]]:
        async with open_system(ctx) as system:
            views = system.part(PricesParts).store.views
            found = await views.offers(OfferFilter(source=source, text=text), limit=limit)
            return found, await views.hidden_sources()

    found, hidden = run(work())
    if json:
        print_json(found)
        return
    rows = [
        (
            id_text(one.id),
            one.source_name,
            one.title,
            money(one.price_cents, one.currency),
            one.availability,
            one.observed_at,
        )
        for one in found
    ]
    print_table(
        counted(len(found), "offer"), ["id", "source", "title", "price", "stock", "read"], rows, right=["id", "price"]
    )
    if hidden and (source is None or source in hidden):
        print_line(
            f"Not shown, because nobody has made them eligible for readers: {', '.join(hidden[:5])}"
            f"{f' and {len(hidden) - 5} more' if len(hidden) > 5 else ''}. "  # noqa: PLR2004 - as many as fit a line
            "Write `visibility: eligible` in their sources file and import it again."
        )


@app.command("history")
def show_history(
    ctx: typer.Context,
    offer: Offer,
    limit: Limit = 100,
    *,
    raw: Annotated[bool, typer.Option("--raw", help="As pages said it, without corrections.")] = False,
    json: AsJson = False,
) -> None:
    """Show the prices that one shop asked for one product, oldest first."""

    async def work() -> list[PricePoint]:
        async with open_system(ctx) as system:
            return await system.part(PricesParts).store.views.history([offer], limit=limit, corrected=not raw)

    found = run(work())
    if json:
        print_json(found)
        return
    rows = [
        (
            id_text(one.id),
            one.observed_at,
            money(one.price_cents, one.currency),
            one.availability,
            one.corrected,
            id_text(one.run_id),
        )
        for one in found
    ]
    print_table(
        counted(len(found), "price"), ["id", "read", "price", "stock", "corrected", "run"], rows, right=["id", "price"]
    )


@app.command("lowest")
def show_lowest(ctx: typer.Context, product: Product, *, json: AsJson = False) -> None:
    """Show the lowest price of a product per currency: now and in stock, and ever."""

    async def work() -> list[LowestView]:
        async with open_system(ctx) as system:
            return await system.part(PricesParts).store.views.lowest(product)

    found = run(work())
    if json:
        print_json(found)
        return
    rows = [
        (one.currency, money(one.now.price_cents) if one.now else None, one.now.source_name if one.now else None,
         money(one.ever_cents), one.ever_at)
        for one in found
    ]  # fmt: skip
    print_table("Lowest prices", ["currency", "now", "at", "ever", "read"], rows, right=["now", "ever"])


@app.command("review")
def list_review(ctx: typer.Context, limit: Limit = 50, *, json: AsJson = False) -> None:
    """List the offers that the resolver could not link to a product, with why."""

    async def work() -> list[LinkView]:
        async with open_system(ctx) as system:
            return await system.part(PricesParts).links.review(limit=limit)

    found = run(work())
    if json:
        print_json(found)
        return
    rows = [
        (id_text(one.source_product_id), one.source_name, one.title, one.upc, one.reason, one.detail) for one in found
    ]
    print_table(
        counted(len(found), "offer"), ["offer", "source", "title", "UPC", "reason", "detail"], rows, right=["offer"]
    )


@app.command("link")
def link_offer(ctx: typer.Context, offer: Offer, product: Product) -> None:
    """Say which product an offer stands for; that outlasts the resolver's word."""

    async def work() -> LinkView:
        async with open_system(ctx) as system:
            return await system.part(PricesParts).links.link(offer, product, actor())

    done = run(work())
    print_line(f"offer {offer} stands for product {done.product_id}, {done.product_title}")


@app.command("unlink")
def unlink_offer(ctx: typer.Context, offer: Offer) -> None:
    """Keep an offer apart from every product."""

    async def work() -> LinkView:
        async with open_system(ctx) as system:
            return await system.part(PricesParts).links.unlink(offer, actor())

    run(work())
    print_line(f"offer {offer} stands for no product")


@app.command("new-product")
def new_product(ctx: typer.Context, offer: Offer) -> None:
    """Make a product of an offer that stands for none yet."""

    async def work() -> LinkView:
        async with open_system(ctx) as system:
            return await system.part(PricesParts).links.new_product(offer, actor())

    print_line(f"offer {offer} stands for the new product {run(work()).product_id}")
