"""Shops in the demo, beside the agendas."""

import msgspec

from tidemill.lab.demo import DemoOption, DemoTerms, Entry

SHOPS = 3
"""One of each make: WooCommerce, Magento, and one with nothing but schema.org's data."""
TOO_MUCH = "--shops come beside known agendas: leave out --discover and --homes"


def with_shops(terms: DemoTerms) -> DemoTerms:
    """Serve shops too."""
    return msgspec.structs.replace(terms, counts={**terms.counts, "shops": SHOPS})


def published(entry: Entry) -> Entry:
    """Show a shop's prices to readers at once: a demo has no person who publishes them."""
    return {**entry, "visibility": "ELIGIBLE"} if entry["vertical"] == "prices" else entry


BESIDE = DemoOption(
    name="shops",
    help="Three shops beside the agendas, whose prices move.",
    conflicts={"discover": TOO_MUCH, "homes": TOO_MUCH},
    change_terms=with_shops,
    prepare_source=published,
)
