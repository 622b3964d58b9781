"""Scores the reading of product pages and of the pieces that they are made of.

`products/**/*.expected.json` beside their `.html`: `url`, and lists of accepted values of price, sku, availability,
gtin, currency and brand. `prices/price_strings.json`, `prices/gtin.json` and `prices/snippets.json`: lists of `input`
and `expected`.
"""

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tidemill.operations.scoring.score import BOTH, Score, Tally, confidence_band, expectations_in, half_of, listed_in
from tidemill.reading import parse_money, scheme_of
from tidemill.reading.currencies import currency_code
from tidemill.verticals.prices.reading import NoOffer, Product, read_product

_FIELDS = ("price", "currency", "sku", "gtin", "brand", "availability")
_GONE = "outofstock"
_EDGES = (0.0, 0.5, 0.85)
"""Bands of confidence: below the floor, told by what the page shows, told by its data."""
_OF_THREE_DECIMALS = frozenset({"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"})


def product_scores(folder: Path) -> list[Score]:
    """Fields of saved product pages, right by confidence; then price strings, identifiers and snippets."""
    tally, sure = Tally(), Tally()
    for page, expected in expectations_in(folder, "products"):
        half = half_of(shop_of(expected["url"]))
        answer = read_product(page.read_text("utf-8", "replace"), expected["url"])
        _score_fields("products", answer, expected, half, tally)
        if isinstance(answer, Product):
            band = confidence_band(answer.confidence, _EDGES)
            accepted = expected.get("price", [])
            alike = [*accepted, *(_as_thousands(value, answer.currency) for value in accepted)]
            right = is_accepted("price", str(answer.price), alike)
            sure.add(f"confidence of products {band}: right price", BOTH, right=right)
    _score_strings(folder, tally)
    for case in listed_in(folder, "prices", "snippets.json"):
        answer = read_product(case["input"]["html"], case["input"]["url"])
        _score_fields("product snippets", answer, case["expected"], half_of(case["id"]), tally)
    return [*tally.scores(), *sorted(sure.scores(), key=lambda score: score.what)]


def _score_fields(what: str, answer: Product | NoOffer, expected: dict[str, Any], half: str, tally: Tally) -> None:
    product = answer.product if isinstance(answer, NoOffer) else answer
    for field in _FIELDS:
        accepted = expected.get(field)
        if not accepted:
            continue
        read = answer.price if field == "price" else getattr(product, field)
        given = "" if read is None or read == "UNKNOWN" else str(read)
        tally.add(f"{what}: {field}", half, right=is_accepted(field, given, accepted), read=bool(given))
        if field == "price":
            alike = [*accepted, *(_as_thousands(value, product.currency) for value in accepted)]
            what_allowed = f"{what}: price, a thousands point for what it is"
            tally.add(what_allowed, half, right=is_accepted(field, given, alike), read=bool(given))
        if field == "availability":
            wanted, gone = any(_plain(value) == _GONE for value in accepted), _plain(given) == _GONE
            tally.add(f"{what}: out of stock", half, right=wanted and gone, read=gone, of=wanted)


def is_accepted(field: str, given: str, accepted: list[str]) -> bool:
    """Whether a value is one of those that are accepted: prices by amount, words and numbers by their characters."""
    if not given:
        return False
    if field == "price":
        return any(_amount(value) == Decimal(given) for value in accepted)
    if field == "currency":
        return any(currency_code(value, page_currency=given) == given for value in accepted)
    return any(_plain(value) == _plain(given) for value in accepted)


def _amount(value: str) -> Decimal | None:
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return None


def _as_thousands(value: str, currency: str) -> str:
    """An expected price that took the point of `23.450` for a decimal one, as the thousands that the shop means."""
    amount = _amount(value)
    if amount is None or amount == amount.to_integral_value() or currency in _OF_THREE_DECIMALS:
        return str(value)
    return str(amount * 1000)


def _plain(value: str) -> str:
    return "".join(letter for letter in str(value).casefold() if letter.isalnum())


def shop_of(url: str) -> str:
    """The shop's registered name, near enough: the label before its ending, so that its countries stay together."""
    labels = (urlsplit(url).hostname or "").split(".")
    return max(labels[:-1], key=len, default="")


def _score_strings(folder: Path, tally: Tally) -> None:
    for case in listed_in(folder, "prices", "price_strings.json"):
        given, wanted = case["input"], case["expected"]["amount"]
        money = parse_money(
            given["price"],
            given["currency_hint"] or "",
            decimal_separator=given["decimal_separator"],
            digit_group_separator=given["digit_group_separator"],
        )
        right = wanted is not None and money is not None and money.amount == Decimal(wanted)
        of = wanted is not None
        tally.add("price strings: amount", half_of(case["id"]), right=right, read=money is not None, of=of)
    for case in listed_in(folder, "prices", "gtin.json"):
        scheme = scheme_of(case["input"])
        right = scheme is not None and scheme == case["expected"]
        of = case["expected"] is not None
        tally.add("identifiers: kind", half_of(case["id"]), right=right, read=scheme is not None, of=of)
