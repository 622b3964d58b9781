"""Which of the prices on a page is the product's: by their names, by the words beside them, by where they stand."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from urllib.parse import urlsplit

import msgspec
from selectolax.lexbor import LexborNode

from tidemill.verticals.prices.reading.landmarks import Landmarks
from tidemill.verticals.prices.reading.marks import REFUSED, Mark
from tidemill.verticals.prices.reading.peers import Peers
from tidemill.verticals.prices.reading.shown import PriceSpot

STRONG = 6.0
"""From here a shown price outweighs structured data that nobody sees."""
FAIR = 3.5
"""Under this a shown price is no claim at all."""
_CLOSE = 40
_BUTTON_REACH = 30
_NO_HEADING = 1.5
"""What a price gets where no heading tells what is near: less than by one, more than far from one."""
_CARD_CLIMB, _GRID = 7, 3
_MOST_WEIGHED = 120


class Ranked(msgspec.Struct, frozen=True, gc=False):
    """A shown price with its weight."""

    spot: PriceSpot
    weight: float
    aside: bool


def ranked(spots: Sequence[PriceSpot], found: Landmarks, page_path: str) -> list[Ranked]:
    """The page's prices, the likeliest first; those of other products and of no product are marked as aside."""
    ground = _Ground(found, page_path)
    amounts = Counter(spot.amount for spot in spots if not spot.marks & (REFUSED | Mark.OLD))
    rated = [ground.rate(spot, amounts) for spot in spots[:_MOST_WEIGHED]]
    return sorted(rated, key=lambda each: (-each.weight, each.spot.order))


def struck(rated: Sequence[Ranked], price: Decimal) -> PriceSpot | None:
    """The crossed-out price that stands beside the one that is asked: the first that is higher.

    Where none is, the one that markup calls the regular price: it is another than what is asked.
    """
    higher = [
        each.spot for each in rated if not each.aside and each.spot.amount > price and not each.spot.money.per
    ]  # fmt: skip
    crossed = [spot for spot in higher if spot.marks & Mark.OLD]
    regular = [spot for spot in higher if spot.marks & Mark.REGULAR and not spot.marks & (REFUSED | Mark.TIER)]
    return min(crossed or regular, key=lambda spot: (spot.marks & Mark.LOWEST, spot.order), default=None)


class _Ground:
    """Where things stand on the page, against which prices are weighed."""

    def __init__(self, found: Landmarks, page_path: str) -> None:
        self._found = found
        self._path = page_path
        self._above = _depths(found.heading)
        self._sellers = [button.order for button in found.buttons if button.sells and not button.marks & Mark.ASIDE]
        self._cards: dict[int, bool] = {}
        self._peers = Peers()

    def rate(self, spot: PriceSpot, amounts: Counter[Decimal]) -> Ranked:
        aside = bool(spot.marks & Mark.ASIDE) or self._leads_elsewhere(spot) or self._in_a_grid(spot.node)
        weight = _named(spot) + self._placed(spot) + min(amounts[spot.amount] - 1, 2) * 0.5
        if aside:
            weight -= 8
        if not spot.amount:
            weight -= 6
        return Ranked(spot, weight, aside)

    def _placed(self, spot: PriceSpot) -> float:
        weight = 0.0
        heading = self._found.heading_order
        if heading >= 0:
            distance = spot.order - heading
            weight += max(0.0, 3.0 * (1 - distance / _CLOSE)) if distance > 0 else (1.0 if distance > -15 else -0.5)  # noqa: PLR2004 - a line or two above
            weight += self._kinship(spot.node)
        else:
            weight += _NO_HEADING
        if self._sellers:
            nearest = min(abs(order - spot.order) for order in self._sellers)
            weight += max(0.0, 2.0 * (1 - nearest / _BUTTON_REACH))
        return weight

    def _kinship(self, node: LexborNode | None) -> float:
        """Up to 2 for standing in one box with the heading: the fewer levels above it, the more."""
        while node is not None:
            if (height := self._above.get(node.mem_id)) is not None:
                return max(0.0, 2.0 - 0.4 * height)
            node = node.parent
        return 0.0

    def _leads_elsewhere(self, spot: PriceSpot) -> bool:
        href = spot.href.strip()
        if not href or href.startswith(("#", "javascript:")):
            return False
        return urlsplit(href).path.rstrip("/") not in {"", self._path}

    def _in_a_grid(self, node: LexborNode | None) -> bool:
        """Whether a price stands in one of several boxes alike, each with a link and a picture: other products."""
        climbed = 0
        while node is not None and climbed < _CARD_CLIMB and node.mem_id not in self._above:
            if node.mem_id not in self._cards:
                self._cards[node.mem_id] = self._is_card(node)
            if self._cards[node.mem_id]:
                return True
            node = node.parent
            climbed += 1
        return False

    def _is_card(self, node: LexborNode) -> bool:
        if node.tag in _NO_BOXES or self._peers.beside(node) < _GRID:
            return False
        return node.css_first("a[href]") is not None and node.css_first("img, picture") is not None


_NO_BOXES = frozenset({"span", "b", "strong", "em", "td", "option", "label", "p"})


def _named(spot: PriceSpot) -> float:
    marks = spot.marks
    weight = 0.0
    weight += 3.0 if marks & Mark.PRICE else 0.0
    weight += 1.5 if marks & Mark.CURRENT and not marks & Mark.UNTAXED else 0.0
    weight += 1.0 if marks & Mark.MAIN else 0.0
    weight += 1.0 if spot.money.currency or spot.money.symbol else 0.0
    weight -= 6.0 if marks & Mark.OLD else 0.0
    weight -= 7.0 if marks & Mark.NO_PRICE else 0.0
    weight -= 7.0 if marks & Mark.UNIT or spot.money.per else 0.0
    weight -= 2.5 if marks & Mark.TIER or spot.money.quantity > 1 else 0.0
    weight -= 2.0 if marks & Mark.HIDDEN else 0.0
    weight -= 3.0 if marks & Mark.UNTAXED else 0.0
    weight -= 1.0 if marks & Mark.CHOICE else 0.0
    weight -= 1.5 if marks & (Mark.REGULAR | Mark.PROSE) else 0.0
    weight -= 1.0 if spot.money.is_from else 0.0
    return weight


def _depths(heading: LexborNode | None) -> dict[int, int]:
    """How many levels above the heading each element that holds it stands."""
    depths: dict[int, int] = {}
    height, node = 0, heading
    while node is not None:
        depths[node.mem_id] = height
        height, node = height + 1, node.parent
    return depths
