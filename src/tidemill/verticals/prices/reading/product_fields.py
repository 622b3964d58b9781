"""Last step: the product put together from its price, its claims and what the page shows."""

from collections.abc import Mapping, Sequence

from tidemill.core.record import Strategy
from tidemill.reading.document import Document
from tidemill.reading.identifiers import as_gtin
from tidemill.reading.stock import Availability, availability_in
from tidemill.verticals.prices.reading.address_codes import code_in_address
from tidemill.verticals.prices.reading.candidates import PriceCandidates
from tidemill.verticals.prices.reading.claims.claim import PriceClaim, first_field
from tidemill.verticals.prices.reading.page_content import PageContent
from tidemill.verticals.prices.reading.pricing import ChosenPrice
from tidemill.verticals.prices.reading.product import Product, QuantityTier
from tidemill.verticals.prices.reading.shown.labelled_fields import without_label
from tidemill.verticals.prices.reading.shown.shown_stock import own_buttons
from tidemill.verticals.prices.reading.shown.written_gtin import written_gtin
from tidemill.verticals.prices.reasons import QuarantineReason

Fields = dict[str, tuple[str, str]]
"""A product's texts by field, each with the place where it was read."""

_FIELDS = ("url", "sku", "product_id", "gtin", "mpn", "brand", "image", "description")
_TABLE_ROWS = {
    "gtin": ("ean", "gtin", "upc", "barcode", "ean-code", "ean code", "isbn", "isbn-13", "upc code", "ean13", "gtin13"),
    "sku": ("sku", "artikelnummer", "item number", "item #", "article number", "product code", "art.nr.", "item no."),
    "mpn": ("mpn", "manufacturer part number", "manufacturer sku", "mfg part number",
            "mfr part number", "part number", "model", "model number", "mfr part #", "fabrikantcode"),
    "brand": ("brand", "merk", "marke", "marque", "marca", "manufacturer", "hersteller", "značka", "producent"),
}  # fmt: skip
_STOCK_ROWS = ("availability", "stock", "beschikbaarheid", "verfügbarkeit", "disponibilité", "disponibilidad",
               "disponibilità", "disponibilidade", "dostępność", "dostupnost", "наличие", "razpoložljivost",
               "dostupnosť", "pieejamība", "prieinamumas", "saadavus", "tillgänglighet", "saatavuus")  # fmt: skip


def product_of(
    document: Document,
    content: PageContent,
    candidates: PriceCandidates,
    title: tuple[str, str],
    price: ChosenPrice | None,
) -> Product:
    """The product as far as the page tells it, with where each field was read."""
    fields = fields_of(document, candidates.claims, content)
    availability, stock_place = availability_of(candidates.claims, content)
    places = {name: place for name, (_, place) in fields.items()}
    places |= {"availability": stock_place, "title": title[1], "price": price.place if price is not None else ""}
    main = candidates.claims[0] if candidates.claims else None
    return Product(
        title=title[0],
        price=price.amount if price is not None and not price.rivals else None,
        currency=price.currency if price is not None else candidates.currency,
        list_price=price.list_price if price is not None else None,
        high_price=price.high if price is not None else None,
        availability=availability,
        shipping=main.shipping if main is not None else None,
        attributes=content.attributes,
        variants=main.variants if main is not None else (),
        tiers=tiers_from_one(content.tiers, price),
        doubt=QuarantineReason.AMBIGUOUS_PRICE if price is not None and price.high is not None else None,
        candidates=(price.amount, *price.rivals) if price is not None and price.rivals else (),
        strategy=price.strategy if price is not None else Strategy.HEURISTICS,
        confidence=price.confidence if price is not None else 0.0,
        origin=price.place if price is not None else "",
        places={name: place for name, place in places.items() if place},
        **{name: value for name, (value, _) in fields.items()},
    )


def tiers_from_one(tiers: tuple[QuantityTier, ...], price: ChosenPrice | None) -> tuple[QuantityTier, ...]:
    """The tiers with the price of one in front, where the page tells only those of more."""
    if not tiers or tiers[0].quantity == 1 or price is None or price.amount <= tiers[0].price or price.rivals:
        return tiers
    return (QuantityTier(1, price.amount), *tiers)


def fields_of(document: Document, claims: Sequence[PriceClaim], content: PageContent) -> Fields:
    """The product's texts: from claims first, then from the page's tables, then from its labels; the SKU as shown."""
    fields = {name: first_field(claims, name) for name in _FIELDS}
    for found in (_in_tables(content.attributes), content.labels):
        fields |= {name: field for name, field in found.items() if field[0] and not fields[name][0]}
    if not fields["gtin"][0]:
        fields["gtin"] = written_gtin(content.layout, document)
    fields["sku"] = _sku_of(document, fields, content)
    if not fields["url"][0]:
        fields["url"] = _canonical_url(document), "link[rel=canonical]"
    return fields


def _sku_of(document: Document, fields: Fields, content: PageContent) -> tuple[str, str]:
    """The shop's own number of the article: as the page shows it beside a label, else as its data has it.

    What the address says of it counts where the page tells none, or tells only the number that every shop has for it.
    """
    sku, place = fields["sku"]
    shown, label = content.labels.get("sku", ("", ""))
    if shown and label.startswith("label") and not place.startswith("table"):
        sku, place = shown, label
    if sku and not _is_gtin(sku):
        return without_label(sku), place
    if coded := code_in_address(document):
        return coded, "address"
    return (sku, place) if sku else fields["product_id"] if fields["product_id"][0] else _model(fields["mpn"])


def _model(mpn: tuple[str, str]) -> tuple[str, str]:
    """The model's number, where a shop writes no other for its article: `Model: WU750`."""
    code, place = mpn
    is_model = place.startswith(("label: Model", "table: model")) and any(map(str.isdecimal, code))
    return mpn if is_model and " " not in code else ("", "")


def _is_gtin(code: str) -> bool:
    return len(code) >= _SHORTEST_GTIN and as_gtin(code) is not None


_SHORTEST_GTIN = 12
"""Digits of a UPC; numbers of eight digits with a valid last one are numbers of articles by chance."""


def _in_tables(attributes: Mapping[str, str]) -> Fields:
    found: Fields = {}
    for name, keys in _TABLE_ROWS.items():
        key = next((key for key in keys if key in attributes), "")
        value = attributes.get(key, "")
        found[name] = ((as_gtin(value) or "") if name == "gtin" else value, f"table: {key}")
    return found


def _canonical_url(document: Document) -> str:
    node = document.first("link[rel=canonical]")
    return document.absolute(node.attributes.get("href") or "") if node is not None else ""


def availability_of(claims: Sequence[PriceClaim], content: PageContent) -> tuple[Availability, str]:
    """The stock and where it was read.

    What the page shows outweighs its data: a button or a notice that refuses is believed. A page that both refuses
    in a notice and sells by a button, with data that agrees with neither, leaves it open.
    """
    shown, place = content.stock
    if shown is Availability.OUT_OF_STOCK and place.startswith(("button", "notice", "words")):
        return (Availability.UNKNOWN, "") if _is_sold_still(claims, content, place) else (shown, place)
    for claim in claims:
        claimed = availability_in(claim.fields.get("availability", ""))
        if claimed is not Availability.UNKNOWN:
            return claimed, f"{claim.origin}/{claim.places.get('availability', 'availability')}"
    if place.startswith("notice"):
        return shown, place
    key = next((key for key in _STOCK_ROWS if key in content.attributes), "")
    in_table = availability_in(content.attributes.get(key, ""))
    return (in_table, f"table: {key}") if in_table is not Availability.UNKNOWN else (shown, place)


def _is_sold_still(claims: Sequence[PriceClaim], content: PageContent, place: str) -> bool:
    """Whether data says in stock and a button of the product sells, against a notice that refuses."""
    if place.startswith("button"):
        return False
    claimed = any(
        availability_in(claim.fields.get("availability", "")) is Availability.IN_STOCK for claim in claims
    )  # fmt: skip
    sold = any(button.sells and button.enabled for button in own_buttons(content.layout))
    return claimed and sold
