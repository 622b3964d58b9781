"""Result cards on pages without markup for them: blocks that repeat, each with a rent or rooms and a way in."""

from collections import Counter
from collections.abc import Sequence

from tidemill.core.record import RawRecord, Strategy
from tidemill.reading.document import Document
from tidemill.reading.outline import Element, outline_of
from tidemill.reading.text import block_of
from tidemill.verticals.listings.reading.card_fields import (
    RENT_NAMES,
    ancestors,
    columns_of,
    fields_of,
    has_address,
    own_id,
)
from tidemill.verticals.listings.reading.rent import Rent, has_rent, parse_rent
from tidemill.verticals.listings.reading.rooms import Span, parse_beds, parse_size

MOST = 1_000
_LARGEST_CARD, _LARGEST_LEAF = 3_000, 160
_CONFIDENCE, _HIGH_CONFIDENCE = 0.5, 0.65

SiblingCounts = Counter[tuple[int, str]]
"""How many like blocks there are in one, by its order and their kind."""


def read_cards(document: Document) -> list[RawRecord]:
    """The listings that the page's layout gives away."""
    root = document.bounded_tree.body or document.bounded_tree.root
    if root is None:
        return []
    cards = cards_of(outline_of(root))[:MOST]
    records = [(card, record) for card, plans in cards if (record := _record(card, plans, document)) is not None]
    records = without_lists_of_links(records)
    return [*(record for _, record in records), *unread_cards([card for card, _ in records], document)]


def without_lists_of_links(records: list[tuple[Element, RawRecord]]) -> list[tuple[Element, RawRecord]]:
    """The records but those of lists that tell no place at all, on a page where most homes have one.

    `1 bedroom apartments in Cambridge from $1,900` leads to another search.
    """
    lists: dict[int, list[bool]] = {}
    for card, record in records:
        lists.setdefault(_list_of(card), []).append(bool(record.fields.keys() & _PLACES))
    placed = sum(map(sum, lists.values()))
    if placed <= len(records) / 2:
        return records
    return [(card, record) for card, record in records if any(lists[_list_of(card)])]


_PLACES = frozenset({"address", "neighborhood", "latitude", "id"})


def _list_of(card: Element) -> int:
    return card.parent.order if card.parent is not None else -1


def unread_cards(cards: Sequence[Element], document: Document) -> list[RawRecord]:
    """The cards beside homes that are built as theirs and name no rent that can be read, as raw records.

    Where they are more than the homes, a rent is not what makes a home on this page.
    """
    lists: dict[tuple[int, str], list[Element]] = {}
    for card in cards:
        if card.parent is not None:
            lists.setdefault((card.parent.order, card.kind), []).append(card)
    found: list[RawRecord] = []
    for alike in lists.values():
        read = {card.order for card in alike}
        siblings = alike[0].parent.children if alike[0].parent is not None else []
        others = [one for one in siblings if one.kind == alike[0].kind and one.order not in read and is_card(one)]
        if len(alike) > 1 and len(others) <= len(alike):
            found += [_unread(card, document) for card in others]
    return found


def _unread(card: Element, document: Document) -> RawRecord:
    """A home without its rent: what stands where cards have it, or nothing."""
    told = fields_of(card, document, is_rent_element)
    shown = next((one.text for one in card.walk() if RENT_NAMES.search(one.names) and one is not card), "")
    told["unread"] = shown[:_LARGEST_LEAF] or "no rent"
    return RawRecord(
        fields=told, strategy=Strategy.HEURISTICS, confidence=_CONFIDENCE,
        origin=f"cards/{card.path()}[{card.order}]", block=block_of(card.node.html or ""),
    )  # fmt: skip


def cards_of(elements: list[Element]) -> list[tuple[Element, list[Element]]]:
    """The smallest blocks around a rent, beside which like blocks tell one too; each with its floor plans, if any."""
    holding: set[int] = set()
    alike: SiblingCounts = Counter()
    leaves = [element for element in elements if is_rent_element(element)]
    for leaf in leaves:
        for element in ancestors(leaf):
            if element.order in holding:
                break
            holding.add(element.order)
            if element.parent is not None:
                alike[element.parent.order, element.kind] += 1
    found = {card.order: card for leaf in leaves if (card := _card_of(leaf, alike)) is not None}
    return grouped_by_building([found[order] for order in sorted(found)], alike)


def grouped_by_building(cards: Sequence[Element], alike: SiblingCounts) -> list[tuple[Element, list[Element]]]:
    """Cards that tell no place of their own, put together under the block that tells it for all of them.

    A building's card holds a box for each of its floor plans, which look like cards themselves.
    """
    placed = {card.order for card in cards if has_address(card)}
    above: dict[int, Element] = {}
    for card in cards:
        if card.order in placed:
            above |= {element.order: card for element in ancestors(card)}
    plans: dict[int, tuple[Element, list[Element]]] = {}
    for card in cards:
        building = None if card.order in placed else _building_of(card, alike)
        if building is None or building.order in above:
            plans[card.order] = (card, [])
        else:
            plans.setdefault(building.order, (building, []))[1].append(card)
    return [plans[order] for order in sorted(plans)]


def _building_of(card: Element, alike: SiblingCounts) -> Element | None:
    if own_id(card):
        return None
    for element in ancestors(card):
        if element.parent is None or len(element.text) > _LARGEST_CARD:
            return None
        if element is not card and alike[element.parent.order, element.kind] > 1 and has_address(element):
            return element
    return None


def is_rent_element(element: Element) -> bool:
    """Whether it is the smallest element that names a rent, or is named for it and says that one must ask."""
    text = element.text
    if not text or len(text) > _LARGEST_LEAF or any(has_rent(child.text) for child in element.children):
        return False
    if has_rent(text):
        return True
    return RENT_NAMES.search(element.names) is not None and not element.children and parse_rent(text) is not None


def _card_of(leaf: Element, alike: SiblingCounts) -> Element | None:
    for element in ancestors(leaf):
        if element.parent is None or len(element.text) > _LARGEST_CARD:
            return None
        if alike[element.parent.order, element.kind] > 1 and is_card(element):
            return element
    return None


def is_card(element: Element) -> bool:
    """Whether a block tells enough to be a home: a place, rooms or a size, and a link or a number of its own."""
    text = " | ".join(element.lines())
    has_home_facts = has_address(element) or parse_beds(text) is not None or parse_size(text) is not None
    if not has_home_facts and "unit" not in columns_of(element):
        return False
    return own_id(element) != "" or any(one.tag == "a" for one in element.walk()) or "unit" in columns_of(element)


def _record(card: Element, plans: Sequence[Element], document: Document) -> RawRecord | None:
    told = fields_of(card, document, is_rent_element)
    if plans:
        told |= ranges_of([fields_of(plan, document, is_rent_element) for plan in plans])
    if not told.keys() & {"address", "beds", "size", "unit"}:
        return None
    confidence = _HIGH_CONFIDENCE if {"address", "beds", "id"} <= told.keys() else _CONFIDENCE
    return RawRecord(
        fields=told, strategy=Strategy.HEURISTICS, confidence=confidence, origin=f"cards/{card.path()}[{card.order}]",
        block=block_of(card.node.html or ""),
    )  # fmt: skip


def ranges_of(plans: Sequence[dict[str, object]]) -> dict[str, str]:
    """Rent and beds over all floor plans of a building."""
    rents = [rent for plan in plans if (rent := parse_rent(str(plan.get("rent", "")))) and rent.low is not None]
    beds = [span for plan in plans if (span := parse_beds(str(plan.get("beds", "")))) is not None]
    return {**_rent_range(rents), **_beds_range(beds)}


def _rent_range(rents: Sequence[Rent]) -> dict[str, str]:
    if not rents or len({rent.currency for rent in rents}) > 1:
        return {}
    lows = [rent.low for rent in rents if rent.low is not None]
    low, high = min(lows), max([*lows, *(rent.high for rent in rents if rent.high is not None)])
    currency = rents[0].currency
    return {"rent": f"{currency} {low / 100:.10g} - {currency} {high / 100:.10g}"}


def _beds_range(beds: Sequence[Span]) -> dict[str, str]:
    if not beds:
        return {}
    return {"beds": f"{min(span.low for span in beds):g} - {max(span.high for span in beds):g} beds"}
