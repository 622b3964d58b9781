"""Listings: homes for rent per city market."""

from collections.abc import Mapping

import msgspec

from tidemill.core.policy import Policy
from tidemill.core.record import RawRecord
from tidemill.core.verdict import Verdict
from tidemill.core.vertical import Adapter, Context
from tidemill.verticals.listings import rules
from tidemill.verticals.listings.policy import POLICY
from tidemill.verticals.listings.record import Listing
from tidemill.verticals.listings.sources import ADAPTERS

_decoder = msgspec.json.Decoder(Listing)


class ListingsVertical:
    """The listings vertical, as the stages see it."""

    name: str = "listings"
    policy: Policy = POLICY
    adapters: Mapping[str, Adapter] = ADAPTERS

    def judge(self, raw: RawRecord, context: Context) -> Verdict:
        """Keep the listing, drop it or set it aside."""
        return rules.judge(raw, context)

    def revive(self, identity: str, stored: bytes) -> Listing:  # noqa: ARG002 - a listing knows itself without its key
        """The listing from its stored JSON."""
        return _decoder.decode(stored)


VERTICAL = ListingsVertical()
"""The one that `bootstrap` lists."""
