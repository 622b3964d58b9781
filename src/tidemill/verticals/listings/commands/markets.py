"""`tidemill markets`."""

from typing import Annotated, Any

import typer

from tidemill.operations.runs import Started
from tidemill.terminal.counting import counted
from tidemill.terminal.options import AsJson, command_group
from tidemill.terminal.run_report import report_started
from tidemill.terminal.session import actor, open_system, run
from tidemill.terminal.showing import id_text, print_json, print_line, print_table
from tidemill.verticals.listings.market import Market
from tidemill.verticals.listings.parts import ListingsParts
from tidemill.verticals.listings.views import MarketShare

app = command_group("List, add, change and scrape markets: cities and their homes for rent.")
Which = Annotated[str, typer.Argument(metavar="ID", help="The market's id, such as nyc.")]
Tier = Annotated[str | None, typer.Option(help="hot (every 6 h), standard (12 h) or cool (24 h).")]
Hours = Annotated[int | None, typer.Option(help="Hours between two scrapes, instead of the tier's.")]
Most = Annotated[int | None, typer.Option("--max-listings", help="Homes taken at a time.")]

Country = Annotated[str, typer.Option(help="Two letters, such as DE.")]
Currency = Annotated[str, typer.Option(help="What its rents are in, such as EUR.")]
Area = Annotated[
    list[str] | None, typer.Option("--area", help="A town, or the beginning of postal codes, that belongs to it.")
]


@app.command("list")
def list_markets(ctx: typer.Context, *, json: AsJson = False) -> None:
    """List markets: how often each is scraped, how that went, and how many homes readers see."""

    async def work() -> tuple[list[Market], dict[str, MarketShare]]:
        async with open_system(ctx) as system:
            shares = await system.part(ListingsParts).store.views.by_market(system.clock.now())
            return await system.part(ListingsParts).markets.every(), {share.market_id: share for share in shares}

    markets, shares = run(work())
    if json:
        print_json(markets)
        return
    rows = [_row(market, shares.get(market.id)) for market in markets]
    columns = ["id", "city", "tier", "every", "on", "homes", "visible", "failures", "last", "scraped"]
    print_table(counted(len(markets), "market"), columns, rows, right=["every", "homes", "visible", "failures"])


def _rhythm(market: Market) -> str:
    return f"every {market.every.total_seconds() / 3600:g} h"


def _row(market: Market, share: MarketShare | None) -> tuple[Any, ...]:
    every = f"{market.every.total_seconds() / 3600:g} h"
    homes, visible = (share.active, share.visible) if share else (0, 0)
    city = ", ".join(filter(None, (market.city, market.state)))
    return (id_text(market.id), city, market.tier, every, market.enabled, homes, visible,
            market.consecutive_failures, market.last_scrape_status, market.last_scrape_at)  # fmt: skip


@app.command("add")
def add_market(
    ctx: typer.Context,
    which: Which,
    city: Annotated[str, typer.Argument(metavar="CITY", help="As its sites spell it.")],
    state: Annotated[str, typer.Argument(metavar="[REGION]", help="Two letters in the US; elsewhere a name.")] = "",
    name: Annotated[str | None, typer.Option(help="How readers know it; the city's name by default.")] = None,
    tier: Tier = None,
    hours: Hours = None,
    max_listings: Most = None,
    *,
    country: Country = "US",
    currency: Currency = "USD",
    area: Area = None,
) -> None:
    """Add a city of any country; sources that cover all markets cover it from now on."""

    async def work() -> Market:
        options = _chosen(tier=tier, frequency_hours=hours, max_listings=max_listings)
        region = state.upper() if country.upper() == "US" else state
        market = Market(
            id=which, display_name=name or city, city=city, state=region, country=country.upper(),
            currency=currency.upper(), area=tuple(area or ()), **options,
        )  # fmt: skip
        async with open_system(ctx) as system:
            return await system.part(ListingsParts).markets.add(market, actor())

    added = run(work())
    where = ", ".join(filter(None, (added.city, added.state, added.country)))
    print_line(f"added market {added.id}: {where}, rents in {added.currency}, {_rhythm(added)}")


@app.command("change")
def change_market(
    ctx: typer.Context,
    which: Which,
    tier: Tier = None,
    hours: Hours = None,
    max_listings: Most = None,
    area: Area = None,
) -> None:
    """Change how often a market is scraped, how many homes are taken at a time, or what belongs to it."""
    belongs = None if area is None else tuple(area)
    _apply(ctx, which, _chosen(tier=tier, frequency_hours=hours, max_listings=max_listings, area=belongs))


@app.command("enable")
def enable_market(ctx: typer.Context, which: Which) -> None:
    """Take a market up again."""
    _apply(ctx, which, {"enabled": True})


@app.command("disable")
def disable_market(ctx: typer.Context, which: Which) -> None:
    """Leave a market alone; its homes stay, and age."""
    _apply(ctx, which, {"enabled": False})


@app.command("remove")
def remove_market(ctx: typer.Context, which: Which) -> None:
    """Remove a market that no home belongs to; one with homes can only be switched off."""

    async def work() -> Market:
        async with open_system(ctx) as system:
            return await system.part(ListingsParts).markets.remove(which, actor())

    removed = run(work())
    print_line(f"removed market {removed.id}; its addresses are no longer scraped")


@app.command("run")
def run_market(ctx: typer.Context, which: Which, *, json: AsJson = False) -> None:
    """Enqueue a scrape of a market now, from every source that covers it."""

    async def work() -> Started:
        async with open_system(ctx) as system:
            return await system.part(ListingsParts).markets.scrape(which, actor())

    raise typer.Exit(report_started(run(work()), as_json=json))


def _apply(ctx: typer.Context, which: str, changes: dict[str, Any]) -> None:
    async def work() -> Market:
        async with open_system(ctx) as system:
            return await system.part(ListingsParts).markets.change(which, changes, actor())

    market = run(work())
    state = "on" if market.enabled else "off"
    print_line(f"market {market.id} is {state}: tier {market.tier}, every {market.every.total_seconds() / 3600:g} h")


def _chosen(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
