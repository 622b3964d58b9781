"""Events: what is on, from agenda pages of municipalities and venues."""

from collections.abc import Mapping

import msgspec

from tidemill.core.policy import Policy
from tidemill.core.record import RawRecord
from tidemill.core.verdict import Verdict
from tidemill.core.vertical import Adapter, Context
from tidemill.verticals.events import rules
from tidemill.verticals.events.policy import POLICY
from tidemill.verticals.events.record import Event
from tidemill.verticals.events.sources import ADAPTERS

_decoder = msgspec.json.Decoder(Event)


class EventsVertical:
    """The events vertical, as the stages see it."""

    name: str = "events"
    policy: Policy = POLICY
    adapters: Mapping[str, Adapter] = ADAPTERS

    def judge(self, raw: RawRecord, context: Context) -> Verdict:
        """Keep the event, drop it or set it aside."""
        return rules.judge(raw, context)

    def revive(self, identity: str, stored: bytes) -> Event:  # noqa: ARG002 - an event knows itself without its key
        """The event from its stored JSON."""
        return _decoder.decode(stored)


VERTICAL = EventsVertical()
"""The one that `bootstrap` lists."""
