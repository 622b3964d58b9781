"""What a reader answers for a page: its records, no more than a page may have, and whether anything is missing."""

from collections.abc import Sequence

from tidemill.core.record import Found, RawRecord, Strategy
from tidemill.reading.document import Document

MOST_RECORDS = 5_000
"""Records of one page; no list that people look at has more."""


def page_answer(
    document: Document,
    records: Sequence[RawRecord],
    *,
    total: int | None,
    next_url: str | None,
    notes: Sequence[str] = (),
) -> Found:
    """The answer for a page's records; `truncated` if some were left out, or the page was cut before it was read."""
    strategy = records[0].strategy if records else None
    said: list[str] = [*notes]
    is_partial = strategy is Strategy.HEURISTICS and document.truncated
    if strategy is not Strategy.JSONLD and document.cut:  # JSON-LD is read in full, from the page's bytes
        said.append(f"the page was cut: {document.cut}")
        is_partial = True
    if len(records) > MOST_RECORDS:
        said.append(f"{len(records)} records, of which the first {MOST_RECORDS} were kept")
        records, is_partial = records[:MOST_RECORDS], True
    return Found(records=records, total=total, next_url=next_url, truncated=is_partial, notes=tuple(said))
