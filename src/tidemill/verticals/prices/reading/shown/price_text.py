"""An element's words as a price is read: sign, number and cents together, over however many elements."""

import re

from selectolax.lexbor import LexborNode

from tidemill.reading.text import squash
from tidemill.verticals.prices.reading.shown.amounts import SIGN
from tidemill.verticals.prices.reading.shown.hints import Hint, hints_of

INVISIBLE = frozenset(
    {"script", "style", "template", "noscript", "head", "svg", "iframe", "object", "select", "option", "textarea"}
)
"""Elements whose words nobody reads."""


LONGEST = 2_000
"""Characters, and nodes, of an element's words: more of them are no price and no notice of stock."""


def text_within(node: LexborNode, longest: int = LONGEST) -> str:
    """An element's words as a price is read: `12` with a small `99` behind it is 12.99.

    Soon after `longest` characters the rest is left out: elements within elements would each be gone through whole.
    """
    pieces: list[str] = []
    after_cents = False
    length = 0
    for number, child in enumerate(node.traverse(include_text=True)):
        if length > longest or number > LONGEST:
            break
        if not child.is_text_node:
            continue
        text, parent = child.text_content, child.parent
        if not text or text.isspace() or parent is None or parent.tag in INVISIBLE:
            continue
        text = squash(text)
        length += len(text)
        is_cents = is_fraction(parent, text)
        if pieces and _continues(pieces[-1], text):
            pieces[-1] += text
        elif is_cents and not after_cents and pieces and _lacks_cents(pieces[-1]):
            pieces[-1] = _with_cents(pieces[-1], text.strip(" .,"))
        else:
            pieces.append(text)
        after_cents = is_cents
    return squash(" ".join(pieces))


def _lacks_cents(number: str) -> bool:
    """Whether cents may follow: behind a number, unless a dash stands for them already."""
    return _OPEN_END.search(number) is not None


_OPEN_END = re.compile(rf"\d[.,]?\s?(?:{SIGN})?$")


def _continues(number: str, text: str) -> bool:
    """Whether a string goes on with a number: its decimal point, or the cents behind one."""
    return text in _POINTS or bool(_TWO_DIGITS.fullmatch(text) and _ENDS_IN_POINT.search(number))


_ENDS_IN_POINT = re.compile(r"\d[.,]$")
_POINTS = frozenset({".", ","})
_TAIL = re.compile(r"(?P<number>.*\d)[.,]?(?P<sign>[^\d]{0,3})", re.DOTALL)


def _with_cents(number: str, cents: str) -> str:
    """A number with its cents, before the sign if one stands between: `129€` and `90` are 129.90€."""
    signed = _SIGN_AND_CENTS.fullmatch(cents)
    if signed is not None and number[-1:].isdecimal():
        return f"{number},{signed['cents']} {signed['sign']}"
    match = _TAIL.fullmatch(number)
    point = "," if "." in number.rstrip(" .,") else "."  # a point that stands before it parts thousands
    return f"{match['number']}{point}{cents}{match['sign'].strip(' .,')}" if match is not None else f"{number}.{cents}"


_TWO_DIGITS = re.compile(r"\d{2}")
_SIGN_AND_CENTS = re.compile(r"(?P<sign>[€$£])\s?(?P<cents>\d{2})")
"""Cents with the sign before them, as `21` with a small `€90` behind it."""


def is_fraction(node: LexborNode, text: str) -> bool:
    """Whether a string is the cents that stand small behind a price."""
    if node.tag == "sup" and _SIGN_AND_CENTS.fullmatch(text.strip()):
        return True
    if not _TWO_DIGITS.fullmatch(text.strip(" .,")):
        return False
    return (
        node.tag == "sup"
        or text.lstrip()[0] in _POINTS
        or bool(hints_of(node.attributes.get("class") or "") & Hint.FRACTION)
    )
