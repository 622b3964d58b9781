"""What faults put in a page's place, or do to its text."""

import zlib
from collections.abc import Iterator
from functools import lru_cache, reduce

from tidemill.verticals.events.lab.sites import Site
from tidemill.verticals.events.lab.templates import whole

_MEGABYTE = 1_000_000
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


def block_page(site: Site) -> str:
    """A captcha: nothing on it is the site's own content."""
    texts = {
        "nl": ("Toegang geweigerd", "Bewijs dat u geen robot bent: los de captcha op om verder te gaan."),
        "en": ("Access denied", "Please verify that you are a human: solve the captcha to continue."),
    }
    title, text = texts[site.language]
    main = (
        f'<h1>{title}</h1><p>{text}</p><form id="challenge-form" action="/challenge" method="post">'
        f'<div class="g-recaptcha" data-sitekey="lab"></div></form><p>Ray ID: 7f3a90c1d2</p>'
    )
    return whole(site, title, "", main, boilerplate=False)


def consent_wall(site: Site) -> str:
    """A cookie wall: the content comes only after a choice that we never make."""
    phrases = site.vocabulary.phrases
    main = (
        f'<div class="cookiewall" role="dialog"><h1>{phrases["consent_title"]}</h1><p>{phrases["consent"]}</p>'
        f'<form action="/cookiewall" method="post"><button>{phrases["accept"]}</button></form></div>'
    )
    return whole(site, phrases["consent_title"], "", main, boilerplate=False)


def malformed(html: str) -> str:
    """The page as a careless template would write it: open tags, lost quotes, stray brackets, a NUL."""
    for tag in ("article", "li", "p", "h3", "td", "tr", "span", "section"):
        html = html.replace(f"</{tag}>", "")
    html = html.replace('width="640"', "width=640").replace("<h1>", '<h1 class="a" class="b">')
    return html.replace("<main>", "<main><div <p>< \x00 &nosuch; <!-- -- >-->", 1).replace("</main>", "</div></em>", 1)


def broken_jsonld(html: str) -> str:
    """The page with its first block of structured data spoilt, or with a spoilt block if it had none."""
    if '"@type":"Event",' in html:
        return html.replace('"@type":"Event",', '"@type":"Event",,\n"', 1)
    return html.replace("</head>", '<script type="application/ld+json">[{"@type":"Event","name":"Oe</script></head>', 1)


def huge_plain(megabytes: int) -> Iterator[bytes]:
    """So many megabytes of next to nothing, one at a time."""
    piece = b"<p>" + b" " * (_MEGABYTE - 3)
    for _ in range(megabytes):
        yield piece


def huge_gzip(megabytes: int) -> Iterator[bytes]:
    """The same behind gzip: one compressed megabyte, sent again and again, at no cost to speak of."""
    yield _GZIP_HEADER
    for _ in range(megabytes):
        yield _packed_megabyte()
    length = megabytes * _MEGABYTE % 2**32
    yield b"\x03\x00" + _checksum(megabytes).to_bytes(4, "little") + length.to_bytes(4, "little")


@lru_cache(maxsize=1)
def _packed_megabyte() -> bytes:
    """A block that refers to nothing before it, so that it can follow itself."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(next(huge_plain(1))) + packer.flush(zlib.Z_FULL_FLUSH)


@lru_cache(maxsize=8)
def _checksum(megabytes: int) -> int:
    return reduce(lambda checksum, piece: zlib.crc32(piece, checksum), huge_plain(megabytes), 0)
