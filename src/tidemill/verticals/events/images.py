"""Which pictures are of the event: no tracking pixels, no inline data, no logos, sprites or placeholders."""

import re
from functools import lru_cache

_LONGEST_URL = 2_000
_SMALLEST = 100
"""Pixels; what is told to be smaller in a direction is an icon."""

_NO_PICTURE = re.compile(
    r"pixel|1x1|spacer|track(?:ing|er)|beacon|/tr\?|blank\.|transparent\.|placeholder|no-?image|default-?image"
    r"|sprite|favicon|(?:^|[/_-])logo(?:[/_.-]|$)|(?:^|[/_-])icons?(?:[/_.-]|$)|avatar|gravatar|captcha|counter\."
    r"|loading\.|loader\.|\.gif(?:$|\?)|\.svg(?:$|\?)|\.ico(?:$|\?)",
)
_COUNTERS = re.compile(
    r"//(?:[\w-]+\.)*(?:doubleclick\.net|google-analytics\.com|googletagmanager\.com|scorecardresearch\.com|hotjar\.com"
    r"|facebook\.com|analytics\.[\w.]+|matomo\.[\w.]+|piwik\.[\w.]+|stats\.[\w.]+|pixel\.[\w.]+)(?::\d+)?/"
)
_SIZES = re.compile(r"(?<![\dx])(\d{1,4})x(\d{1,4})(?![\dx])")
_WIDTHS = re.compile(r"[?&/](?:w|width|h|height)[=_](\d{1,4})(?!\d)")


@lru_cache(maxsize=1_024)
def picture(url: str) -> str | None:
    """The address if a reader would see a picture of something there, else None."""
    if not url.startswith(("https://", "http://")) or len(url) > _LONGEST_URL:
        return None
    low = url.lower()
    if _NO_PICTURE.search(low) or _COUNTERS.search(low):
        return None
    return None if _is_tiny(low) else url


def _is_tiny(url: str) -> bool:
    sizes = [int(side) for both in _SIZES.findall(url) for side in both]
    sizes += [int(side) for side in _WIDTHS.findall(url)]
    return any(size < _SMALLEST for size in sizes)
