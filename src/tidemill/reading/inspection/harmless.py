"""A stored page rebuilt from an allow-list: its words and structure, with marks, and nothing of its own that acts.

Nothing of the page's markup is copied: tags are written anew from a list, attributes are dropped but for a few that
only arrange cells and tell a language, and text is escaped. So what the list does not name cannot come through.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape

from selectolax.lexbor import LexborNode

from tidemill.reading.document import Document
from tidemill.reading.inspection.marking import MOST_ELEMENTS, Mark, elements_of
from tidemill.reading.text import squash

LONGEST_PAGE = 2_000_000
"""Characters that are written; a longer page is cut, and says so."""

_KEPT = frozenset({
    "article", "aside", "b", "blockquote", "br", "caption", "cite", "code", "dd", "del", "div", "dl", "dt", "em",
    "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "i", "ins", "li", "main",
    "mark", "nav", "ol", "p", "pre", "q", "s", "section", "small", "span", "strong", "sub", "sup", "table", "tbody",
    "td", "tfoot", "th", "thead", "time", "tr", "u", "ul",
})  # fmt: skip
_DROPPED = frozenset({
    "script", "style", "template", "noscript", "head", "svg", "math", "iframe", "frame", "frameset", "object",
    "embed", "applet", "portal", "base", "link", "meta", "title", "select", "datalist", "audio", "video", "canvas",
    "dialog", "noembed", "noframes", "plaintext", "xmp",
})  # fmt: skip
_EMPTY = frozenset({"br", "hr"})
_CELLS = ("colspan", "rowspan")
_MOST_SPAN = 50

LinkTo = Callable[[int], str]
"""Returns the address that choosing an element's text leads to."""


def harmless_body(document: Document, marks: Mapping[int, Sequence[Mark]], link: LinkTo | None = None) -> str:
    """Return the page's body, rebuilt; marked elements carry their fields, and text leads to `link` if there is one."""
    numbers = {node.mem_id: number for number, node in enumerate(elements_of(document))}
    writer = _Writer(numbers, marks, link)
    root = document.tree.body
    if root is not None:
        writer.write(root)
    return "".join(writer.parts)


class _Writer:
    """Writes a tree without recursion: hostile pages nest deeply."""

    def __init__(self, numbers: Mapping[int, int], marks: Mapping[int, Sequence[Mark]], link: LinkTo | None) -> None:
        self.parts: list[str] = []
        self._length = 0
        self._numbers = numbers
        self._marks = marks
        self._link = link

    def write(self, root: LexborNode) -> None:
        pending: list[LexborNode | str] = [root]
        while pending:
            current = pending.pop()
            if isinstance(current, str):
                self._add(current)
                continue
            if self._length > LONGEST_PAGE:
                continue
            if current.is_text_node:
                self._text(current)
            elif current.tag is not None and current.tag not in _DROPPED:
                pending += reversed(self._element(current))

    def _element(self, node: LexborNode) -> list[LexborNode | str]:
        number = self._numbers.get(node.mem_id, MOST_ELEMENTS)
        tag = node.tag if node.tag in _KEPT else "a-link" if node.tag == "a" else "div" if _is_block(node) else "span"
        name = "span" if tag == "a-link" else tag
        marked = self._marks.get(number, ())
        self._add(f"<{name}{_attributes(node)}{_mark_attributes(number, marked)}>")
        if node.tag == "img" or name in _EMPTY:
            if node.tag == "img":
                self._picture(node, number)
            return [] if name in _EMPTY else [f"</{name}>"]
        children: list[LexborNode | str] = []
        child = node.first_child
        while child is not None:
            children.append(child)
            child = child.next
        labels = "".join(f'<sup class="tm-label">{escape(each.field)}</sup>' for each in marked)
        return [*children, f"{labels}</{name}>"]

    def _picture(self, node: LexborNode, number: int) -> None:
        words = squash(node.attributes.get("alt") or "")[:200]
        self._linked(f"[picture{': ' + words if words else ''}]", number)

    def _text(self, node: LexborNode) -> None:
        words = node.text_content or ""
        if words.isspace() or not words:
            self._add(" " if words else "")
            return
        parent = node.parent
        self._linked(words, self._numbers.get(parent.mem_id, MOST_ELEMENTS) if parent is not None else MOST_ELEMENTS)

    def _linked(self, words: str, number: int) -> None:
        if self._link is None or number >= MOST_ELEMENTS:
            self._add(escape(words))
        else:
            self._add(f'<a href="{escape(self._link(number))}" target="_top">{escape(words)}</a>')

    def _add(self, text: str) -> None:
        self._length += len(text)
        self.parts.append(text)


def _is_block(node: LexborNode) -> bool:
    return node.tag in {"body", "form", "fieldset", "address", "details", "summary", "center", "dir", "menu", "hgroup"}


def _attributes(node: LexborNode) -> str:
    written = ""
    for name in _CELLS:
        value = node.attributes.get(name) or ""
        if value.isascii() and value.isdecimal() and len(value) < 3 and int(value) <= _MOST_SPAN:  # noqa: PLR2004
            written += f' {name}="{int(value)}"'
    if node.attributes.get("dir") in {"ltr", "rtl"}:
        written += f' dir="{node.attributes["dir"]}"'
    return written


def _mark_attributes(number: int, marked: Sequence[Mark]) -> str:
    if not marked:
        return ""
    kind = "exact" if any(each.kind.name == "EXACT" for each in marked) else marked[0].kind.name.lower()
    words = "; ".join(f"{each.field}: {each.value}" for each in marked)[:300]
    return f' class="tm-mark tm-{kind}" id="element-{number}" title="{escape(words)}"'
