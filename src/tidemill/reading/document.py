"""A page as a document: its bytes at once, its text and its tree when somebody asks for them."""

import re
from typing import Self

from ada_url import join_url
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from tidemill.core.page import Page
from tidemill.reading.limits.content_markup import content_of_markup
from tidemill.reading.limits.markup_limits import within_limits
from tidemill.reading.once import computed_once
from tidemill.reading.scripts import data_spans
from tidemill.reading.text import squash
from tidemill.reading.wrapped import may_wrap, unwrapped

_PLAINLY_WHOLE = re.compile(r"https?://[a-z0-9-]+(?:\.[a-z0-9-]*[a-z][a-z0-9-]*)+(?:/[\w~%-]+(?:\.\w+)*)+/?", re.ASCII)
_is_rooted = re.compile(r"/(?!/)[A-Za-z0-9_~%./-]+(?:\?[A-Za-z0-9_~%=&.+-]*)?").fullmatch
_BASE = re.compile(rb"<[bB][aA][sS][eE]")
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(?::[1-9]\d{1,4})?(?=/|$)", re.ASCII)

HEURISTIC_LIMIT = 500_000
"""Characters of markup that heuristics read, scripts and styles not counted; structured data is read in full."""


class Document:
    """Markup and the address it came from.

    It is decoded and parsed on first use, and never if its JSON-LD alone will do. No markup makes it throw.
    """

    def __init__(self, markup: str | bytes, url: str = "") -> None:
        """Keep the markup, as text or in UTF-8; nothing is decoded or parsed yet."""
        self._given = markup
        self._left_out: list[str] = []
        self.url = url

    @classmethod
    def of(cls, page: Page) -> Self:
        """The document of a stored page, its links relative to where redirects ended; JSON gives up what it wraps."""
        address = page.final_url or page.url
        is_ready = page.charset == "utf-8" and not may_wrap(page.body)
        return cls(page.body if is_ready else unwrapped(page.text), address)

    @computed_once
    def markup(self) -> str:
        """The markup as text; bytes that do not decode become U+FFFD, as in a browser."""
        return self._given if isinstance(self._given, str) else self._given.decode(errors="replace")

    @computed_once
    def encoded(self) -> bytes:
        """The markup in UTF-8, which JSON-LD is read from."""
        return self._given if isinstance(self._given, bytes) else self._given.encode(errors="replace")

    @computed_once
    def data_spans(self) -> tuple[tuple[int, int], ...]:
        """Where the encoded markup holds JSON-LD."""
        return tuple(data_spans(self.encoded))

    @computed_once
    def layout(self) -> bytes:
        """The encoded markup without its JSON-LD: what is left to search for words that readers see."""
        pieces, reached = [], 0
        for begins, ends in self.data_spans:
            pieces.append(self.encoded[reached:begins])
            reached = ends
        return b"".join([*pieces, self.encoded[reached:]]) if pieces else self.encoded

    @property
    def truncated(self) -> bool:
        """Whether heuristics see only the beginning of it, what nobody reads left out."""
        return len(self.markup) > HEURISTIC_LIMIT and len(self._content) > HEURISTIC_LIMIT

    @property
    def cut(self) -> str:
        """What of the page was not read: the limit at which it was cut, and what was left out; '' for a whole one."""
        return "; ".join(filter(None, (self._limited[1], *self._left_out)))

    def leave_out(self, what: str) -> None:
        """Note a part of the page that is not read, so that its answer says so."""
        if what not in self._left_out:
            self._left_out.append(what)

    @computed_once
    def _limited(self) -> tuple[str, str]:
        return within_limits(self.markup)

    @computed_once
    def _content(self) -> str:
        """The markup that the limits leave, without scripts, styles, drawings and comments."""
        return content_of_markup(self._limited[0])

    @computed_once
    def tree(self) -> LexborHTMLParser:
        """The whole page as a tree, or what the limits leave of it."""
        return LexborHTMLParser(self._limited[0])

    @computed_once
    def bounded_tree(self) -> LexborHTMLParser:
        """The tree that heuristics walk: of a large page the first 500 KB of its content."""
        if len(self.markup) <= HEURISTIC_LIMIT:
            return self.tree
        return LexborHTMLParser(self._content[:HEURISTIC_LIMIT])

    @computed_once
    def base_url(self) -> str:
        """What links are relative to: the page's address, or what its `<base href>` says."""
        if _BASE.search(self.layout) is None:
            return self.url
        node = self.tree.css_first("base[href]")
        href = node.attributes.get("href") if node is not None else None
        return absolute(self.url, href) or self.url if href else self.url

    @computed_once
    def _origin(self) -> str:
        """The scheme and host that rooted links lack; '' if they are spelled in an unusual way."""
        origin = _ORIGIN.match(self.base_url)
        return origin[0] if origin is not None else ""

    @computed_once
    def title(self) -> str:
        """The page's `<title>`, on one line."""
        node = self.tree.css_first("title")
        return squash(node.text()) if node is not None else ""

    @computed_once
    def text(self) -> str:
        """Everything a reader of the page would see, on one line."""
        return squash(" ".join(visible_strings(self.bounded_tree.root)))

    def absolute(self, href: str) -> str:
        """The address that a link on this page means; '' if it is none.

        A link that only lacks its origin is not parsed: most do.
        """
        if _is_rooted(href) and "/." not in href and (origin := self._origin):
            return origin + href
        return absolute(self.base_url, href)

    def css(self, selector: str) -> list[LexborNode]:
        """All nodes that the selector matches; none if the selector itself is broken."""
        try:
            return self.tree.css(selector)
        except SelectolaxError:
            return []

    def first(self, selector: str) -> LexborNode | None:
        """The first node that the selector matches."""
        try:
            return self.tree.css_first(selector)
        except SelectolaxError:
            return None


_INVISIBLE = frozenset({"script", "style", "template", "noscript", "head", "svg", "iframe", "object", "select"})


def visible_strings(node: LexborNode | None) -> list[str]:
    """The strings under a node that a reader would see, in order; scripts and styles are not."""
    found: list[str] = []
    pending = [node] if node is not None else []
    while pending:
        current = pending.pop()
        if current.next is not None and current is not node:
            pending.append(current.next)
        if current.is_text_node:
            text = current.text_content
            if text and not text.isspace():
                found.append(text)
        elif current.first_child is not None and current.tag not in _INVISIBLE:
            pending.append(current.first_child)
    return found


def absolute(base: str, href: str) -> str:
    """The web address that `href` means on the page `base`; '' for none (`mailto:`, `javascript:`, nonsense).

    An address that is plainly whole already is not parsed.
    """
    if _PLAINLY_WHOLE.fullmatch(href):
        return href
    href = href.strip()
    if not href:
        return ""
    try:
        joined: str = join_url(base, href) if base else join_url(href, "")
    except ValueError:
        return ""
    return joined if joined.startswith(("https://", "http://")) else ""
