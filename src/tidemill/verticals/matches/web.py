"""What matches add to the web app."""

from tidemill.verticals.matches.parts import MatchesParts
from tidemill.web.deps import WebDeps
from tidemill.web.extension import WebExtension


def web_extension(deps: WebDeps, parts: MatchesParts) -> WebExtension:
    """Return the routes of matches: none yet; the router of streams is not mounted for them."""
    del deps, parts
    return WebExtension(vertical="matches")
