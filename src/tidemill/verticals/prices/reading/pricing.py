"""Choosing the price: what the data says against what the page shows, and when nobody can tell."""

from collections.abc import Sequence
from decimal import Decimal

import msgspec

from tidemill.core.record import Strategy
from tidemill.verticals.prices.reading.claims import PriceClaim
from tidemill.verticals.prices.reading.discounts import former_by_discount
from tidemill.verticals.prices.reading.landmarks import Landmarks, names_of
from tidemill.verticals.prices.reading.marks import REFUSED, Mark, Marks
from tidemill.verticals.prices.reading.product import QuantityTier
from tidemill.verticals.prices.reading.ranking import FAIR, STRONG, Ranked, struck

_AGREEMENT = 0.03
_TIE, _SIDE_BY_SIDE = 0.8, 12


class ChosenPrice(msgspec.Struct, frozen=True, kw_only=True):
    """The price that was chosen, how, and what speaks against it."""

    amount: Decimal
    currency: str
    strategy: Strategy
    confidence: float
    place: str
    listed: Decimal | None = None
    high: Decimal | None = None
    rivals: tuple[Decimal, ...] = ()


def chosen_price(
    claims: Sequence[PriceClaim],
    rated: Sequence[Ranked],
    tiers: Sequence[QuantityTier],
    found: Landmarks,
    *,
    sells: bool,
    near: str,
) -> ChosenPrice | None:
    """What one costs; None if nothing on the page says so.

    Data goes first, the best-trusted claim before others. A page that shows another price beats data whose price it
    shows nowhere, or only crossed out. Shown prices alone count only on a page that `sells` something.
    """
    priced = [each for each in claims if each.price is not None]
    claim = next((each for each in priced if each.price), priced[0] if priced else None)
    best = next((each for each in rated if not each.aside and each.weight >= FAIR), None)
    if claim is not None and (best is None or _stands(claim, best, rated)):
        chosen = _of_claim(claim, rated, found, near)
    elif best is not None and (sells or claim is not None):
        chosen = _of_page(best, rated, found, claim, near)
    else:
        return None
    return _for_one(chosen, tiers)


def _stands(claim: PriceClaim, best: Ranked, rated: Sequence[Ranked]) -> bool:
    """Whether a claim holds against the page: it is shown as a price, or nothing shown is surer."""
    if not claim.price:
        return False
    shown = [each.spot for each in rated if each.spot.amount == claim.price and not each.aside]
    if any(not spot.marks & (REFUSED | Mark.OLD) for spot in shown):
        return not (_is_untaxed(shown[0].marks) and best.spot.amount > claim.price and best.weight >= STRONG)
    if any(spot.marks & Mark.OLD for spot in shown) and best.spot.amount < claim.price:
        return False
    return best.weight < STRONG


def _is_untaxed(marks: Marks) -> bool:
    return bool(marks & Mark.UNTAXED)


def _of_claim(claim: PriceClaim, rated: Sequence[Ranked], found: Landmarks, near: str) -> ChosenPrice:
    amount = claim.price or Decimal(0)
    shown = [each for each in rated if each.spot.amount == amount and not each.aside and not each.spot.marks & Mark.OLD]
    plain = any(each.spot.money.is_plain and each.weight >= FAIR for each in shown)
    crossed = struck(rated, amount) or (former_by_discount(shown[0].spot, rated, found) if shown else None)
    told = next((each.spot.money.currency for each in shown if each.spot.money.currency), "")
    return ChosenPrice(
        amount=amount,
        currency=claim.currency or told or near,
        strategy=claim.strategy,
        confidence=min(0.99, claim.sure + (_AGREEMENT if shown else 0.0)),
        place=f"{claim.origin}/{claim.places.get('price', 'price')}",
        listed=claim.list_price or (crossed.amount if crossed is not None else None),
        high=None if plain else claim.high,
    )


def _of_page(
    best: Ranked, rated: Sequence[Ranked], found: Landmarks, claim: PriceClaim | None, near: str
) -> ChosenPrice:
    rivals = _rivals(best, rated)
    cheapest = min((best, *rivals), key=lambda each: each.spot.amount)
    former = former_by_discount(cheapest.spot, rated, found)
    if former is not None and {each.spot.amount for each in (best, *rivals)} == {cheapest.spot.amount, former.amount}:
        best, rivals, dearest = cheapest, [], None
    elif len(rivals) == 1 and _differ_in_make(best, rivals[0]):
        lower, higher = sorted((best, rivals[0]), key=lambda each: each.spot.amount)
        best, rivals, dearest = lower, [], higher.spot.amount
    else:
        dearest = None
    spot = best.spot
    crossed = struck(rated, spot.amount) or former
    listed = crossed.amount if crossed is not None else None
    if listed is None and claim is not None and claim.price and claim.price > spot.amount and claim.origin != "meta":
        listed = claim.price if _is_crossed(claim.price, rated) else None
    return ChosenPrice(
        amount=spot.amount,
        currency=spot.money.currency or (claim.currency if claim is not None else "") or near,
        strategy=Strategy.HEURISTICS,
        confidence=round(min(0.8, 0.35 + best.weight / 25), 3),
        place=f"shown: {spot.label[-30:]} {spot.text}".strip(),
        listed=listed,
        high=dearest or spot.money.high or (spot.amount if spot.money.is_from else None),
        rivals=tuple(dict.fromkeys(each.spot.amount for each in rivals)),
    )


def _differ_in_make(one: Ranked, other: Ranked) -> bool:
    """Whether two prices side by side are made differently: then the lower is asked, though not beyond doubt."""
    return names_of(one.spot.node.attributes) != names_of(other.spot.node.attributes)


def _is_crossed(amount: Decimal, rated: Sequence[Ranked]) -> bool:
    return any(each.spot.amount == amount and each.spot.marks & Mark.OLD for each in rated)


def _rivals(best: Ranked, rated: Sequence[Ranked]) -> list[Ranked]:
    """Other prices that nothing tells from the best: with the same marks, side by side with it, and as likely."""
    alike = {
        each.spot.amount: each
        for each in reversed(rated)
        if not each.aside
        and each.spot.amount != best.spot.amount
        and best.weight - each.weight < _TIE
        and abs(each.spot.order - best.spot.order) <= _SIDE_BY_SIDE
        and each.spot.marks == best.spot.marks
        and each.spot.money.symbol == best.spot.money.symbol
        and not each.spot.marks & (Mark.OLD | REFUSED)
    }
    return list(alike.values())


def _for_one(price: ChosenPrice, tiers: Sequence[QuantityTier]) -> ChosenPrice:
    """The price of the quantity-1 tier, where the one that was chosen is that of a larger quantity."""
    if not tiers or not any(tier.price in {price.amount, *price.rivals} for tier in tiers):
        return price
    single = tiers[0]
    if single.quantity != 1:
        return price
    return msgspec.structs.replace(price, amount=single.price, rivals=(), high=None)
