"""The addresses that a feed lists, whatever form it has; read in one pass, and never more than a bound."""

import zlib
from collections.abc import Iterable, Sequence
from xml.parsers import expat

import msgspec

MOST_ADDRESSES = 10_000
MOST_BYTES = 20_000_000
"""Bytes of a feed after unpacking; what is beyond is not read."""
LONGEST_ADDRESS = 2_000
_PIECE = 65_536


class FeedListing(msgspec.Struct, frozen=True):
    """The pages that a feed lists, each once and in its order, and further feeds that an index of sitemaps names.

    `form` is what the feed is. `trouble` says why it was not read, or not to its end; '' if it was.
    """

    form: str
    pages: Sequence[str] = ()
    feeds: Sequence[str] = ()
    trouble: str = ""


def read_feed(body: bytes, charset: str | None = None, most: int = MOST_ADDRESSES) -> FeedListing:
    """Return what a feed lists. Its form is told from its content: servers call feeds all sorts of things."""
    content, is_cut = unpacked(body)
    start = content[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:20].lower().startswith((b"<!doctype html", b"<html")):
        return FeedListing("", trouble="it is a web page, and no feed")
    if start.startswith(b"{"):
        listing = _json_feed(content, most)
    elif start.startswith(b"<") or b"\x00" in start:
        listing = _XmlFeed(charset, most).read(content)
    else:
        listing = _plain_list(content, charset, most)
    if is_cut and not listing.trouble:
        return msgspec.structs.replace(listing, trouble=f"only its first {MOST_BYTES:,} bytes were read")
    return listing


def unpacked(body: bytes) -> tuple[bytes, bool]:
    """Return a feed that may be a `.gz` file unpacked, and whether it was cut."""
    if not body.startswith(b"\x1f\x8b"):
        return body[:MOST_BYTES], len(body) > MOST_BYTES
    packed = zlib.decompressobj(wbits=31)
    try:
        content = packed.decompress(body, MOST_BYTES)
    except zlib.error:
        return b"", False
    return content, not packed.eof


class _Collected:
    """Addresses, each once, up to a bound."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[str, None] = {}
        self.is_full = False

    def add(self, address: str) -> None:
        address = address.strip()
        if not address or len(address) > LONGEST_ADDRESS or not address.isprintable() or address in self._known:
            return
        if len(self._known) >= self._most:
            self.is_full = True
            return
        self._known[address] = None

    def all(self) -> list[str]:
        return list(self._known)


class _TooMuchSaid(Exception):
    """The reading ends here."""


FORMS = {"rss": "RSS", "rdf": "RSS 1.0", "feed": "Atom", "urlset": "sitemap", "sitemapindex": "index of sitemaps"}
_LINKS = {("item", "link"), ("url", "loc"), ("sitemap", "loc")}
"""An element of an entry whose text is the entry's address."""
_ENTRIES = {"item", "entry", "url", "sitemap"}


class _XmlFeed:
    """RSS, Atom and sitemaps, by their elements' local names; a document type that declares anything is refused."""

    def __init__(self, charset: str | None, most: int) -> None:
        self._charset = charset
        self._pages, self._feeds = _Collected(most), _Collected(most)
        self._form = ""
        self._path: list[str] = []
        self._entry_at = 0
        self._text: list[str] | None = None
        self._atom_links: list[tuple[str, str]] = []

    def read(self, content: bytes) -> FeedListing:
        trouble = ""
        try:
            self._parse(content)
        except _TooMuchSaid as end:
            trouble = str(end)
        except (expat.ExpatError, LookupError, ValueError) as error:
            trouble = f"it is not well-formed: {error}"
        if not self._form:
            return FeedListing("", trouble=trouble or "it is no feed: neither RSS, Atom nor a sitemap")
        if self._pages.is_full or self._feeds.is_full:
            trouble = trouble or "it lists more pages than are taken"
        return FeedListing(self._form, self._pages.all(), self._feeds.all(), trouble)

    def _parse(self, content: bytes) -> None:
        parser = expat.ParserCreate(encoding_of(content, self._charset))
        parser.buffer_text = True
        parser.StartElementHandler = self._starts
        parser.EndElementHandler = self._ends
        parser.CharacterDataHandler = self._says
        parser.EntityDeclHandler = _refuse_entities
        for at in range(0, len(content), _PIECE):
            parser.Parse(content[at : at + _PIECE], at + _PIECE >= len(content))
            if self._pages.is_full or self._feeds.is_full:
                return

    def _starts(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2].lower()
        if not self._path:
            self._form = FORMS.get(local, "")
            if not self._form:
                words = f"it is no feed: its root is <{local[:50]}>"
                raise _TooMuchSaid(words)
        self._path.append(local)
        if local in _ENTRIES and not self._entry_at:
            self._entry_at, self._atom_links = len(self._path), []
        elif self._entry_at and len(self._path) == self._entry_at + 1:
            if (self._path[-2], local) in _LINKS:
                self._text = []
            elif local == "link" and self._path[-2] == "entry":
                self._atom_links.append((attributes.get("rel", "alternate"), attributes.get("href", "")))

    def _says(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _ends(self, _name: str) -> None:
        if self._text is not None and len(self._path) == self._entry_at + 1:
            where = self._feeds if self._path[-2] == "sitemap" else self._pages
            where.add("".join(self._text))
            self._text = None
        if len(self._path) == self._entry_at:
            self._pages.add(next((href for rel, href in self._atom_links if rel == "alternate"), ""))
            self._entry_at = 0
        self._path.pop()


def encoding_of(content: bytes, charset: str | None) -> str | None:
    """Return the character set to read XML in; None where it says it itself, or is the usual one."""
    if b"encoding=" in content[:200] or b"\x00" in content[:64]:
        return None
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return charset
    return None


def _refuse_entities(*_declared: object) -> None:
    """Refuse a feed that declares entities: they are only ever used to make a little text large."""
    words = "it declares entities, which no feed needs"
    raise _TooMuchSaid(words)


def _json_feed(content: bytes, most: int) -> FeedListing:
    """Read JSON Feed: `{"items": [{"url": ...}]}`."""
    try:
        feed = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        return FeedListing("", trouble=f"it is not well-formed: {error}")
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list):
        return FeedListing("", trouble="it is no feed: JSON without `items`")
    return _collected("JSON feed", (each.get("url") for each in items if isinstance(each, dict)), most)


def _plain_list(content: bytes, charset: str | None, most: int) -> FeedListing:
    """Read a list of addresses, one on each line, as sitemaps may be too."""
    try:
        lines = content.decode(charset or "utf-8", errors="replace").splitlines()
    except LookupError:
        lines = content.decode("utf-8", errors="replace").splitlines()
    said = [line.strip() for line in lines if line.strip()]
    if not said or not all(line.startswith(("http://", "https://", "/")) for line in said[:100]):
        return FeedListing("", trouble="it is no feed: neither RSS, Atom, a sitemap nor a list of addresses")
    return _collected("list of addresses", said, most)


def _collected(form: str, said: Iterable[object], most: int) -> FeedListing:
    pages = _Collected(most)
    for each in said:
        if isinstance(each, str):
            pages.add(each)
        if pages.is_full:
            return FeedListing(form, pages.all(), trouble="it lists more pages than are taken")
    return FeedListing(form, pages.all())
