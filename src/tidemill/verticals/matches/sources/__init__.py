"""The adapters of the matches vertical, listed by hand: nothing registers itself on import."""

from tidemill.core.vertical import Adapter
from tidemill.verticals.matches.sources.embedded import EmbeddedState
from tidemill.verticals.matches.sources.feed import JsonFeed
from tidemill.verticals.matches.sources.scoreboard import DrawnBoard

ADAPTERS: dict[str, Adapter] = {adapter.id: adapter for adapter in (JsonFeed(), EmbeddedState(), DrawnBoard())}
