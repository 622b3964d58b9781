"""Whether failed polls say that a site is unwell: one thing's dead page must not open the breaker of its site."""

from collections.abc import Mapping

import msgspec


class SiteFailures(msgspec.Struct, frozen=True):
    """The failures of a site's pages in a row, by page, since any of them was last read well."""

    by_page: Mapping[int, int] = msgspec.field(default_factory=dict)


def counts_against_site(failures: SiteFailures, page: int, pages: int, threshold: int) -> tuple[SiteFailures, bool]:
    """Return the failures with one more of this page, and whether the breaker hears of it.

    The breaker opens after `threshold` failures in a row. Each of the site's `pages` may bring no more than its share
    of them, rounded up, and never all of them unless it is the only one: so at least two pages must fail together.
    """
    seen = failures.by_page.get(page, 0)
    most = threshold if pages <= 1 else min(threshold - 1, -(-threshold // pages))
    return SiteFailures({**failures.by_page, page: seen + 1}), seen < most


def after_good_reading(failures: SiteFailures) -> SiteFailures:
    """Return the failures after any page of the site was read well: none."""
    return SiteFailures() if failures.by_page else failures
