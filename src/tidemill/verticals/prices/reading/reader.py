"""Reading a product page: gather what every place on it claims, choose the price, and answer an offer or a reason."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cached_property
from typing import TypeVar

from tidemill.core.failure import Failure
from tidemill.core.outcome import Fail
from tidemill.core.urls import BadUrl, host_of
from tidemill.reading.blocked import blocked
from tidemill.reading.currencies import currency_of_place
from tidemill.reading.document import Document
from tidemill.reading.identifiers import as_gtin
from tidemill.reading.stock import Availability, availability_in
from tidemill.reading.text import squash
from tidemill.verticals.prices.reading import loose, meta, platforms, state, tables
from tidemill.verticals.prices.reading.claims import PriceClaim, first_field
from tidemill.verticals.prices.reading.evidence import offers, shows_a_product, stands_alone
from tidemill.verticals.prices.reading.labelled import labelled_in, without_code, without_label
from tidemill.verticals.prices.reading.landmarks import Landmarks, heading_text, landmarks
from tidemill.verticals.prices.reading.lists import listed_amounts
from tidemill.verticals.prices.reading.marks import Mark
from tidemill.verticals.prices.reading.pricing import ChosenPrice, chosen_price
from tidemill.verticals.prices.reading.product import NoOffer, Product, ProductReading, QuantityTier
from tidemill.verticals.prices.reading.ranking import FAIR, Ranked, ranked
from tidemill.verticals.prices.reading.shown import spots
from tidemill.verticals.prices.reading.stock_shown import shown_stock
from tidemill.verticals.prices.reading.structured import structured_claims
from tidemill.verticals.prices.reasons import ExtractReason, QuarantineReason

Answer = TypeVar("Answer")

_FIELDS = ("url", "sku", "product_id", "gtin", "mpn", "brand", "image", "description")
_NAMED = {
    "gtin": ("ean", "gtin", "upc", "barcode", "ean-code", "ean code", "isbn", "isbn-13", "upc code", "ean13", "gtin13"),
    "sku": ("sku", "artikelnummer", "item number", "item #", "article number", "product code", "art.nr.", "item no."),
    "mpn": ("mpn", "manufacturer part number", "part number", "model", "model number", "mfr part #", "fabrikantcode"),
    "brand": ("brand", "merk", "marke", "marque", "marca", "manufacturer", "hersteller", "značka", "producent"),
}  # fmt: skip
_STOCK_ROWS = ("availability", "stock", "beschikbaarheid", "verfügbarkeit", "disponibilité", "disponibilidad",
               "disponibilità", "disponibilidade", "dostępność", "dostupnost", "наличие")  # fmt: skip


def read_product(page: Document | str | bytes, url: str = "", *, currency: str = "") -> ProductReading:
    """The product that a page sells, with its price; or the reason why there is none. Never raises.

    `currency` (ISO) is the shop's own, for pages that name none or only `$`; else the page's address and language
    decide. A price is only ever one that stands on the page.
    """
    document = page if isinstance(page, Document) else Document(page, url)
    if not document.markup.strip():
        return NoOffer(ExtractReason.EMPTY_PAGE, "no content at all")
    return _ProductReader(document, currency).answer()


class _ProductReader:
    """One page while it is read: what was gathered, by whom, and what went wrong on the way."""

    def __init__(self, document: Document, currency: str) -> None:
        self._document = document
        self._notes: list[str] = []
        nothing: tuple[list[PriceClaim], int] = ([], 0)
        self._claims, self._listed = self._tried(lambda: structured_claims(document), nothing)
        self._tags: dict[str, str] = self._tried(lambda: meta.tags_of(document), dict[str, str]())
        spelled = self._tried(lambda: state.spelled_currency(document), "")
        self._near = currency or _own_currency(self._claims) or spelled or _place_currency(document)
        self._is_product = bool(self._claims) or meta.says_product(self._tags)
        self._add(self._platform)
        self._add(lambda: meta.meta_claim(self._tags, document))
        self._near = currency or _own_currency(self._claims) or self._near
        nowhere = Landmarks([], [], [], None, -1)
        self._found = self._tried(lambda: landmarks(document, self._claimed("title")), nowhere)
        self._stock = self._tried(lambda: shown_stock(self._found), (Availability.UNKNOWN, ""))
        self._labels = self._tried(lambda: labelled_in(self._found, document), dict[str, tuple[str, str]]())
        self._title = self._title_of()
        if not any(claim.price for claim in self._claims):
            self._add(lambda: state.state_claim(document, self._title, self._near))
            self._title = self._title_of()
            self._add(lambda: loose.loose_claim(document, self._near))
        self._rated = self._tried(self._ranked, list[Ranked]())
        self._near = self._near or _shown_currency(self._rated)
        self._tiers = self._tried(lambda: tables.tiers_of(document), tuple[QuantityTier, ...]())
        self._attributes = self._tried(lambda: tables.attributes_of(document), dict[str, str]())

    def answer(self) -> ProductReading:
        """An offer if there is a price and a title; else why not."""
        price = self._price()
        if not self._title and self._may_be_named_by_its_page(price):
            self._title, self._title_place = _before_the_shop(self._document.title), "title"
        product = self._tried(lambda: self._product(price), Product(title=self._title))
        if price is not None and price.rivals:
            return NoOffer(QuarantineReason.AMBIGUOUS_PRICE, "several prices, and no rule to choose", product)
        if price is None:
            return self._without_price(product)
        if not product.title:
            return NoOffer(ExtractReason.TITLE_NOT_FOUND, "a price, but no title", product)
        if not price.amount:
            return NoOffer(QuarantineReason.ZERO_PRICE_EXTRACTED, price.place, product)
        return product

    def _may_be_named_by_its_page(self, price: ChosenPrice | None) -> bool:
        """Whether the page's own title is the product's; data that names none may be about anything on the page."""
        if any(claim.price and claim.origin.startswith(("json-ld", "microdata")) for claim in self._claims):
            return self._offers()
        return price is not None or self._sells()

    def _price(self) -> ChosenPrice | None:
        if self._is_a_list:
            return None
        chosen = self._tried(
            lambda: chosen_price(
                self._claims, self._rated, self._tiers, self._found, sells=self._sells(), near=self._near
            ),
            None,
        )
        return chosen if chosen is None or chosen.amount or self._blocked() is None else None

    def _without_price(self, product: Product) -> NoOffer:
        refusal = self._blocked()
        if refusal is not None:
            empty = refusal.failure is Failure.EMPTY_PAGE
            return NoOffer(ExtractReason.EMPTY_PAGE if empty else ExtractReason.BLOCKED_PAGE, refusal.detail)
        if self._is_a_list:
            return NoOffer(ExtractReason.PAGE_STRUCTURE_CHANGED, "a list of products, and no product of its own")
        notes = "; ".join(self._notes)
        if not self._sells():
            detail = f"no product on the page; {notes}".strip("; ")
            return NoOffer(ExtractReason.PAGE_STRUCTURE_CHANGED, detail, product)
        if product.availability is Availability.OUT_OF_STOCK:
            return NoOffer(ExtractReason.OOS_NO_PRICE, product.places.get("availability", ""), product)
        if not product.title:
            return NoOffer(ExtractReason.TITLE_NOT_FOUND, notes, product)
        return NoOffer(ExtractReason.PRICE_NOT_FOUND, f"a product, and no price; {notes}".strip("; "), product)

    def _blocked(self) -> Fail | None:
        """Why the page is none; one with a product's data on it is a page, however little else it shows."""
        has_data = self._listed > 0 or any(map(_tells_of_one, self._claims))
        return None if has_data else blocked(self._document)

    def _claims_product(self) -> bool:
        return self._is_product or self._stock[0] is Availability.OUT_OF_STOCK

    @cached_property
    def _is_a_list(self) -> bool:
        """Whether the page lists products and has none of its own: no data of one, and nothing for sale by itself."""
        if any(map(_tells_of_one, self._claims)):
            return False
        own = [each for each in self._rated if not each.aside and each.weight >= FAIR]
        if own and self._offers():
            return False
        listed = self._tried(lambda: listed_amounts(self._document, self._found), list[Decimal]())
        plain = (each for each in own if each.spot.marks & Mark.PRICE or stands_alone(each, self._found))
        if (best := next(plain, None)) is not None and best.spot.amount not in listed:
            return False
        return self._listed > 2 or bool(listed)  # noqa: PLR2004 - a handful

    def _sells(self) -> bool:
        """Whether the page offers something: by its data, its platform's marks, or a button that sells or refuses."""
        return self._offers() or self._claims_product() or self._shows_a_product()

    def _offers(self) -> bool:
        return offers(self._found)

    def _shows_a_product(self) -> bool:
        identified = self._labels.keys() & {"sku", "gtin", "mpn"} or self._stock[0] is not Availability.UNKNOWN
        return shows_a_product(self._rated, self._found, is_identified=bool(identified))

    def _product(self, price: ChosenPrice | None) -> Product:
        fields, places = self._words()
        availability, stock_place = self._availability()
        places |= {"availability": stock_place, "title": self._title_place}
        doubtful = price is not None and price.high is not None
        if price is not None:
            places["price"] = price.place
        main = self._claims[0] if self._claims else None
        return Product(
            title=self._title,
            price=price.amount if price is not None and not price.rivals else None,
            currency=price.currency if price is not None else self._near,
            list_price=price.listed if price is not None else None,
            high_price=price.high if price is not None else None,
            availability=availability,
            shipping=main.shipping if main is not None else None,
            attributes=self._attributes,
            variants=main.variants if main is not None else (),
            tiers=self._tiers,
            doubt=QuarantineReason.AMBIGUOUS_PRICE if doubtful else None,
            candidates=(price.amount, *price.rivals) if price is not None and price.rivals else (),
            strategy=price.strategy if price is not None else Product().strategy,
            confidence=price.confidence if price is not None else 0.0,
            origin=price.place if price is not None else "",
            places={name: place for name, place in places.items() if place},
            **fields,
        )

    def _words(self) -> tuple[dict[str, str], dict[str, str]]:
        fields, places = {}, {}
        for name in _FIELDS:
            fields[name], places[name] = first_field(self._claims, name)
        for name, keys in _NAMED.items():
            key = next((key for key in keys if key in self._attributes), "")
            value = self._attributes.get(key, "")
            if name == "gtin":
                value = as_gtin(value) or ""
            if value and not fields[name]:
                fields[name], places[name] = value, f"table: {key}"
        for name, (value, place) in self._labels.items():
            if not fields[name]:
                fields[name], places[name] = value, place
        fields["sku"] = without_label(fields["sku"])
        if not fields["url"]:
            node = self._document.first("link[rel=canonical]")
            fields["url"] = self._document.absolute(node.attributes.get("href") or "") if node is not None else ""
            places["url"] = "link[rel=canonical]"
        return fields, places

    def _availability(self) -> tuple[Availability, str]:
        """The data's word first; a page whose only button refuses to sell overrules it."""
        shown, place = self._stock
        if shown is Availability.OUT_OF_STOCK and place.startswith("button"):
            return shown, place
        for claim in self._claims:
            said = availability_in(claim.fields.get("availability", ""))
            if said is not Availability.UNKNOWN:
                return said, f"{claim.origin}/{claim.places.get('availability', 'availability')}"
        key = next((key for key in _STOCK_ROWS if key in self._attributes), "")
        if not place.startswith("notice") and (said := availability_in(self._attributes.get(key, ""))):
            return (said, f"table: {key}") if said is not Availability.UNKNOWN else (shown, place)
        return shown, place

    def _title_of(self) -> str:
        title, self._title_place = first_field([each for each in self._claims if each.origin != "meta"], "title")
        if title:
            return title
        if self._found.heading is not None and (title := without_code(heading_text(self._found.heading))):
            self._title_place = "h1"
            return title
        self._title_place = "meta/og:title"
        return squash(self._tags.get("og:title") or self._tags.get("twitter:title") or "")

    def _ranked(self) -> list[Ranked]:
        path = self._document.url.partition("://")[2].partition("/")[2].partition("?")[0]
        return ranked(spots(self._found, self._near), self._found, f"/{path}".rstrip("/"))

    def _platform(self) -> PriceClaim | None:
        platform = platforms.platform_of(self._document)
        if platform is None:
            return None
        claim = platforms.platform_claim(self._document, platform, self._near)
        self._is_product = self._is_product or claim.price is not None or "availability" in claim.fields
        return claim

    def _claimed(self, name: str) -> str:
        return first_field(self._claims, name)[0]

    def _add(self, claim: Callable[[], PriceClaim | None]) -> None:
        if (made := self._tried(claim, None)) is not None:
            self._claims = [*self._claims, made]

    def _tried(self, step: Callable[[], Answer], otherwise: Answer) -> Answer:
        try:
            return step()
        except Exception as error:  # noqa: BLE001 - whatever a strategy trips over, the others get their turn
            self._notes.append(f"{type(error).__name__}: {error}"[:200])
            return otherwise


def _tells_of_one(claim: PriceClaim) -> bool:
    """Whether a claim is about one product: it has a price, or a title with something that only a product has."""
    known = claim.fields
    if claim.origin == "meta":
        return False
    return claim.price is not None or (
        "title" in known and any(name in known for name in ("availability", "sku", "gtin"))
    )


def _before_the_shop(title: str) -> str:
    """A page's title without the shop's name, which most put behind a sign."""
    return re.split(r"\s+[|\u2013\u2014:\u00b7-]\s+", squash(title), maxsplit=1)[0]


def _own_currency(claims: Sequence[PriceClaim]) -> str:
    return next((claim.currency for claim in claims if claim.currency), "")


def _shown_currency(rated: Sequence[Ranked]) -> str:
    """The currency that most of the prices on the page are in."""
    told = Counter(each.spot.money.currency for each in rated if each.spot.money.currency)
    return told.most_common(1)[0][0] if told else ""


def _place_currency(document: Document) -> str:
    node = document.first("html")
    language = (node.attributes.get("lang") or "") if node is not None else ""
    try:
        host = host_of(document.url) if document.url else ""
    except BadUrl:
        host = ""
    return currency_of_place(host, language)
