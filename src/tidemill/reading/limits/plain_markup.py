"""A quick look at markup: whether its tags are so plainly in order that no limit on nesting can be near.

Nearly all pages are plain. An element counts as open until its own end tag comes, or one around it that surely ends it
too, so that no more than these are open in the parser, give or take a few. A page that is not plain may still be within
the limits; the exact scan says so.
"""

from collections.abc import Iterable, Mapping

from tidemill.reading.limits.open_elements import BLOCKS, FENCES, FOREIGN, FORMATTING, VOID, tag_names

MOST_PLAIN_DEPTH = 64
"""Elements that may be open: of saved pages the deepest has 41 within each other."""

Tag = tuple[str, str, str, str, str]
"""An element of raw text (name, attributes, text), or a tag (name, attributes); the others are ''."""

_ITEMS = tag_names("p li dd dt option td th tr tbody thead tfoot caption colgroup")
"""Elements whose end may be left out."""
_OF_TABLES = tag_names("td th tr tbody thead tfoot caption colgroup")
_CELL = frozenset({"td", "th", "p"})
_ENDED_BY: Mapping[str, frozenset[str]] = {
    "p": frozenset({"p"}),
    "li": frozenset({"li", "p"}),
    "dd": frozenset({"dd", "dt", "p"}),
    "dt": frozenset({"dd", "dt", "p"}),
    "option": frozenset({"option"}),
    "td": _CELL,
    "th": _CELL,
    "tr": _CELL | {"tr"},
    **dict.fromkeys(("tbody", "thead", "tfoot"), _CELL | {"tr", "tbody", "thead", "tfoot", "caption", "colgroup"}),
}
"""What a start tag ends if it was opened last."""
_HOLDS_RAW = FOREIGN | {"select", "template"}
"""Elements in which the parser reads scripts and styles as markup."""
_HELD = FENCES | FORMATTING | _HOLDS_RAW
"""What the end of a block around it does not end here: in the parser it may stay open, or be opened anew."""
_ENDS_ALL_WITHIN = BLOCKS - FENCES - {"form"}
_ENDS_ITEMS_WITHIN = _ITEMS - {"option"} | FENCES | tag_names("form select button h1 h2 h3 h4 h5 h6")
_REACH = 8
_SIMPLE = tag_names("span label a b i em strong button") | BLOCKS
"""Common names as most pages write them."""
_ROOTS = frozenset({"html", "body"})
_DRAWN = tag_names(
    "svg path g rect circle ellipse line polyline polygon use defs symbol mask clippath stop lineargradient "
    "radialgradient pattern text tspan filter animate animatetransform"
)
"""What drawings are made of; anything else within one may end it."""
_RAW = tag_names("script style title textarea xmp iframe noembed noframes")
_NEVER_PLAIN = tag_names("frameset math mi mo mn ms mtext") | _DRAWN - {"svg"}


def is_plain(tags: Iterable[Tag], deepest: int, most_options: int) -> bool:
    """Whether never more than so many elements are open, and no raw text is read as markup."""
    elements = _Opened()
    opened = elements.names
    for _, _, content, tag, attributes in tags:
        if tag[:1] == "/":
            if tag[1:] == opened[-1]:
                opened.pop()
            elif not elements.end(tag[1:].lower()):
                return False
        elif tag:
            if not elements.start(tag if tag in _SIMPLE else tag.lower(), attributes) or len(opened) > deepest:
                return False
        elif "<" in content and not _HOLDS_RAW.isdisjoint(opened):
            return False
    return elements.options <= most_options


class _Opened:
    """The elements that may be open; both methods answer False where that is not plain to see."""

    def __init__(self) -> None:
        self.names = [""]
        self.options = 0

    def start(self, name: str, attributes: str) -> bool:
        opened = self.names
        if opened[-1] in _DRAWN:
            return self._draw(name, attributes)
        if name in _ENDED_BY:
            self.options += name == "option"
            while opened[-1] in _ENDED_BY[name]:
                opened.pop()
        elif name in VOID:
            return True
        elif name in _NEVER_PLAIN or (name in _ROOTS and name in opened):
            return False
        opened.append(name)
        return name not in _OF_TABLES or "table" in opened

    def _draw(self, name: str, attributes: str) -> bool:
        if attributes[-1:] == "/" and (name in _DRAWN or name.startswith("fe")):  # an effect, such as `feBlend`
            return True
        self.names.append(name)
        return name in _DRAWN

    def end(self, name: str) -> bool:
        """End the nearest element of a name with what its end tag ends too; nothing if it ends none for sure."""
        opened = self.names
        if opened[-1] in _DRAWN:
            return name in _RAW
        ends_all = name in _ENDS_ALL_WITHIN
        if not ends_all and name not in _ENDS_ITEMS_WITHIN:
            return True
        for place in range(len(opened) - 1, max(0, len(opened) - _REACH), -1):
            if opened[place] == name:
                del opened[place:]
                break
            if opened[place] in _HELD if ends_all else opened[place] not in _ITEMS:
                break
        return True
