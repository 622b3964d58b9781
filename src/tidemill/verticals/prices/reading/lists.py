"""Lists of products: each card with its title, address, price and stock, from data or from what repeats on the page."""

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice

from selectolax.lexbor import LexborNode

from tidemill.core.record import Strategy
from tidemill.reading.document import Document
from tidemill.reading.money import Money, parse_money
from tidemill.reading.stock import Availability, availability_in
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.product import Product
from tidemill.verticals.prices.reading.shown.hints import Hint
from tidemill.verticals.prices.reading.shown.page_layout import PageLayout, layout_of
from tidemill.verticals.prices.reading.shown.price_text import text_within
from tidemill.verticals.prices.reading.shown.shown_prices import ShownPrice, shown_prices
from tidemill.verticals.prices.reading.shown.siblings import SiblingCounter, tag_and_class

_CONFIDENCE = 0.7
_FEWEST = 3
_CLIMB = 8
_MOST_ROWS = 50
_NO_BOXES = frozenset({"span", "b", "strong", "em", "a", "p", "del", "ins", "s", "td"})
_LONGEST_CARD = 1_500
_LINK = "a[href]:not([href^='#']):not([href^='javascript'])"
_TITLES = "h1 a[href], h2 a[href], h3 a[href], h4 a[href], h5 a[href], a[href] h2, a[href] h3, a[href] h4"
_NAMED = "[class*=title] a[href], [class*=name] a[href], a[class*=title][href], a[class*=name][href], [itemprop=name]"

_PRICE_IN_SCRIPT = re.compile(r"""class=\\?["'][^"'<>]*\bprice\b[^"'<>]*["']\s*>\s*([^<>"']{1,30})<""")


def read_products(page: Document | str | bytes, url: str = "", *, currency: str = "") -> list[Product]:
    """The products that a list page shows, in order; empty if it shows no list."""
    document = page if isinstance(page, Document) else Document(page, url)
    return _products(document, layout_of(document), currency)


def _products(document: Document, layout: PageLayout, currency: str) -> list[Product]:
    everything = [
        shown for shown in shown_prices(layout, currency) if not shown.hints & (Hint.OTHER_AMOUNT | Hint.UNIT)
    ]
    cards = _cards(everything)
    products = [_product(document, card, inside, index) for index, (card, inside) in enumerate(cards)]
    return [product for product in products if product is not None]


def unpriced_products(page: Document) -> list[Product]:
    """The boxes of a list that are built like its products and show no price that can be read, without one.

    Where they are more than the products, the list is one of something else.
    """
    layout = layout_of(page)
    cards = _cards([shown for shown in shown_prices(layout, "") if not shown.hints & (Hint.OTHER_AMOUNT | Hint.UNIT)])
    priced = {card.mem_id for card, inside in cards if _product(page, card, inside, 0) is not None}
    above = {card.parent.mem_id: card.parent for card, _ in cards if card.parent is not None}
    kinds = {tag_and_class(card) for card, _ in cards}
    found: list[Product] = []
    for parent in above.values():
        boxes = (one for one in parent.iter(include_text=False) if tag_and_class(one) in kinds)
        others = [box for box in boxes if box.mem_id not in priced and box.css_first(_LINK) is not None]
        found += [product for box in others if (product := _unpriced(page, box, len(found))) is not None]
    return found if len(found) <= len(priced) else []


def _unpriced(document: Document, card: LexborNode, index: int) -> Product | None:
    title, href = _title(card)
    if not title:
        return None
    return Product(
        title=title, availability=_stock(card), url=document.absolute(href) or href, strategy=Strategy.HEURISTICS,
        confidence=_CONFIDENCE, origin=f"list/{tag_and_class(card)}[unpriced {index}]",
        places={"title": "heading link", "url": "heading link@href"},
    )  # fmt: skip


def listed_amounts(document: Document) -> list[Decimal]:
    """What the products cost that stand on the page as cards of one kind; none where they are fewer than three."""
    products = _products(document, layout_of(document), "")
    return [product.price for product in products if product.price is not None] if len(products) >= _FEWEST else []


def _cards(prices: list[ShownPrice]) -> list[tuple[LexborNode, list[ShownPrice]]]:
    """The boxes alike that hold a price and a link each: the kind of box of which there are most."""
    siblings = SiblingCounter()
    holders: dict[int, tuple[LexborNode, list[ShownPrice]]] = {}
    kinds: Counter[str] = Counter()
    for shown in prices:
        card = _card_of(shown.node, siblings)
        if card is None:
            continue
        if card.mem_id not in holders:
            holders[card.mem_id] = (card, [])
            kinds[tag_and_class(card)] += 1
        holders[card.mem_id][1].append(shown)
    commonest, count = max(kinds.items(), key=lambda kind: kind[1], default=("", 0))
    return [each for each in holders.values() if tag_and_class(each[0]) == commonest] if count > 1 else []


def _card_of(node: LexborNode | None, siblings: SiblingCounter) -> LexborNode | None:
    """The box around a price that has neighbours of its kind, a link, and no more than a card's worth of words."""
    for _ in range(_CLIMB):
        if node is None or node.parent is None or node.tag in {"body", "html", "main"}:
            return None
        if _has_siblings(node, siblings) and node.css_first(_LINK) is not None:
            return node if len(node.text(deep=True).strip()) <= _LONGEST_CARD else None
        node = node.parent
    return None


def _has_siblings(node: LexborNode, siblings: SiblingCounter) -> bool:
    if node.tag in _NO_BOXES or node.parent is None:
        return False
    return siblings.count_like(node) > 1 or _has_cousins(node.parent, tag_and_class(node), siblings)


def _has_cousins(row: LexborNode, kind: str, siblings: SiblingCounter) -> bool:
    """Whether other rows of the same kind hold boxes of this kind: a lone last card of a grid in rows."""
    above = row.parent
    if above is None or siblings.count_like(row) <= 1:
        return False
    rows = islice(above.iter(include_text=False), _MOST_ROWS)
    return any(
        siblings.counts_in(other)[kind]
        for other in rows
        if other.mem_id != row.mem_id and tag_and_class(other) == tag_and_class(row)
    )


def _product(document: Document, card: LexborNode, prices: list[ShownPrice], index: int) -> Product | None:
    title, href = _title(card)
    if not title:
        return None
    selling = _selling_price(prices)
    money = selling.money if selling is not None else _price_in_script(card, {shown.amount for shown in prices})
    if money is None:
        return None
    crossed = [shown.amount for shown in prices if shown.amount > money.amount and shown.hints & Hint.OLD]
    origin = f"list/{tag_and_class(card)}[{index}]"
    return Product(
        title=title,
        price=money.amount,
        currency=money.currency,
        list_price=max(crossed, default=None),
        availability=_stock(card),
        url=document.absolute(href) or href,
        image=_image(document, card),
        strategy=Strategy.HEURISTICS,
        confidence=_CONFIDENCE,
        origin=origin,
        places={
            "title": "heading link",
            "price": selling.text if selling is not None else "script",
            "url": "heading link@href",
        },
    )


def _selling_price(prices: list[ShownPrice]) -> ShownPrice | None:
    """The selling price among a card's: not crossed out, a special one before a plain one."""
    plain = [shown for shown in prices if not shown.hints & Hint.OLD]
    return next((shown for shown in plain if shown.hints & Hint.CURRENT), plain[0] if plain else None)


def _price_in_script(card: LexborNode, amounts_shown: set[Decimal]) -> Money | None:
    """The price that a card keeps in a script's markup until somebody asks for it, other than those that it shows."""
    for script in card.css("script"):
        for match in _PRICE_IN_SCRIPT.finditer(script.text(deep=True) or ""):
            money = parse_money(match[1])
            if money is not None and money.is_plain and money.amount not in amounts_shown:
                return money
    return None


def _title(card: LexborNode) -> tuple[str, str]:
    for selector in (_TITLES, _NAMED, "a[title][href]", "a[href]"):
        for node in card.css(selector):
            link = node if node.tag == "a" else _link_around(node, card)
            title = squash(node.text(separator=" ")) or _attribute(link, "title")
            if len(title) > 2 and not title.replace(".", "").replace(",", "").isdecimal():  # noqa: PLR2004 - more than a sign
                return title, _attribute(link, "href")
    return "", ""


def _attribute(node: LexborNode | None, name: str) -> str:
    return squash(node.attributes.get(name) or "") if node is not None else ""


def _link_around(node: LexborNode, card: LexborNode) -> LexborNode | None:
    for around in _upwards(node, card):
        if around.tag == "a":
            return around
    return card.css_first("a[href]")


def _upwards(node: LexborNode, card: LexborNode) -> Iterator[LexborNode]:
    above: LexborNode | None = node
    while above is not None and above.mem_id != card.mem_id:
        yield above
        above = above.parent


def _stock(card: LexborNode) -> Availability:
    """What the card says: a notice named for stock, a button, or the picture of one."""
    for node in card.css("[class*=stock], [class*=availab], [class*=sold], button, a[class*=cart], img[alt]"):
        availability = availability_in(text_within(node) or node.attributes.get("alt") or "")
        if availability is not Availability.UNKNOWN:
            return availability
    for node in card.css("button, a[class*=cart], input[type=submit], img[alt]"):
        words = f"{text_within(node)} {node.attributes.get('alt') or ''} {node.attributes.get('value') or ''}"
        if "cart" in words.lower() or "basket" in words.lower():
            return Availability.IN_STOCK
    return Availability.UNKNOWN


def _image(document: Document, card: LexborNode) -> str:
    node = card.css_first("img")
    if node is None:
        return ""
    source = node.attributes.get("src") or node.attributes.get("data-src") or ""
    return "" if source.startswith("data:") else document.absolute(source)
