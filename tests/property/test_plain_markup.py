"""Markup that a quick look calls plain is never deeper for the parser than it seemed, whatever its tags."""

from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tidemill.reading.limits.markup_limits import MOST_NAMES, MOST_OPTIONS, _tags_of
from tidemill.reading.limits.open_elements import tag_names
from tidemill.reading.limits.plain_markup import is_plain

NAMES = sorted(
    tag_names(
        "div span p li ul table tr td tbody select option b a font svg path template button form section dd dl h2 "
        "script style title math mi label br caption nobr object x-y"
    )
)
DEEPEST = 12
AROUND = 6
"""Levels that the parser may have more: the root, `html`, `body`, and what it puts into tables by itself."""


@st.composite
def shapes(draw: st.DrawFn) -> str:
    """A few tags, over and over, as no page has them."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6))
    tags = [form.format(name) for name in names for form in ("<{0}>", "</{0}>", "<{0}/>", "<{0} a=1>x")]
    return "".join(draw(st.lists(st.sampled_from(tags), min_size=1, max_size=8))) * 40


def depth_of(root: LexborNode | None) -> int:
    deepest, pending = 0, [(root, 1)]
    while pending:
        node, depth = pending.pop()
        deepest = max(deepest, depth)
        child = node.first_child if node is not None else None
        while child is not None:
            pending.append((child, depth + 1))
            child = child.next
    return deepest


@settings(max_examples=400)
@given(shapes())
def test_what_looks_plain_is_no_deeper_for_the_parser(markup: str) -> None:
    if is_plain(_tags_of(markup), DEEPEST, MOST_OPTIONS):
        assert depth_of(LexborHTMLParser(markup).root) <= DEEPEST + AROUND


@given(st.lists(st.sampled_from(NAMES), max_size=10))
def test_elements_that_are_closed_in_order_are_plain(names: list[str]) -> None:
    ordinary = [name for name in names if name in {"div", "span", "ul", "b", "a", "section", "label", "x-y"}]
    markup = "".join(f"<{name}>" for name in ordinary) + "".join(f"</{name}>" for name in reversed(ordinary))
    assert is_plain(_tags_of(markup * 50), len(ordinary) + 1, MOST_NAMES)
