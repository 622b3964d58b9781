"""Fifth step, the price: what the data says against what the page shows, and when nobody can tell."""

from collections.abc import Sequence
from decimal import Decimal

import msgspec

from tidemill.core.record import Strategy
from tidemill.verticals.prices.reading.candidates import PriceCandidates
from tidemill.verticals.prices.reading.claims.claim import PriceClaim
from tidemill.verticals.prices.reading.page_content import PageContent
from tidemill.verticals.prices.reading.product import QuantityTier
from tidemill.verticals.prices.reading.shown.discounts import former_by_discount
from tidemill.verticals.prices.reading.shown.hints import NOT_THE_PRICE, Hint, Hints, hints_before
from tidemill.verticals.prices.reading.shown.own_price import is_blank, is_on_request
from tidemill.verticals.prices.reading.shown.page_layout import PageLayout, names_of
from tidemill.verticals.prices.reading.shown.ranking import FAIR_SCORE, STRONG_SCORE, RankedPrice, crossed_out_price

_AGREEMENT = 0.03
_TIE, _SIDE_BY_SIDE = 0.8, 12


class ChosenPrice(msgspec.Struct, frozen=True, kw_only=True):
    """The price that was chosen, how, and what speaks against it."""

    amount: Decimal
    currency: str
    strategy: Strategy
    confidence: float
    place: str
    list_price: Decimal | None = None
    high: Decimal | None = None
    rivals: tuple[Decimal, ...] = ()


def chosen_price(candidates: PriceCandidates, content: PageContent, *, sells: bool) -> ChosenPrice | None:
    """What one costs; None if nothing on the page says so.

    Data goes first, the best-trusted claim before others. A page that shows another price beats data whose price it
    shows nowhere, or only crossed out. Shown prices alone count only on a page that `sells` something.
    """
    ranked, layout, page_currency = candidates.ranked, content.layout, candidates.currency
    priced = [each for each in candidates.claims if each.price is not None]
    claim = next((each for each in priced if each.price), priced[0] if priced else None)
    best = next((each for each in ranked if not each.aside and each.score >= FAIR_SCORE and _may_be_asked(each)), None)
    if best is not None and _is_withheld(best, content.layout):
        best = None
    if claim is not None and (best is None or _holds_against_page(claim, best, ranked)):
        chosen = _from_claim(claim, ranked, layout, page_currency)
    elif best is not None and (sells or claim is not None):
        chosen = _from_page(best, ranked, layout, claim, page_currency)
    else:
        return None
    return _price_of_one(chosen, content.tiers)


def _is_withheld(best: RankedPrice, layout: PageLayout) -> bool:
    """Whether a shown amount cannot be the price, because the place for that is empty or sends people elsewhere."""
    return is_on_request(layout) or (not best.shown.hints & Hint.PRICE and is_blank(layout))


def _may_be_asked(each: RankedPrice) -> bool:
    """Whether a shown amount can be what one costs: nothing says that it is a former one, a fee, or of more or less."""
    if each.shown.money.quantity > 1 or hints_before(each.shown.label.lower()) & Hint.TIER:
        return False
    return not each.shown.hints & (Hint.OLD | Hint.OTHER_AMOUNT | Hint.UNIT) and not each.shown.money.per


def _holds_against_page(claim: PriceClaim, best: RankedPrice, ranked: Sequence[RankedPrice]) -> bool:
    """Whether a claim holds against the page: it is shown as a price, or nothing shown is surer."""
    if not claim.price:
        return False
    if best.shown.amount in claim.passed_over:
        return True
    matching = [each.shown for each in ranked if each.shown.amount == claim.price and not each.aside]
    if any(not shown.hints & (NOT_THE_PRICE | Hint.OLD) for shown in matching):
        return not (_is_untaxed(matching[0].hints) and best.shown.amount > claim.price and best.score >= STRONG_SCORE)
    if any(shown.hints & Hint.OLD for shown in matching) and best.shown.amount < claim.price:
        return False
    return best.score < STRONG_SCORE


def _is_untaxed(hints: Hints) -> bool:
    return bool(hints & Hint.UNTAXED)


def _from_claim(
    claim: PriceClaim, ranked: Sequence[RankedPrice], layout: PageLayout, page_currency: str
) -> ChosenPrice:
    amount = claim.price or Decimal(0)
    matching = [
        each for each in ranked if each.shown.amount == amount and not each.aside and not each.shown.hints & Hint.OLD
    ]
    from_on = claim.strategy is Strategy.SELECTORS and bool(matching) and all(_is_low_end(each) for each in matching)
    plain = any(each.shown.money.is_plain and each.score >= FAIR_SCORE for each in matching)
    crossed = crossed_out_price(ranked, amount) if matching or not claim.passed_over else None
    crossed = crossed or (former_by_discount(matching[0].shown, ranked, layout) if matching else None)
    shown_currency = next((each.shown.money.currency for each in matching if each.shown.money.currency), "")
    return ChosenPrice(
        amount=amount,
        currency=claim.currency or shown_currency or page_currency,
        strategy=claim.strategy,
        confidence=min(0.99, claim.confidence + (_AGREEMENT if matching else 0.0)),
        place=f"{claim.origin}/{claim.places.get('price', 'price')}",
        list_price=claim.list_price or (crossed.amount if crossed is not None else None),
        high=None if plain else claim.high or (amount if from_on and not claim.passed_over else None),
    )


def _is_low_end(each: RankedPrice) -> bool:
    """Whether a shown price is only where a range begins: `As low as $54.00`."""
    return each.shown.money.is_from or each.shown.money.high is not None


def _from_page(
    best: RankedPrice, ranked: Sequence[RankedPrice], layout: PageLayout, claim: PriceClaim | None, page_currency: str
) -> ChosenPrice:
    rivals = _rivals(best, ranked)
    cheapest = min((best, *rivals), key=lambda each: each.shown.amount)
    former = former_by_discount(cheapest.shown, ranked, layout)
    if former is not None and {each.shown.amount for each in (best, *rivals)} == {cheapest.shown.amount, former.amount}:
        best, rivals, dearest = cheapest, [], None
    elif len(rivals) == 1 and _differ_in_markup(best, rivals[0]):
        lower, higher = sorted((best, rivals[0]), key=lambda each: each.shown.amount)
        best, rivals, dearest = lower, [], higher.shown.amount
    else:
        dearest = None
    shown = best.shown
    crossed = crossed_out_price(ranked, shown.amount) or former
    list_price = crossed.amount if crossed is not None else None
    if (
        list_price is None
        and claim is not None
        and claim.price
        and claim.price > shown.amount
        and claim.origin != "meta"
    ):
        list_price = claim.price if _is_crossed(claim.price, ranked) else None
    return ChosenPrice(
        amount=shown.amount,
        currency=shown.money.currency or (claim.currency if claim is not None else "") or page_currency,
        strategy=Strategy.HEURISTICS,
        confidence=round(min(0.8, 0.35 + best.score / 25), 3),
        place=f"shown: {shown.label[-30:]} {shown.text}".strip(),
        list_price=list_price,
        high=dearest or shown.money.high or (shown.amount if shown.money.is_from else None),
        rivals=tuple(dict.fromkeys(each.shown.amount for each in rivals)),
    )


def _differ_in_markup(one: RankedPrice, other: RankedPrice) -> bool:
    """Whether two prices side by side are made differently: then the lower is asked, though not beyond doubt."""
    return names_of(one.shown.node.attributes) != names_of(other.shown.node.attributes)


def _is_crossed(amount: Decimal, ranked: Sequence[RankedPrice]) -> bool:
    return any(each.shown.amount == amount and each.shown.hints & Hint.OLD for each in ranked)


def _rivals(best: RankedPrice, ranked: Sequence[RankedPrice]) -> list[RankedPrice]:
    """Other prices that nothing tells from the best: with the same hints, side by side with it, and as likely."""
    alike = {
        each.shown.amount: each
        for each in reversed(ranked)
        if not each.aside
        and each.shown.amount != best.shown.amount
        and best.score - each.score < _TIE
        and abs(each.shown.order - best.shown.order) <= _SIDE_BY_SIDE
        and each.shown.hints == best.shown.hints
        and each.shown.money.symbol == best.shown.money.symbol
        and not each.shown.hints & (Hint.OLD | NOT_THE_PRICE)
    }
    return list(alike.values())


def _price_of_one(price: ChosenPrice, tiers: Sequence[QuantityTier]) -> ChosenPrice:
    """The price of the quantity-1 tier, where the one that was chosen is that of a larger quantity."""
    if not tiers or not any(tier.price in {price.amount, *price.rivals} for tier in tiers):
        return price
    single = tiers[0]
    if single.quantity != 1:
        return price
    return msgspec.structs.replace(price, amount=single.price, rivals=(), high=None)
