"""Selectors learned anew: the values of the last good page, looked up on a page that our selectors no longer fit.

A title that stood on the old page and stands on the new one shows where titles are now. From several of them follow
the block that repeats, and where in it each field stands; dates are compared by what they mean, because a redesign
often writes them in another way. Nothing is proposed that was not tried on the new page.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from selectolax.lexbor import LexborNode

from tidemill.core.record import RawRecord
from tidemill.reading.document import Document, visible_strings
from tidemill.reading.moments import parse_moment
from tidemill.reading.reading_context import ReadingContext
from tidemill.reading.selectors import STRUCTURE, Spec, pick, read_selectors
from tidemill.reading.text import squash

LEAST_SHARE = 0.3
"""So many of the titles must be found again: an agenda changes, but not all of it in a day."""
MOST_RECORDS = 40
"""So many known records are looked up."""
DEEPEST_BLOCK = 12
"""So far up from its title a block is looked for."""
SHORTEST_TITLE, LONGEST_DATE = 4, 80
_ATTRIBUTES = ("datetime", "content", "data-date", "data-start", "title", "href", "src", "alt")
_LINKS = {"url": "href", "image": "src"}
_DATES = frozenset({"starts", "ends", "date", "time"})
_MOST_NODES = 200
MOST_LAYOUTS = 3
"""So many layouts are read by one specification."""


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """A specification that fits the new page: how many known records it finds again, and what it cannot find."""

    spec: Mapping[str, str]
    found: int
    looked_for: int
    lost: tuple[str, ...] = ()

    @property
    def confidence(self) -> float:
        """How much of what was known is found again, less for each field that is not."""
        return round(self.found / self.looked_for * 0.9 ** len(self.lost), 3) if self.looked_for else 0.0


class Diagnosis(msgspec.Struct, frozen=True):
    """Why a page yielded nothing, in words, and how it may be repaired if that is known."""

    words: str
    repair: Repair | None = None


def diagnose(
    document: Document,
    known: Sequence[RawRecord],
    then: ReadingContext,
    now: ReadingContext,
    before: Spec | None = None,
) -> Diagnosis:
    """Compare a page that yielded nothing with the records of the last good one, read in the context `then`."""
    wanted = {title: record for record in known[:MOST_RECORDS] if (title := _title(record))}
    if not wanted:
        return Diagnosis("nothing is known of what the page used to show")
    title_nodes = _title_nodes(document, wanted)
    if len(title_nodes) < max(1, len(wanted) * LEAST_SHARE):
        words = f"{len(title_nodes)} of {len(wanted)} known titles are on the page: it is empty, broken or wholly new"
        return Diagnosis(words)
    blocks = _blocks(title_nodes)
    item = _item_selector(document, list(blocks.values()))
    if item is None:
        return Diagnosis(f"{len(title_nodes)} known titles are on the page, but in no block that repeats")
    spec = _spec(document, blocks, wanted, item, then, now)
    repair = _tested(document, spec, wanted, then, now, before or {})
    if repair is None:
        return Diagnosis(f"{len(title_nodes)} known titles are on the page, but not where they can be told from others")
    return Diagnosis(f"the layout changed: {repair.found} of {repair.looked_for} known records are found again", repair)


def with_older_layout(document: Document, spec: Mapping[str, Any], before: Spec) -> Mapping[str, Any]:
    """Return a specification that fits the new page and still fits those of before, if both can be had.

    Stored pages of the older layout can then be read again, and held to what was kept of them. Where the older
    selectors would have the new page read in another way, the new ones stay alone.
    """
    if not spec.get("item") or not before.get("item"):
        return spec
    both: dict[str, Any] = {**before, **spec, "item": ", ".join(_ways(spec["item"], before["item"]))}
    for field in spec:
        if field not in STRUCTURE and field in before:
            ways = _ways(spec[field], before[field])
            both[field] = ways if len(ways) > 1 else ways[0]
    alone = [dict(record.fields) for record in read_selectors(document, spec)]
    found = [
        {name: value for name, value in record.fields.items() if name in spec}
        for record in read_selectors(document, both)
    ]
    return both if found == alone else spec


def _ways(*places: Any) -> list[str]:
    """Return every way once, the newest first; of many redesigns the last few."""
    ways = [str(way) for place in places for way in (place if isinstance(place, list | tuple) else [place])]
    return list(dict.fromkeys(ways))[:MOST_LAYOUTS]


def _title(record: RawRecord) -> str:
    title = squash(str(record.fields.get("title", ""))).casefold()
    return title if len(title) >= SHORTEST_TITLE else ""


def _title_nodes(document: Document, wanted: Mapping[str, RawRecord]) -> dict[str, LexborNode]:
    """Where each known title stands: the innermost element that says it and nothing else."""
    title_nodes: dict[str, LexborNode] = {}
    for node in document.tree.css("body *"):
        if node.tag in {"script", "style", "option", "title", "template", "noscript"}:
            continue
        text = _text_of(node)
        if text in wanted:
            title_nodes[text] = node  # document order: what stands deeper comes later
    return title_nodes


def _text_of(node: LexborNode) -> str:
    return squash(" ".join(visible_strings(node))).casefold()


def _blocks(title_nodes: Mapping[str, LexborNode]) -> dict[str, LexborNode]:
    """The largest element around each title that holds no other known title."""
    above = {title: list(ancestors(node)) for title, node in title_nodes.items()}
    shared = Counter(node.mem_id for chain in above.values() for node in chain)
    return {
        title: next((node for node in reversed(chain) if shared[node.mem_id] == 1), chain[0])
        for title, chain in above.items()
    }


def ancestors(node: LexborNode) -> Iterator[LexborNode]:
    """The node itself and what is around it, innermost first."""
    current: LexborNode | None = node
    for _ in range(DEEPEST_BLOCK):
        if current is None or current.tag in {"body", "html", "main", "-undef"}:
            return
        yield current
        current = current.parent


def _item_selector(document: Document, blocks: Sequence[LexborNode]) -> str | None:
    """A selector that finds all these blocks, none inside another, and as little else as can be."""
    mine = {block.mem_id for block in blocks}
    best: tuple[int, int, str] | None = None
    for selector in sorted({name for block in blocks for name in _around(block)}):
        found = document.tree.css(selector)
        keys = {node.mem_id for node in found}
        if mine <= keys and not _is_nested(found, keys):
            size = (len(keys) - len(mine), len(selector), selector)
            best = size if best is None or size < best else best
    return None if best is None else best[2]


def _around(block: LexborNode) -> Iterator[str]:
    """How a block can be named: by itself, and by what it stands in."""
    parent = block.parent
    for name in selector_names(block):
        yield name
        if parent is not None and parent.tag not in {"body", "html", "-undef"}:
            yield from (f"{outer} > {name}" for outer in selector_names(parent))


def selector_names(node: LexborNode) -> Iterator[str]:
    """The selectors that may tell a node from its neighbours, the more telling first."""
    tag = node.tag or "*"
    classes = [name for name in (node.attributes.get("class") or "").split() if _is_plain(name)]
    yield from (f"{tag}.{name}" for name in classes)
    if len(classes) > 1:
        yield tag + "".join(f".{name}" for name in classes)
    if prop := node.attributes.get("itemprop"):
        yield f'{tag}[itemprop="{prop}"]' if _is_plain(prop) else tag
    yield tag


def _is_plain(name: str) -> bool:
    """Whether a name can stand in a selector as it is, and looks as if it would last."""
    bare = name.replace("-", "").replace("_", "")
    return bool(bare) and bare.isascii() and bare.isalnum() and not name[0].isdigit() and name[:2] != "--"


def _is_nested(found: Sequence[LexborNode], keys: set[int]) -> bool:
    return any(around.mem_id in keys for node in found for around in list(ancestors(node))[1:])


def _spec(
    document: Document,
    blocks: Mapping[str, LexborNode],
    wanted: Mapping[str, RawRecord],
    item: str,
    then: ReadingContext,
    now: ReadingContext,
) -> dict[str, str]:
    spec = {"item": item}
    names = dict.fromkeys(name for title in blocks for name in wanted[title].fields)
    picked = {
        title: {selector: pick(block, selector) for selector in set(_selectors_in(block))}
        for title, block in blocks.items()
    }
    for field in names:
        known = [(picked[title], wanted[title].fields[field]) for title in blocks if field in wanted[title].fields]
        selectors: Counter[str] = Counter()
        for shown, value in known:
            selectors.update(
                selector
                for selector, picked_text in shown.items()
                if _same(field, value, picked_text, document, then, now)
            )
        if selectors:
            selector, count = min(selectors.items(), key=lambda each: _rank(*each))
            if count * 2 >= len(known):
                spec[field] = selector
    return spec


def _rank(selector: str, count: int) -> tuple[object, ...]:
    """What finds most goes first, then what is written for machines, then what is named, then what is short."""
    return -count, not selector.endswith("@datetime"), not _is_named(selector), len(selector), selector


def _is_named(selector: str) -> bool:
    """Whether a way goes by a name that somebody gave, or by a tag that means what it holds."""
    return "." in selector or "[" in selector or selector.startswith("time")


def _selectors_in(block: LexborNode) -> Iterator[str]:
    """Every `selector@attribute` by which something in the block can be picked."""
    for number, node in enumerate(block.css("*")):
        if number >= _MOST_NODES:
            return
        for name in selector_names(node):
            if node.mem_id != block.mem_id:
                yield name
                yield from (f"{name}@{each}" for each in _ATTRIBUTES if node.attributes.get(each))


def _same(field: str, known: Any, shown: str, document: Document, then: ReadingContext, now: ReadingContext) -> bool:
    """Whether what is picked says what was known: the same words, the same address, or the same moment."""
    if not shown:
        return False
    if field in _LINKS:
        return document.absolute(shown) == str(known)
    expected = squash(str(known))
    if shown.casefold() == expected.casefold():
        return True
    return field in _DATES and len(shown) <= LONGEST_DATE and _same_moment(expected, shown, then, now)


def _same_moment(expected: str, shown: str, then: ReadingContext, now: ReadingContext) -> bool:
    before = parse_moment(expected, then.now, then.time_zone, then.language, day_first=then.day_first)
    after = parse_moment(shown, now.now, now.time_zone, now.language, day_first=now.day_first)
    return before is not None and after is not None and bool(before.starts == after.starts)


def _tested(
    document: Document,
    spec: dict[str, str],
    wanted: Mapping[str, RawRecord],
    then: ReadingContext,
    now: ReadingContext,
    before: Spec,
) -> Repair | None:
    """The specification as it does on the new page; one that misses the title or loses what it knew is none."""
    if "title" not in spec:
        return None
    found = {title: record for record in read_selectors(document, spec) if (title := _title(record)) in wanted}
    again = sum(
        "starts" not in wanted[title].fields
        or _same("starts", wanted[title].fields["starts"], str(record.fields.get("starts", "")), document, then, now)
        for title, record in found.items()
    )
    on_page = max(len(found), 1)
    if again < on_page / 2:
        return None
    lost = tuple(sorted(field for record in wanted.values() for field in record.fields if field not in spec))
    kept = {"empty": str(before["empty"])} if before.get("empty") else {}
    return Repair(spec=spec | kept, found=again, looked_for=on_page, lost=tuple(dict.fromkeys(lost)))
