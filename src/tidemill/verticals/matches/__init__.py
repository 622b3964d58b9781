"""Matches: live scores, every ball in order, from several sites that tell of one match."""

from typing import TYPE_CHECKING

from tidemill.plugin import Command, Environment, Plugin, StoreEnvironment

if TYPE_CHECKING:  # each part is imported when it is asked for
    from tidemill.core.vertical import Vertical
    from tidemill.lab.part import LabPart
    from tidemill.verticals.matches.parts import MatchesParts, MatchesStore
    from tidemill.web.deps import WebDeps
    from tidemill.web.extension import WebExtension


class MatchesPlugin(Plugin["MatchesStore", "MatchesParts"]):
    """All of matches, in one value."""

    name = "matches"
    needs_approval = False
    commands = {  # noqa: RUF012 - a table, never changed
        "matches": Command(
            "Act",
            "List, show, follow, pause and resume matches; settle which match a site's id means.",
            "tidemill.verticals.matches.commands.matches",
            after="markets",
        ),
    }

    def load(self) -> "Vertical":
        """Policy, adapters and rules."""
        from tidemill.verticals.matches.definition import MATCHES

        return MATCHES

    def store(self, environment: StoreEnvironment) -> "MatchesStore":
        """The tables."""
        from tidemill.verticals.matches.parts import open_store

        return open_store(environment)

    def build(self, environment: Environment, store: "MatchesStore") -> "MatchesParts":
        """Actions, and what `why` explains."""
        from tidemill.verticals.matches.parts import build_parts

        return build_parts(environment, store)

    def web(self, deps: "WebDeps", parts: "MatchesParts") -> "WebExtension":
        """Its routes."""
        from tidemill.verticals.matches.web import web_extension

        return web_extension(deps, parts)

    def lab(self) -> "LabPart":
        """Its sites in the lab."""
        from tidemill.verticals.matches.lab.part import LAB

        return LAB


VERTICAL = MatchesPlugin()
"""The one that `bootstrap` lists."""
