"""Offers on their way to the repository, sorted out against what is known of them: no SQL, only rows and decisions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from tidemill.core.identity import signed_checksum
from tidemill.core.job import Job
from tidemill.core.urls import canonicalize
from tidemill.pipeline.checkpoints import AcceptedRecords, WriteCounts
from tidemill.reading.stock import Availability
from tidemill.verticals.prices.glitch import APART, Glitch, PriceSeen, confirms, glitch
from tidemill.verticals.prices.matching import attributes_key
from tidemill.verticals.prices.record import Offer

RUN_TYPE = "SCRAPE"
SOLD_OUT = "sold_out"
"""Kind of history: a page said that its product is sold out, and named no price."""
UNSTEADY = frozenset({
    "observed_at", "price_cents", "cost_per_round_cents", "availability", "list_price_cents", "confidence",
    "shipping_cents",
})  # fmt: skip
"""What changes with the price or the moment, and so says nothing about whether the product changed."""

_encode = msgspec.json.Encoder().encode
decode_offer = msgspec.json.Decoder(Offer).decode

Row = Mapping[Any, Any]
"""A product's row by column name."""


class OfferItem(msgspec.Struct, frozen=True, eq=False):
    """An offer on its way, encoded once."""

    job: Job
    page_id: int
    position: int
    offer: Offer
    encoded: bytes
    checksum: int

    @property
    def key(self) -> tuple[int, str]:
        """What makes it the same product as before."""
        return self.job.source_id, self.offer.identity_key


class SortedOffers(msgspec.Struct, frozen=True):
    """What is to be done with a batch: insert, update with the row as it was, hold with the reason, leave out."""

    new: list[OfferItem]
    known: list[tuple[OfferItem, Row]]
    held: list[tuple[OfferItem, Row, str]]
    repeated: list[OfferItem]


def items_of(harvests: Sequence[tuple[Job, AcceptedRecords]]) -> Iterator[OfferItem]:
    """Every offer of a batch."""
    for job, harvest in harvests:
        for position, accepted in enumerate(harvest.records):
            offer: Offer = accepted.record
            encoded = accepted.encoded or _encode(offer)
            yield OfferItem(job, harvest.judged.page.id, position, offer, encoded, checksum_of(offer))


def revived(row: Row, now: datetime) -> OfferItem:
    """The offer that a product's row holds back, seen again now."""
    offer = msgspec.structs.replace(decode_offer(row["held"]), observed_at=now)
    job = Job(
        id=0, run_id=row["held_run_id"], source_id=row["source_id"], target_id=row["target_id"], vertical="prices",
        lane="", host="", url=offer.url,
    )  # fmt: skip
    return OfferItem(job, row["page_id"], 0, offer, _encode(offer), checksum_of(offer))


def is_confirmed(item: OfferItem, row: Row) -> bool:
    """Whether this reading says what the held one said, at another moment."""
    return says_as_held(item, row) and item.offer.observed_at - row["held_at"] >= APART


def says_as_held(item: OfferItem, row: Row) -> bool:
    """Whether this reading says what the held one said."""
    return row["held_cents"] is not None and confirms(
        seen_in(item.offer), PriceSeen(row["held_cents"], row["held_currency"])
    )


def held_columns(rejection_id: int, item: OfferItem, row: Row, now: datetime) -> dict[str, Any]:
    """What a product's row keeps of an offer that waits for a second reading."""
    return {
        "held": item.encoded,
        "held_cents": item.offer.price_cents,
        "held_currency": item.offer.currency,
        "held_run_id": item.job.run_id,
        "held_at": row["held_at"] if says_as_held(item, row) else now,
        "held_rejection_id": rejection_id,
        "last_seen_at": now,
        "missed_runs": 0,
    }


def checksum_of(offer: Offer) -> int:
    """A signed 64-bit sum over what describes the product, whatever its price is today."""
    steady = {name: value for name, value in msgspec.structs.asdict(offer).items() if name not in UNSTEADY}
    return signed_checksum(_encode({**steady, "url": canonicalize(offer.url)}))


Read = Mapping[int, Sequence[tuple[int, PriceSeen]]]
"""By run, the products that it has priced already and their prices."""


def sort_out(
    items: Sequence[OfferItem], known: Mapping[tuple[int, str], Row], read: Read, *, guarded: bool = True
) -> SortedOffers:
    """Decide for each offer; what `read` or this batch holds already for its run is not brought twice.

    `guarded` holds back what looks like a glitch.
    """
    found = SortedOffers([], [], [], [])
    priced = {(run_id, product) for run_id, prices in read.items() for product, _ in prices}
    brought: set[tuple[int, str, int]] = set()
    for item in items:
        row = known.get(item.key)
        once = (*item.key, item.job.run_id)
        if once in brought or (row is not None and (item.job.run_id, row["id"]) in priced):
            found.repeated.append(item)
        elif row is None:
            found.new.append(item)
        elif guarded and (doubt := doubt_about(item, row, partial(neighbours_of, item, items, read))):
            found.held.append((item, row, doubt))
        else:
            found.known.append((item, row))
        brought.add(once)
    return found


def neighbours_of(item: OfferItem, items: Sequence[OfferItem], read: Read) -> list[PriceSeen]:
    """The prices that other products of the run were read at."""
    beside = [seen_in(each.offer) for each in items if each.job.run_id == item.job.run_id and each.key != item.key]
    return beside + [price for _, price in read.get(item.job.run_id, ())]


def seen_in(offer: Offer) -> PriceSeen:
    """An offer's price, as the glitch guard looks at it."""
    return PriceSeen(offer.price_cents, offer.currency)


def doubt_about(item: OfferItem, row: Row, neighbours: Callable[[], Sequence[PriceSeen]]) -> str:
    """Why this price must wait for a second reading; '' when it may be published."""
    new, published = seen_in(item.offer), PriceSeen(row["price_cents"], row["currency"])
    if new == published or is_confirmed(item, row):
        return ""
    odd = glitch(new, published, neighbours())
    if odd is None:
        return ""
    return f"{odd}: {DOUBTS[odd]} ({published.cents} {published.currency} to {new.cents} {new.currency})"


DOUBTS = {
    Glitch.JUMPED: "the price moved a hundredfold",
    Glitch.CURRENCY_SWAPPED: "the currency is another",
    Glitch.SAME_AS_NEIGHBOUR: "the price is that of most products beside it",
}


def was_available(row: Row) -> str:
    """The stock as readers knew it: whatever was gone or sold out without a price was out of stock."""
    if row["gone_at"] is not None or row["out_since"] is not None:
        return Availability.OUT_OF_STOCK
    return str(row["availability"])


def has_changed(offer: Offer, row: Row | None) -> bool:
    """Whether readers learn something new: the first price, another price, another stock."""
    if row is None or row["price_id"] is None:
        return True
    before = (row["price_cents"], row["currency"], was_available(row))
    return before != (offer.price_cents, offer.currency, offer.availability)


def product_columns(item: OfferItem, price_id: int, now: datetime) -> dict[str, Any]:
    """What a product's row says after a reading."""
    offer = item.offer
    return {
        "target_id": item.job.target_id,
        "retailer": offer.retailer,
        "url": offer.url,
        "title": offer.title,
        "brand": offer.brand,
        "upc": offer.upc,
        "attributes_key": attributes_key(offer),
        "price_id": price_id,
        "price_cents": offer.price_cents,
        "currency": offer.currency,
        "availability": offer.availability,
        "out_since": None,
        "checksum": item.checksum,
        "record": item.encoded,
        "held": None,
        "held_cents": None,
        "held_currency": None,
        "held_run_id": None,
        "held_at": None,
        "held_rejection_id": None,
        "page_id": item.page_id,
        "last_seen_at": now,
        "updated_at": now,
        "missed_runs": 0,
        "gone_at": None,
    }


def price_row(key: int, product_id: int, item: OfferItem, before: Row | None, change_seq: int | None) -> dict[str, Any]:
    """A price as it is kept for ever."""
    offer = item.offer
    had = before is not None and before["price_id"] is not None
    return {
        "id": key,
        "source_product_id": product_id,
        "source_id": item.job.source_id,
        "price_cents": offer.price_cents,
        "currency": offer.currency,
        "availability": offer.availability,
        "cost_per_round_cents": offer.cost_per_round_cents,
        "shipping_cents": offer.shipping_cents,
        "tax_included": offer.tax_included,
        "ingestion_run_type": RUN_TYPE,
        "ingestion_run_id": item.job.run_id,
        "adapter_version": offer.adapter_version,
        "page_id": item.page_id,
        "observed_at": offer.observed_at,
        "change_seq": change_seq,
        "was_cents": before["price_cents"] if before is not None and had else None,
        "was_currency": before["currency"] if before is not None and had else None,
        "was_availability": was_available(before) if before is not None and had else None,
    }


def identifiers_of(offer: Offer) -> dict[str, str]:
    """The names under which the shop, and others, know the product."""
    named = {"PID": offer.product_id, "SKU": offer.sku, "UPC": offer.upc, "MPN": offer.mpn, "URL": offer.url}
    return {kind: value for kind, value in named.items() if value}


def tally(harvests: Sequence[tuple[Job, AcceptedRecords]], done: SortedOffers) -> dict[int, WriteCounts]:
    """The counts per job."""
    counts = {
        job.id: {"inserted": 0, "updated": 0, "unchanged": 0, "dropped": 0, "held_back": 0} for job, _ in harvests
    }
    for item in done.new:
        counts[item.job.id]["inserted"] += 1
    for item, row in done.known:
        changed = has_changed(item.offer, row) or row["checksum"] != item.checksum
        counts[item.job.id]["updated" if changed else "unchanged"] += 1
    for item in done.repeated:
        counts[item.job.id]["dropped"] += 1
    for item, _, _ in done.held:
        counts[item.job.id]["held_back"] += 1
    return {key: WriteCounts(**each) for key, each in counts.items()}
