"""Limits on markup before a tree is built of it: what would take the parser more than a moment is cut off.

The parser is linear but for a few things that no ordinary page has. It walks up the open elements at most tags (deep
pages), compares each attribute of an element with its others, and each option of a `<select>` with those before it; it
opens unclosed `<b>`, `<font>` and the like anew in every block, and looks names up in a table that does not grow. One
scan over the tags counts all of these.
"""

import re

from tidemill.reading.limits.open_elements import (
    BLOCKS,
    MOST_DEPTH,
    SPECIAL_STARTS,
    TRACKED,
    OpenElements,
)
from tidemill.reading.limits.plain_markup import MOST_PLAIN_DEPTH, Tag, is_plain

MOST_ATTRIBUTES = 500
"""Attributes of one element."""
MOST_OPTIONS = 2_000
"""Options of one `<select>`."""
MOST_NODES = 500_000
"""Tags of a page, each counted again for every element of formatting that is open at it."""
MOST_NAMES = 5_000
"""Different names of elements, and of attributes, on one page."""

SHORT_MARKUP, FEW_TAGS = 60_000, 2_000
"""Characters and tags that a page is not scanned for: at its worst it takes the parser a quarter of a second."""
MANY_TAGS = 100_000
"""Tags of a page beyond which it is not looked at quickly: a list of so many takes some 30 MB."""
_LONG_MARKUP = 1_000_000
"""Characters from which on the names of attributes are counted: fewer hold too few names to matter."""
_ROOTS = frozenset({"html", "body"})
_RAW_MAY_BE_PARSED = frozenset({"select", "svg", "math", "template", "frameset"})
"""Elements in which the parser reads scripts and styles as markup."""

_BLANK = r"[\t\n\f\r ]"
_ATTRIBUTE = (
    rf"([^\t\n\f\r />][^\t\n\f\r />=]*+)(?:{_BLANK}*+={_BLANK}*+"
    r"""(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >"'][^\t\n\f\r >]*+)?+)?+"""
)
_ATTRIBUTES = rf"((?:[\t\n\f\r /]++|{_ATTRIBUTE.replace('(', '(?:', 1)})*+)>?+"
_COMMENT = r"!--(?>-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>)?+)"
_BOGUS_COMMENT = r"[!?][^>]*+>?+|/(?![a-zA-Z])[^>]*+>?+"
_TAG = rf"(/?[a-zA-Z][^\t\n\f\r />]*+){_ATTRIBUTES}"
_RAW_NAME = r"(script|style|textarea|title|xmp|iframe|noembed|noframes)(?=[\t\n\f\r />])"
_RAW_ELEMENT = rf"{_RAW_NAME}{_ATTRIBUTES}((?:[^<]++|<(?!/\1[\t\n\f\r />]))*+)"
_MARKUP = re.compile(rf"<(?:{_COMMENT}|{_BOGUS_COMMENT}|{_RAW_ELEMENT}|{_TAG})", re.IGNORECASE)
_TAGS_ONLY = re.compile(rf"<(?:{_COMMENT}|{_BOGUS_COMMENT}|{_TAG})", re.IGNORECASE)
_EACH_ATTRIBUTE = re.compile(_ATTRIBUTE)


_PLAIN_START, _BLOCK_START, _PLAIN_END, _OTHER = range(4)


def within_limits(markup: str) -> tuple[str, str]:
    """The markup, cut before the tag that goes beyond a limit, and which limit that is; '' if it was not cut.

    Most tags open an element that says nothing by itself, or close the last one: those are dealt with here.
    """
    tags = markup.count("<")
    if len(markup) <= SHORT_MARKUP and tags <= FEW_TAGS:
        return markup, ""
    longest = 0 if len(markup) > _LONG_MARKUP else MOST_ATTRIBUTES
    if tags <= MANY_TAGS and _is_plainly_within(markup, longest):
        return markup, ""
    counts = _TagCounts(longest)
    elements, kinds = counts.elements, counts.kinds
    opened = elements.opened
    for number, match in enumerate(_MARKUP.finditer(markup)):
        kind, name = kinds.get(match[4]) or counts.kind_of(match[4])
        if kind is _PLAIN_END and opened and opened[-1] == name:
            opened.pop()
        elif (
            kind <= (_PLAIN_START if elements.paragraphs else _BLOCK_START)
            and len(match[5]) <= longest
            and not elements.foreign
            and len(opened) < MOST_DEPTH
        ):
            opened.append(name)
        elif exceeded := counts.exceeded_at(number, match):
            return markup[: match.start()], exceeded
        if number >= MOST_NODES:
            return markup[: match.start()], _TOO_MANY_NODES
    return markup, ""


def _is_plainly_within(markup: str, longest: int) -> bool:
    """Whether a quick look is enough: the markup is plain, and has few names and attributes."""
    tags = _tags_of(markup)
    names: set[str] = set()
    for each in tags:
        if len(each[4]) > longest or len(each[1]) > longest:
            found = _EACH_ATTRIBUTE.findall(each[4] or each[1])
            names.update(found)
            if len(found) > MOST_ATTRIBUTES:
                return False
    if len(names) > MOST_NAMES or (len(tags) > MOST_NAMES and len({each[3] for each in tags}) > MOST_NAMES):
        return False
    deepest = MOST_NODES // (len(tags) + 1) - 1  # each of them may be formatting, which is counted again at every tag
    return is_plain(tags, min(MOST_PLAIN_DEPTH, deepest), MOST_OPTIONS)


def _tags_of(markup: str) -> list[Tag]:
    return _MARKUP.findall(markup)


_TOO_MANY_NODES = f"more than {MOST_NODES} elements"


class _TagCounts:
    """What has been counted of a page so far; attributes of more than `longest` characters are looked at."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self.elements = OpenElements()
        self.kinds: dict[str | None, tuple[int, str]] = {None: (_OTHER, "")}
        self._attribute_names: set[str] = set()
        self._options = self._root_attributes = self._formatted = self._reached = 0
        self._may_parse_raw = False

    def kind_of(self, tag: str) -> tuple[int, str]:
        """How a tag is dealt with, and the name in it."""
        name = tag.lstrip("/").lower()
        if tag[0] == "/":
            kind = _OTHER if name in TRACKED else _PLAIN_END
        elif name in BLOCKS:
            kind = _BLOCK_START
        else:
            kind = _OTHER if name in TRACKED or name in SPECIAL_STARTS else _PLAIN_START
        self.kinds[tag] = kind, name
        return _OTHER, name

    def exceeded_at(self, number: int, match: re.Match[str]) -> str:
        """Count a tag, a comment or an element of raw text; answer with the limit that is exceeded, '' if none is."""
        self._formatted += (number - self._reached) * self.elements.formatting
        self._reached = number
        raw, raw_attributes, content, tag, attributes = match.groups()
        if tag is None and raw is None:
            return ""
        self._add(tag or raw, attributes or raw_attributes or "")
        if raw is not None and self._may_parse_raw and "<" in content:
            for inner in _TAGS_ONLY.finditer(content):
                if inner[1]:
                    self._add(inner[1], inner[2])
        return self._exceeded(attributes or raw_attributes or "", (tag or raw).lower())

    def _add(self, tag: str, attributes: str) -> None:
        name = tag.lower()
        if name[0] == "/":
            self.elements.end(name[1:])
            return
        self.elements.start(name, attributes)
        if name == "option":
            self._options += 1
        elif name in _RAW_MAY_BE_PARSED:
            self._may_parse_raw, self._options = True, 0

    def _exceeded(self, attributes: str, name: str) -> str:
        exceeded = self.elements.exceeded()
        if exceeded:
            return exceeded
        if self._options > MOST_OPTIONS:
            return f"a list of more than {MOST_OPTIONS} options"
        if self._reached + self._formatted > MOST_NODES:
            return _TOO_MANY_NODES
        if len(self.kinds) > MOST_NAMES:
            return f"more than {MOST_NAMES} names of elements"
        is_long = len(attributes) > self._longest or name in _ROOTS
        return self._too_many_attributes(name, attributes) if is_long else ""

    def _too_many_attributes(self, name: str, attributes: str) -> str:
        found = _EACH_ATTRIBUTE.findall(attributes)
        if name in _ROOTS:  # the attributes of all their tags become one element's
            self._root_attributes += len(found)
        if max(len(found), self._root_attributes) > MOST_ATTRIBUTES:
            return f"an element of more than {MOST_ATTRIBUTES} attributes"
        self._attribute_names.update(found)
        return f"more than {MOST_NAMES} names of attributes" if len(self._attribute_names) > MOST_NAMES else ""
