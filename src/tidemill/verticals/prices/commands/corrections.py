"""`tidemill corrections`."""

from typing import Annotated

import typer

from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, Limit, command_group
from tidemill.terminal.session import actor, open_system, run
from tidemill.terminal.showing import id_text, print_json, print_line, print_table
from tidemill.verticals.prices.commands.prices import money
from tidemill.verticals.prices.parts import PricesParts
from tidemill.verticals.prices.views import CorrectionView

app = command_group("Correct or ignore prices; the prices themselves never change.")

Price = Annotated[int, typer.Argument(metavar="PRICE", help="The price's number, as `prices history` shows it.")]
Why = Annotated[str, typer.Option("--reason", help="Why; kept with the correction.")]


@app.command("list")
def list_corrections(ctx: typer.Context, limit: Limit = 50, *, json: AsJson = False) -> None:
    """List what people said about prices, the newest first."""

    async def work() -> list[CorrectionView]:
        async with open_system(ctx) as system:
            return await system.part(PricesParts).corrections.every(limit=limit)

    found = run(work())
    if json:
        print_json(found)
        return
    rows = [
        (id_text(one.id), id_text(one.price_id), one.title, one.kind, money(one.raw_cents, one.raw_currency),
         money(one.price_cents, one.currency or ""), one.reason, one.made_by)
        for one in found
    ]  # fmt: skip
    print_table(
        counted(len(found), "correction"), ["id", "price", "title", "said", "was read", "is", "because", "by"], rows
    )


@app.command("correct")
def correct_price(
    ctx: typer.Context,
    price: Price,
    cents: Annotated[int, typer.Argument(metavar="CENTS", help="The right amount, in cents.")],
    reason: Why,
    currency: Annotated[str | None, typer.Option(help="The right currency, if that was wrong too.")] = None,
) -> None:
    """Show readers another amount in a price's place."""

    async def work() -> CorrectionView:
        async with open_system(ctx) as system:
            return await system.part(PricesParts).corrections.correct(price, cents, actor(), reason, currency)

    done = run(work())
    print_line(f"readers see {money(done.price_cents, done.currency or done.raw_currency)} for price {price}")


@app.command("ignore")
def ignore_price(
    ctx: typer.Context,
    reason: Why,
    price: Annotated[int | None, typer.Argument(metavar="[PRICE]", help="The price's number.")] = None,
    of_run: Annotated[int | None, typer.Option("--run", metavar="RUN", help="Every price of this run.")] = None,
) -> None:
    """Let no reader see a price, or any price of a run."""
    if (price is None) == (of_run is None):
        msg = "name a price, or a run with --run"
        raise typer.BadParameter(msg)

    async def work() -> int:
        async with open_system(ctx) as system:
            if of_run is not None:
                return await system.part(PricesParts).corrections.ignore_run(of_run, actor(), reason)
            await system.part(PricesParts).corrections.ignore(price or 0, actor(), reason)
            return 1

    print_line(f"{run(work())} prices are ignored")


@app.command("revoke")
def revoke_correction(ctx: typer.Context, price: Price, reason: Why) -> None:
    """Let a price stand as it was read, whatever was said about it before."""

    async def work() -> CorrectionView:
        async with open_system(ctx) as system:
            return await system.part(PricesParts).corrections.revoke(price, actor(), reason)

    done = run(work())
    print_line(f"price {price} stands as it was read: {money(done.raw_cents, done.raw_currency)}")
