"""What a shop sells, and what is true of it at any moment: its price, its sale, its stock."""

from datetime import datetime, timedelta

import msgspec

from tidemill.lab.dice import dice

_BRANDS = ("Harrow", "Northgate", "Federal Bay", "Prairie Arms", "Blue Ridge", "Lakeshore", "Ironwood", "Summit")
_LOADS = (
    ("9mm Luger", "115 Grain FMJ", "Brass", 50, 1495),
    (".45 ACP", "230 Grain FMJ", "Brass", 50, 2595),
    ("5.56 NATO", "62 Grain FMJ", "Brass", 20, 1095),
    (".223 Remington", "55 Grain HP", "Steel", 20, 895),
    (".308 Winchester", "168 Grain BTHP", "Brass", 20, 2795),
    (".22 LR", "40 Grain LRN", "Brass", 500, 3495),
    (".380 ACP", "95 Grain JHP", "Nickel", 25, 2195),
    ("7.62x39", "123 Grain FMJ", "Steel", 20, 1195),
)
_USUAL_STEP = timedelta(hours=18)
_SALE, _GONE = 0.2, 0.06
_TIERED, _VARIED, _SHY, _LEAVING = 4, 9, 13, 21
"""Which of a shop's goods have quantity tiers, come in sizes, hide their price when sold out, or are discontinued."""


class Goods(msgspec.Struct, frozen=True, kw_only=True):
    """One product of a shop; `price_cents` is what it costs on an ordinary day."""

    number: int
    sku: str
    title: str
    brand: str
    caliber: str
    rounds: int
    upc: str
    price_cents: int
    has_tiers: bool = False
    has_sizes: bool = False
    hides_price: bool = False
    leaves: bool = False

    @property
    def slug(self) -> str:
        """Its name in addresses."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.title.lower()).split())


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What is true of a product at a moment, whatever its shop manages to show of it."""

    price_cents: int
    list_price_cents: int | None = None
    in_stock: bool = True
    discontinued: bool = False


def catalogue(seed: int, host: str, count: int) -> tuple[Goods, ...]:
    """A shop's goods: the same for the same seed and host."""
    return tuple(_one(seed, host, number) for number in range(count))


def state_at(goods: Goods, seed: int, host: str, start: datetime, moment: datetime, step: timedelta) -> State:
    """The product at `moment`: its price moves once a `step` (of its own length), and now and then it is sold out."""
    draw = dice(seed, host, goods.number, "pace")
    own = (step or _USUAL_STEP) * draw.uniform(0.6, 1.6)
    passed = max(0, int((moment - start) / own))
    now = dice(seed, host, goods.number, passed)
    ordinary = max(99, round(goods.price_cents * now.uniform(0.94, 1.08) / 10) * 10 + 5)
    on_sale = now.random() < _SALE
    discontinued = goods.leaves and passed > 3  # noqa: PLR2004 - not from the beginning
    return State(
        price_cents=round(ordinary * now.uniform(0.7, 0.9)) if on_sale else ordinary,
        list_price_cents=ordinary if on_sale else None,
        in_stock=not (goods.hides_price and passed % 2) and now.random() > _GONE,
        discontinued=discontinued,
    )


def _one(seed: int, host: str, number: int) -> Goods:
    draw = dice(seed, host, "goods", number)
    caliber, load, case, rounds, cents = _LOADS[number % len(_LOADS)]
    brand = draw.choice(_BRANDS)
    count = rounds * draw.choice((1, 1, 2, 10))
    return Goods(
        number=number,
        sku=f"{brand[:3].upper()}-{number:03}",
        title=f"{count} Rounds - {caliber} {load} {case} Case by {brand}",
        brand=brand,
        caliber=caliber,
        rounds=count,
        upc=_with_check_digit(f"{draw.randrange(10**11):011}"),
        price_cents=cents * count // rounds,
        has_tiers=number % 24 == _TIERED,
        has_sizes=number % 24 == _VARIED,
        hides_price=number % 24 == _SHY,
        leaves=number % 24 == _LEAVING,
    )


def _with_check_digit(digits: str) -> str:
    total = sum(int(digit) * (1 if place % 2 else 3) for place, digit in enumerate(reversed(digits)))
    return f"{digits}{-total % 10}"
