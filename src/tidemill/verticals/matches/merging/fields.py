"""The fields beside the score, merged field by field: precedence, fallback where one says nothing, then the newer."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tidemill.core.reconcile import LEAST_CONFIDENCE, ReconciledField, SourceClaim, reconcile
from tidemill.verticals.matches.merging.memory import SiteMemory
from tidemill.verticals.matches.telling import MatchReading

_DEMOTION = 1_000


def merged_fields(sites: Iterable[SiteMemory]) -> dict[str, ReconciledField]:
    """Return every field that a trusted site tells."""
    return reconcile([claim_of(site) for site in sites if site.reading is not None])


def claim_of(site: SiteMemory) -> SourceClaim:
    """Return what a site claims of the fields beside the score; those it is not sure enough of are left out.

    A demoted site comes after all others, so that its claims stand only where nobody else says anything. The share of
    its good readings beyond that is of no account here, or titles would change back and forth with it.
    """
    assert site.reading is not None and site.told_at is not None  # noqa: S101, PT018 - it has told something
    claims = claims_of(site.reading)
    sure = {name: value for name, value in claims.items() if site.reading.confidence.get(name, 1.0) >= LEAST_CONFIDENCE}
    precedence = site.site.precedence - (_DEMOTION if site.reliability.is_demoted else 0)
    return SourceClaim(source=site.site.source, precedence=precedence, at=site.told_at, fields=sure)


def claims_of(reading: MatchReading) -> dict[str, Any]:
    """Return the fields beside the score as readers see them."""
    toss = msgspec.structs.asdict(reading.toss) if reading.toss is not None else {}
    return {
        "title": reading.title,
        "venue": reading.venue,
        "toss": {name: value for name, value in toss.items() if value},
        "start_time": reading.start_time,
        "series": reading.series,
        "match_type": reading.match_type,
        "weather": reading.weather,
    }


METADATA = ("series", "match_type", "weather")


def fields_json(fields: Mapping[str, ReconciledField]) -> dict[str, Any]:
    """Return the merged fields as they stand in a state."""
    plain = {name: field.value for name, field in fields.items() if name not in METADATA}
    metadata = {name: fields[name].value for name in METADATA if name in fields}
    return plain | ({"metadata": metadata} if metadata else {})
