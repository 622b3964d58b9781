"""Shown prices ranked by how likely each is the product's: by class names, words beside it and position."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from urllib.parse import urlsplit

import msgspec
from selectolax.lexbor import LexborNode

from tidemill.verticals.prices.reading.shown.hints import NOT_THE_PRICE, Hint
from tidemill.verticals.prices.reading.shown.labelled_fields import leads_to_brand
from tidemill.verticals.prices.reading.shown.page_layout import PageLayout
from tidemill.verticals.prices.reading.shown.shown_prices import ShownPrice
from tidemill.verticals.prices.reading.shown.siblings import SiblingCounter

STRONG_SCORE = 6.0
"""From here on a shown price beats structured data that the page does not show."""
FAIR_SCORE = 3.5
"""Below this a shown price does not count."""
FORMER_PENALTY = 6.0
"""What a price loses that is called a former one."""
_CLOSE = 40
_BUTTON_REACH = 30
_NO_HEADING = 1.5
"""The score for distance on a page without a heading: between near one and far from one."""
_CARD_CLIMB, _CELL_CLIMB, _GRID = 7, 3, 3
_MOST_SCORED = 120


class RankedPrice(msgspec.Struct, frozen=True, gc=False):
    """A shown price with its score; `aside` if it is another product's, or no product's."""

    shown: ShownPrice
    score: float
    aside: bool


def rank_prices(shown_prices: Sequence[ShownPrice], layout: PageLayout, page_path: str) -> list[RankedPrice]:
    """The page's prices, the likeliest first."""
    scorer = _PriceScorer(layout, page_path)
    amounts = Counter(shown.amount for shown in shown_prices if not shown.hints & (NOT_THE_PRICE | Hint.OLD))
    ranked = [scorer.score_price(shown, amounts) for shown in shown_prices[:_MOST_SCORED]]
    return sorted(ranked, key=lambda each: (-each.score, each.shown.order))


def crossed_out_price(ranked: Sequence[RankedPrice], price: Decimal) -> ShownPrice | None:
    """The crossed-out price that stands beside the one that is asked: the first that is higher.

    Where none is, the one that markup calls the regular price: it is another than what is asked.
    """
    higher = [
        each.shown for each in ranked if not each.aside and each.shown.amount > price and not each.shown.money.per
    ]  # fmt: skip
    crossed = [shown for shown in higher if shown.hints & Hint.OLD]
    regular = [
        shown for shown in higher if shown.hints & Hint.REGULAR and not shown.hints & (NOT_THE_PRICE | Hint.TIER)
    ]
    return min(crossed or regular, key=lambda shown: (shown.hints & Hint.LOWEST, shown.order), default=None)


class _PriceScorer:
    """Scores prices by their hints and by where they stand: near the heading, near a buy button, in a card."""

    def __init__(self, layout: PageLayout, page_path: str) -> None:
        self._layout = layout
        self._path = page_path
        self._heading_ancestors = _depths(layout.heading)
        self._buy_buttons = [
            button.order for button in layout.buttons if button.sells and not button.hints & Hint.ASIDE
        ]
        self._cards: dict[int, bool] = {}
        self._siblings = SiblingCounter()

    def score_price(self, shown: ShownPrice, amounts: Counter[Decimal]) -> RankedPrice:
        aside = bool(shown.hints & Hint.ASIDE) or self._leads_elsewhere(shown.href) or self._is_in_card(shown.node)
        aside = aside or self._is_named_by_link(shown)
        aside = aside or self._is_above_the_product(shown)
        score = _score_by_hints(shown) + self._score_by_position(shown) + min(amounts[shown.amount] - 1, 2) * 0.5
        if aside:
            score -= 8
        if not shown.amount:
            score -= 6
        return RankedPrice(shown, score, aside)

    def _score_by_position(self, shown: ShownPrice) -> float:
        score = 0.0
        heading = self._layout.heading_order
        if heading >= 0:
            distance = shown.order - heading
            score += max(0.0, 3.0 * (1 - distance / _CLOSE)) if distance > 0 else (1.0 if distance > -15 else -0.5)  # noqa: PLR2004 - a line or two above
            score += self._score_by_ancestor(shown.node)
        else:
            score += _NO_HEADING
        if self._buy_buttons:
            nearest = min(abs(order - shown.order) for order in self._buy_buttons)
            score += max(0.0, 2.0 * (1 - nearest / _BUTTON_REACH))
        return score

    def _score_by_ancestor(self, node: LexborNode | None) -> float:
        """Up to 2 for standing in one box with the heading: the fewer levels above it, the more."""
        while node is not None:
            if (height := self._heading_ancestors.get(node.mem_id)) is not None:
                return max(0.0, 2.0 - 0.4 * height)
            node = node.parent
        return 0.0

    def _is_above_the_product(self, shown: ShownPrice) -> bool:
        """Whether a price stands over the heading, shares no box with it but the page, and is not named a price."""
        if self._layout.heading_order < 0 or shown.order > self._layout.heading_order or shown.hints & Hint.PRICE:
            return False
        node: LexborNode | None = shown.node
        while node is not None and node.mem_id not in self._heading_ancestors:
            node = node.parent
        return node is None or node.tag in {"body", "html"}

    def _is_named_by_link(self, shown: ShownPrice) -> bool:
        """Whether the words right before a price lead to another page, on one that sells nothing by a button."""
        if self._stands_in_row_of_link(shown):
            return True
        if (self._buy_buttons and shown.hints & Hint.PRICE) or not 1 < shown.order <= len(self._layout.texts):
            return False
        before = self._layout.texts[shown.order - 2]
        box = before.node.parent
        if not before.href or box is None or not self._leads_elsewhere(before.href):
            return False
        if self._buy_buttons and (box.tag not in {"p", "li", "td"} or leads_to_brand(before.href)):
            return False
        beside = {shown.node.mem_id, shown.node.parent.mem_id if shown.node.parent is not None else 0}
        return box.mem_id in beside

    def _stands_in_row_of_link(self, shown: ShownPrice) -> bool:
        """Whether a price stands in a row of a table whose first cell leads to another page, and is not named one."""
        cell: LexborNode | None = shown.node
        for _ in range(_CELL_CLIMB):
            if cell is None or cell.tag == "td":
                break
            cell = cell.parent
        row = cell.parent if cell is not None and cell.tag == "td" else None
        if row is None or row.mem_id in self._heading_ancestors or shown.hints & Hint.PRICE:
            return False
        link = row.css_first("td:first-child a[href]")
        return link is not None and self._leads_elsewhere(link.attributes.get("href") or "")

    def _leads_elsewhere(self, href: str) -> bool:
        href = href.strip()
        if not href or href.startswith(("#", "javascript:")):
            return False
        return urlsplit(href).path.rstrip("/") not in {"", self._path}

    def _is_in_card(self, node: LexborNode | None) -> bool:
        """Whether a price stands in one of several boxes alike, each with a link and a picture: other products."""
        result = 0
        while node is not None and result < _CARD_CLIMB and node.mem_id not in self._heading_ancestors:
            if node.mem_id not in self._cards:
                self._cards[node.mem_id] = self._is_card(node)
            if self._cards[node.mem_id]:
                return True
            node = node.parent
            result += 1
        return False

    def _is_card(self, node: LexborNode) -> bool:
        if node.tag in _NO_BOXES or self._siblings.count_like(node) < _GRID:
            return False
        return node.css_first("a[href]") is not None and node.css_first("img, picture") is not None


_NO_BOXES = frozenset({"span", "b", "strong", "em", "td", "option", "label", "p"})


def _score_by_hints(shown: ShownPrice) -> float:
    hints = shown.hints
    score = 0.0
    score += 3.0 if hints & Hint.PRICE else 0.0
    score += 1.5 if hints & Hint.CURRENT and not hints & Hint.UNTAXED else 0.0
    score += 1.0 if hints & Hint.MAIN else 0.0
    score += 1.0 if shown.money.currency or shown.money.symbol else 0.0
    score -= FORMER_PENALTY if hints & Hint.OLD else 0.0
    score -= 7.0 if hints & Hint.OTHER_AMOUNT else 0.0
    score -= 7.0 if hints & Hint.UNIT or shown.money.per else 0.0
    score -= 2.5 if hints & Hint.TIER or shown.money.quantity > 1 else 0.0
    score -= 2.0 if hints & Hint.HIDDEN else 0.0
    score -= 3.0 if hints & Hint.UNTAXED else 0.0
    score -= 1.0 if hints & Hint.VARIANT else 0.0
    score -= 1.5 if hints & (Hint.REGULAR | Hint.PROSE) else 0.0
    score -= 7.0 if hints & Hint.NAMED and not hints & Hint.PRICE else 0.0
    score -= 1.0 if shown.money.is_from else 0.0
    return score


def _depths(heading: LexborNode | None) -> dict[int, int]:
    """How many levels above the heading each element that holds it stands."""
    depths: dict[int, int] = {}
    height, node = 0, heading
    while node is not None:
        depths[node.mem_id] = height
        height, node = height + 1, node.parent
    return depths
