"""Whether a list of matches is whole, by what it says of itself: a total, a next page, a place among pages."""

from collections.abc import Iterator, Mapping
from typing import Any

_PARTS = ("meta", "pagination", "paging", "links", "_links", "pageinfo")
_TOTALS = ("total", "totalcount", "total_count", "totalmatches", "totalresults", "total_results", "numfound")
_FOLLOWING = ("next", "nextpage", "next_page", "nexturl", "next_url", "nextcursor", "next_cursor", "nextpagetoken")
_MORE = ("hasmore", "has_more", "hasnext", "has_next", "hasnextpage", "has_next_page", "truncated")
_PAGE, _PAGES = ("page", "currentpage", "current_page"), ("pages", "totalpages", "total_pages", "pagecount")


def says_more(value: Any, listed: int) -> bool:
    """Return whether a list says that it has more than the matches that were found in it."""
    return any(_is_cut(part, listed) for part in _parts_of(value))


def _parts_of(value: Any) -> Iterator[Mapping[str, Any]]:
    if not isinstance(value, dict):
        return
    flat = {name.lower(): each for name, each in value.items() if isinstance(name, str)}
    yield flat
    for name in _PARTS:
        part = flat.get(name)
        if isinstance(part, dict):
            yield {inner.lower(): each for inner, each in part.items() if isinstance(inner, str)}


def _is_cut(part: Mapping[str, Any], listed: int) -> bool:
    page, pages = _whole(part, _PAGE), _whole(part, _PAGES)
    total = _whole(part, _TOTALS)
    return (
        any(part.get(name) is True for name in _MORE)
        or any(part.get(name) not in (None, "", False, {}, []) for name in _FOLLOWING)
        or (total is not None and total > listed)
        or (page is not None and pages is not None and page < pages)
    )


def _whole(part: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    found = (part.get(name) for name in names)
    return next((each for each in found if isinstance(each, int) and not isinstance(each, bool)), None)
