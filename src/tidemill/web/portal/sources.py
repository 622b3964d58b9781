"""What the pages of sources share: their order, and where their records are."""

from collections.abc import Mapping

from tidemill.core.health.sources import SourceStanding
from tidemill.core.views import SourceView
from tidemill.web.extension import PortalExtension

_URGENCY = [
    SourceStanding.FAILING,
    SourceStanding.BARREN,
    SourceStanding.HELD_BACK,
    SourceStanding.EMPTY,
    SourceStanding.NEW,
    SourceStanding.WELL,
    SourceStanding.OFF,
]
"""The order in which people want to see sources."""


def urgency(source: SourceView) -> tuple[int, str]:
    """Return a key that sorts those in trouble first."""
    return _URGENCY.index(source.standing), source.name.lower()


def records_path(source: SourceView, portals: Mapping[str, PortalExtension]) -> str | None:
    """Return where the records of a source are listed, if its vertical has such a page."""
    portal = portals.get(source.vertical)
    if portal is None or portal.records_path is None:
        return None
    return portal.records_path(source.name)
