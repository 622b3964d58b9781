"""Listings as the stages see them: policy, adapters, rules, and what is shown of a record."""

from tidemill.core.quality.readings import FieldRules
from tidemill.core.vertical import Vertical
from tidemill.reading.selectors import selectors_check
from tidemill.verticals.listings.market import MARKETS, markets_problem
from tidemill.verticals.listings.policy import POLICY
from tidemill.verticals.listings.raw_fields import SELECTABLE
from tidemill.verticals.listings.reading.notices import read_notice
from tidemill.verticals.listings.record import Listing
from tidemill.verticals.listings.rules import judge
from tidemill.verticals.listings.sources import ADAPTERS

LISTINGS = Vertical(
    name="listings",
    policy=POLICY,
    adapters=ADAPTERS,
    judge=judge,
    record=Listing,
    shown={"rent": "rent_low", "beds": "beds_low", "address": "address"},
    amounts=("rent_low",),
    fields=FieldRules(
        moving=("rent_low", "rent_high", "rent_basis", "currency", "available_on", "available_text", "market_id")
    ),
    read_notice=read_notice,
    settings={"selectors": selectors_check(SELECTABLE), MARKETS: markets_problem},
)
