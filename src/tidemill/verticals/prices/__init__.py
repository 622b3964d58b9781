"""Prices: offers for known product pages at retailers, with history."""

from collections.abc import Mapping

import msgspec

from tidemill.core.policy import Policy
from tidemill.core.record import RawRecord
from tidemill.core.verdict import Verdict
from tidemill.core.vertical import Adapter, Context
from tidemill.verticals.prices import rules
from tidemill.verticals.prices.policy import POLICY
from tidemill.verticals.prices.record import Offer
from tidemill.verticals.prices.sources import ADAPTERS

_decoder = msgspec.json.Decoder(Offer)


class PricesVertical:
    """The prices vertical, as the stages see it."""

    name: str = "prices"
    policy: Policy = POLICY
    adapters: Mapping[str, Adapter] = ADAPTERS

    def judge(self, raw: RawRecord, context: Context) -> Verdict:
        """Keep the offer, drop it or set it aside."""
        return rules.judge(raw, context)

    def revive(self, identity: str, stored: bytes) -> Offer:  # noqa: ARG002 - an offer knows itself without its key
        """The offer from its stored JSON."""
        return _decoder.decode(stored)


VERTICAL = PricesVertical()
"""The one that `bootstrap` lists."""
