"""Events as the stages see them: policy, adapters, rules, and what is shown of a record."""

from tidemill.core.quality.readings import FieldRules
from tidemill.core.vertical import Vertical
from tidemill.reading.selectors import selectors_check
from tidemill.verticals.events.discovery import PROFILE
from tidemill.verticals.events.enrichment import ENRICHMENT_RULES
from tidemill.verticals.events.policy import POLICY
from tidemill.verticals.events.raw_fields import SELECTABLE
from tidemill.verticals.events.record import Event
from tidemill.verticals.events.rules import judge
from tidemill.verticals.events.sources import ADAPTERS

EVENTS = Vertical(
    name="events",
    policy=POLICY,
    adapters=ADAPTERS,
    judge=judge,
    record=Event,
    shown={"starts": "event_date", "venue": "venue_name", "category": "category"},
    enrichment=ENRICHMENT_RULES,
    discovery=PROFILE,
    fields=FieldRules(moving=("status",), stands_in={"venue_name": ("structured_location", "name")}),
    settings={"selectors": selectors_check(SELECTABLE)},
)
