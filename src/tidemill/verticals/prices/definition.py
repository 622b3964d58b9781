"""Prices as the stages see them: policy, adapters, rules, and what is shown of a record."""

from tidemill.core.checks.source_settings import a_text, one_of_words
from tidemill.core.quality.readings import FieldRules
from tidemill.core.vertical import NotableReason, Vertical
from tidemill.reading.currencies import currency_problem
from tidemill.reading.selectors import selectors_check
from tidemill.verticals.prices.policy import POLICY
from tidemill.verticals.prices.raw_fields import SELECTABLE
from tidemill.verticals.prices.reasons import DropReason, QuarantineReason, reason_of
from tidemill.verticals.prices.record import Offer
from tidemill.verticals.prices.rules import judge
from tidemill.verticals.prices.sources import ADAPTERS

PRICES = Vertical(
    name="prices",
    policy=POLICY,
    adapters=ADAPTERS,
    judge=judge,
    record=Offer,
    shown={"price": "price_cents", "currency": "currency", "stock": "availability"},
    amounts=("price_cents",),
    name_failure=reason_of,
    provenance=("adapter_version",),
    fields=FieldRules(
        moving=(
            "price_cents",
            "currency",
            "availability",
            "observed_at",
            "list_price_cents",
            "shipping_cents",
            "tax_included",
            "cost_per_round_cents",
            "adapter_version",
            "confidence",
        )
    ),
    settings={
        "selectors": selectors_check(SELECTABLE),
        "currency": currency_problem,
        "retailer": a_text,
        "page": one_of_words("list", "product"),
    },
    notable={
        DropReason.OOS_NO_PRICE: NotableReason("oos_no_price_count", excused=True),
        QuarantineReason.ZERO_PRICE_EXTRACTED: NotableReason(
            "zero_price_count", alarm="prices of zero were read and set aside"
        ),
    },
)
