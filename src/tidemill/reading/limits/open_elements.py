"""Which elements are open at a tag, closely enough to know how deep a page is before a tree is built of it."""

MOST_DEPTH = 512
"""Elements within each other, as in browsers; ordinary pages have under 100."""
MOST_UNSURE = 20_000
"""Elements of a page that a tag seems to close though others are open inside them: each may be open still."""
MOST_FORMATTING = 64
"""Unclosed `<b>`, `<font>` and the like, each of which is opened anew in every block that follows."""

_REACH = 24
"""Open elements that are looked at for what a tag closes."""
_ALIKE = 3
"""Equal formatting elements that are opened anew; of more the parser keeps three."""


def tag_names(words: str) -> frozenset[str]:
    """The names in a text."""
    return frozenset(words.split())


VOID = tag_names(
    "area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr"
)
FOREIGN = tag_names("svg math")
FORMATTING = tag_names("a b big code em font i nobr s small strike strong tt u")
_CELLS = tag_names("td th caption")
FENCES = _CELLS | tag_names("table template object applet marquee foreignobject desc title mi mo mn ms mtext")
"""What end tags of elements around them do not reach beyond."""
_LISTS = FENCES | tag_names("ul ol menu dir dl select button")
"""What the items within them do not close."""
_BLOCKS = (
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 "
    "h4 h5 h6 header hgroup hr main menu nav ol p pre search section summary table ul li dd dt"
)
_TABLE = tag_names("table")
_P, _ROW, _HEADINGS = frozenset({"p"}), frozenset({"td", "th", "tr"}), frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CLOSES = {
    **dict.fromkeys(_BLOCKS.split(), _P),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _HEADINGS | _P),
    "li": frozenset({"li", "p"}),
    "dd": frozenset({"dd", "dt", "p"}),
    "dt": frozenset({"dd", "dt", "p"}),
    "td": frozenset({"td", "th"}),
    "th": frozenset({"td", "th"}),
    "tr": _ROW,
    **dict.fromkeys(("tbody", "thead", "tfoot"), _ROW | {"tbody", "thead", "tfoot"}),
    "option": frozenset({"option"}),
    "optgroup": frozenset({"option"}),
    "a": frozenset({"a"}),
    "button": frozenset({"button"}),
    "nobr": frozenset({"nobr"}),
}
"""What a start tag closes by itself."""


BLOCKS = frozenset(name for name, closed in _CLOSES.items() if closed == _P and name != "p" and name not in VOID)
"""Elements that close an open paragraph, and nothing else."""
_LISTS_AND_BLOCKS = _LISTS | BLOCKS
TRACKED = frozenset({*FOREIGN, *FORMATTING, *_CELLS, "p"})
"""Elements of which is counted how many are open."""
SPECIAL_STARTS = frozenset({*VOID, *_CLOSES, "select", "template", "frameset", "html", "body"}) - BLOCKS
"""Elements whose start tag does more than open them."""


class OpenElements:
    """The elements that are open while a page's tags are read in order.

    They are the parser's for markup that closes what it opens, and for the end tags that may be left out. Elsewhere
    the two may differ by no more than `unsure`. `formatting` counts what would be opened anew in the next block.
    """

    def __init__(self) -> None:
        """Nothing is open."""
        self.opened: list[str] = []
        self.foreign = 0
        self.paragraphs = 0
        self.unsure = 0
        self.formatting = 0
        self._formatting: list[tuple[str, str]] = []

    def start(self, name: str, attributes: str) -> None:
        """Open an element, after closing what its tag closes."""
        if self.foreign:
            if attributes.endswith("/"):
                return
        elif name in VOID:
            return
        elif name in _CLOSES:
            self._close_before(name, _CLOSES[name])
        self.opened.append(name)
        if name in FORMATTING:
            self._format(name, attributes)
        elif name in _CELLS:
            self._formatting.append(("", ""))
        elif name in FOREIGN:
            self.foreign += 1
        elif name == "p":
            self.paragraphs += 1

    def end(self, name: str) -> None:
        """Close the nearest element of that name, with all that is open in it, unless a fence stands before it."""
        fences = _TABLE if name in FENCES else FENCES
        for place in range(len(self.opened) - 1, max(-1, len(self.opened) - _REACH), -1):
            if self.opened[place] == name:
                self._close_from(place)
                break
            if self.opened[place] in fences:
                break
        if name in FORMATTING:
            self._unformat(name)

    def exceeded(self) -> str:
        """The limit that is exceeded; '' if none is."""
        if len(self.opened) > MOST_DEPTH:
            return f"more than {MOST_DEPTH} elements within each other"
        if self.unsure > MOST_UNSURE:
            return f"more than {MOST_UNSURE} elements that are not closed in order"
        if self.formatting > MOST_FORMATTING:
            return f"more than {MOST_FORMATTING} unclosed elements of formatting"
        return ""

    def _close_before(self, name: str, closed: frozenset[str]) -> None:
        """Close what a start tag closes: the last elements, or the nearest one that no list or cell stands before."""
        while self.opened and self.opened[-1] in closed:
            self._close_from(len(self.opened) - 1)
            if self.opened and name == self.opened[-1] and name not in _ROW:
                break
        fences = _LISTS_AND_BLOCKS if name in FORMATTING else _LISTS
        for place in range(len(self.opened) - 1, max(-1, len(self.opened) - _REACH), -1):
            if self.opened[place] in closed:
                self._close_from(place)
                break
            if self.opened[place] in fences:
                break

    def _close_from(self, place: int) -> None:
        closed = self.opened[place:]
        del self.opened[place:]
        if len(closed) > 1:
            self.unsure += len(closed)
        for name in closed:
            if name in FOREIGN:
                self.foreign -= 1
            elif name in _CELLS:
                self._forget_cell()
            elif name == "p":
                self.paragraphs -= 1

    def _forget_cell(self) -> None:
        """Drop the formatting of a cell that ended."""
        while self._formatting and self._formatting.pop()[0]:
            pass
        self.formatting = len(self._formatting)

    def _format(self, name: str, attributes: str) -> None:
        if name in {"a", "nobr"}:
            self._unformat(name)
        if self._formatting.count((name, attributes)) < _ALIKE:
            self._formatting.append((name, attributes))
        self.formatting = len(self._formatting)

    def _unformat(self, name: str) -> None:
        for place in range(len(self._formatting) - 1, -1, -1):
            found = self._formatting[place][0]
            if found == name:
                del self._formatting[place]
            if found in {name, ""}:
                break
        self.formatting = len(self._formatting)
