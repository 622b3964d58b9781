"""URLs: one canonical spelling per page, and the host that a request counts against."""

import re
from functools import cache, lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import quote_plus, unquote_to_bytes

from ada_url import join_url, normalize_url
from publicsuffixlist import PublicSuffixList

TRACKING_PARAMETERS = frozenset({"fbclid", "gclid", "ref", "source", "campaign"})
TRACKING_PREFIX = "utm_"

# Addresses that are spelled as a browser would already, the great majority: a host of plain labels or four numbers,
# no default port, no segment that starts with a dot, nothing to escape. The parser was the dearest step of a fetch.
_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_PORT = r"(?:[1-9]\d\d\d|[1-5]\d\d\d\d|6[0-4]\d\d\d)"
_NORMAL_ORIGIN = re.compile(
    rf"https?://(?:(?:(?!xn--)[a-z0-9][a-z0-9-]*\.)+(?!xn--)[a-z][a-z-]+|(?:{_BYTE}\.){{3}}{_BYTE})(?::{_PORT})?",
    re.ASCII,
)
_NORMAL = re.compile(
    rf"{_NORMAL_ORIGIN.pattern}/(?:[A-Za-z0-9_~=+-][A-Za-z0-9._~=+-]*/)*(?:[A-Za-z0-9_~=+-][A-Za-z0-9._~=+-]*)?"
    r"(?:\?[A-Za-z0-9._~=&%+-]*)?",
    re.ASCII,
)
_TIDY_PATH = re.compile(r"/[A-Za-z0-9._~=+/-]*")
_is_tidy = _TIDY_PATH.fullmatch
_PLAIN_QUERY_TEXT = re.compile(r"[A-Za-z0-9_.~+-]*")
_PERCENT = re.compile(r"%([0-9A-Fa-f]{2})?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class BadUrl(ValueError):
    """A URL that is invalid or not http(s)."""


def normalize(url: str) -> str:
    """Return a URL as a browser would request it (WHATWG): `0x7f.1` becomes `127.0.0.1`, `é` becomes `%C3%A9`."""
    if _NORMAL.fullmatch(url):
        return url
    try:
        href: str = normalize_url(url)
    except ValueError:
        raise _bad(url) from None
    if not href.startswith(("https://", "http://")):
        raise _bad(url)
    return href


def join(base: str, reference: str) -> str:
    """Resolve `reference` (a link, a Location header) against the URL `base`; any scheme."""
    try:
        href: str = join_url(base, reference)
    except ValueError:
        raise _bad(reference) from None
    return href


def canonicalize(url: str) -> str:
    """Return the canonical spelling of a URL, so that the same page is one target. Idempotent.

    A parameter is empty when nothing follows its equals sign; a bare word (`?1750,4`) is kept, because sites
    that use one name their pages with it. Most URLs have a known origin and a path that is canonical already,
    and are not parsed.
    """
    slash = url.find("/", 8)  # past the slashes of https://
    path = url[slash:]
    if _is_tidy(path) and "/." not in path and (canonical := _canonical_origin(url[:slash])):
        return canonical + (path.rstrip("/") or "/")
    return _taken_apart(url)


@lru_cache(maxsize=4_096)
def _canonical_origin(origin: str) -> str:
    """Return the canonical spelling of a plain origin, without a slash; '' for any other."""
    return _taken_apart(origin + "/").removesuffix("/") if _NORMAL_ORIGIN.fullmatch(origin) else ""


@lru_cache(maxsize=16_384)
def _taken_apart(url: str) -> str:
    """Return the canonical spelling of any URL, by parsing it."""
    scheme, _, rest = normalize(url).partition("://")
    rest, _, _ = rest.partition("#")
    rest, _, query = rest.partition("?")
    authority, _, path = rest.partition("/")
    authority = authority.rpartition("@")[2]  # who asks is no part of which page it is
    if scheme == "http":
        authority = authority.removesuffix(":443")  # the port is the default one now
    path = "/" + path if "%" not in path else "/" + _PERCENT.sub(_tidy_escape, path)
    query = _tidy_query(query) if query else ""
    return f"https://{authority}{path.rstrip('/') or '/'}{'?' if query else ''}{query}"


def shown_address(url: str) -> str:
    """Return a URL as a reader may follow it: as the site gives it, but without a user name or password."""
    href = normalize(url)
    scheme, _, rest = href.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"


@lru_cache(maxsize=16_384)
def host_of(url: str) -> str:
    """Return the host of a URL in lower case, without port or brackets."""
    return hostname(normalize(url))


def hostname(href: str) -> str:
    """Return the host of a URL that is already normalized; faster than `host_of`."""
    authority = href.split("/", 3)[2].partition("?")[0].rpartition("@")[2]
    if authority.startswith("["):
        return authority[1 : authority.index("]")]
    return authority.partition(":")[0]


def origin_of(href: str) -> str:
    """Return the scheme, host and port of a normalized URL: what one robots.txt covers."""
    end = href.find("/", 8)  # past the slashes of https://
    return href if end < 0 else href[:end]


@lru_cache(maxsize=16_384)
def registrable_domain(host_or_url: str) -> str:
    """Return the registered domain (eTLD+1), which shares one pace: `bbc.co.uk` for `www.bbc.co.uk`.

    An IP address is returned as it is, and so is a name that cannot be registered, such as `localhost` or `co.uk`.
    """
    host = host_of(host_or_url if "://" in host_or_url else f"http://{_bracketed(host_or_url)}").strip(".")
    if address_of(host) is not None:
        return host
    return _public_suffixes().privatesuffix(host) or host


def leads_elsewhere(url: str, final_url: str) -> bool:
    """Return whether redirects led from a URL to another site; what is wrong there says nothing about its own."""
    if not final_url or url.split("/", 3)[:3] == final_url.split("/", 3)[:3]:
        return False
    try:
        return registrable_domain(url) != registrable_domain(final_url)
    except BadUrl:
        return True


def address_of(host: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address in a normalized host, or None if it is a name."""
    if ":" not in host and not host[-1:].isdigit():
        return None
    try:
        return ip_address(host)
    except ValueError:
        return None


@cache
def _public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def _bracketed(host: str) -> str:
    return f"[{host}]" if host.count(":") > 1 and not host.startswith("[") else host


def _tidy_escape(match: re.Match[str]) -> str:
    """Upper-case an escape, undo one that was not needed, and escape a lone percent sign."""
    digits = match[1]
    if digits is None:
        return "%25"
    character = chr(int(digits, 16))
    return character if character in _UNRESERVED else f"%{digits.upper()}"


def _tidy_query(query: str) -> str:
    return "&".join(sorted(kept for parameter in query.split("&") if (kept := _tidy_parameter(parameter))))


def _tidy_parameter(parameter: str) -> str:
    name, equals, value = parameter.partition("=")
    name = _tidy_query_text(name)
    if equals and not value:
        return ""
    lowered = name.lower()
    if lowered in TRACKING_PARAMETERS or lowered.startswith(TRACKING_PREFIX):
        return ""
    return f"{name}={_tidy_query_text(value)}" if equals else name


def _tidy_query_text(text: str) -> str:
    if _PLAIN_QUERY_TEXT.fullmatch(text):
        return text
    return quote_plus(unquote_to_bytes(text.replace("+", " ")))


def _bad(url: str) -> BadUrl:
    shown = url if len(url) <= 200 else f"{url[:200]}..."  # noqa: PLR2004 - enough to recognise it by
    return BadUrl(f"{shown!r} is not a web address: write it in full, such as https://example.org/agenda")
