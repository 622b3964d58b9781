"""Events: what is on, from agenda pages of municipalities and venues."""

from typing import TYPE_CHECKING

from tidemill.plugin import Environment, Plugin, StoreEnvironment

if TYPE_CHECKING:  # each part is imported when it is asked for
    from collections.abc import Sequence
    from pathlib import Path

    from tidemill.core.vertical import Vertical
    from tidemill.lab.part import LabPart
    from tidemill.operations.scoring.score import Score
    from tidemill.verticals.events.parts import EventsParts, EventsStore
    from tidemill.web.deps import WebDeps
    from tidemill.web.extension import WebExtension


class EventsPlugin(Plugin["EventsStore", "EventsParts"]):
    """All of events, in one value."""

    name = "events"
    needs_approval = False

    def load(self) -> "Vertical":
        """Policy, adapters and rules."""
        from tidemill.verticals.events.definition import EVENTS

        return EVENTS

    def store(self, environment: StoreEnvironment) -> "EventsStore":
        """The tables."""
        from tidemill.verticals.events.parts import open_store

        return open_store(environment)

    def build(self, environment: Environment, store: "EventsStore") -> "EventsParts":
        """What can be exported, the chore that makes cards."""
        from tidemill.verticals.events.parts import build_parts

        return build_parts(environment, store)

    def web(self, deps: "WebDeps", parts: "EventsParts") -> "WebExtension":
        """Its routes and pages."""
        from tidemill.verticals.events.web import web_extension

        return web_extension(deps, parts)

    def lab(self) -> "LabPart":
        """Its sites in the lab."""
        from tidemill.verticals.events.lab.part import LAB

        return LAB

    def scores(self, folder: "Path", time_zone: str) -> "Sequence[Score]":
        """How well the events of saved pages are read."""
        from tidemill.verticals.events.scoring import event_scores

        return event_scores(folder, time_zone)


VERTICAL = EventsPlugin()
"""The one that `bootstrap` lists."""
