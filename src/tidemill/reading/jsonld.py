"""JSON-LD: every block of a page, repaired or skipped one by one, so that a broken block costs no other."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from tidemill.reading.document import Document
from tidemill.reading.jsonld_repair import repaired_values

Json = Any
"""A decoded JSON value of any shape."""

_DEEPEST = 24

_decode = msgspec.json.Decoder().decode


class Block(msgspec.Struct, frozen=True):
    """One script block: its index on the page, its value, and whether it was repaired or is broken."""

    index: int
    value: Json
    repaired: bool = False
    broken: bool = False


def bodies(document: Document) -> list[bytes]:
    """The page's JSON-LD scripts in UTF-8, found without decoding or parsing the page.

    A block inside an HTML comment is not on the page. Spellings that a plain search would miss (capitals,
    entities in the type) are looked up in the tree.
    """
    if document.data_spans:
        return [document.encoded[begins:ends] for begins, ends in document.data_spans]
    markup = document.markup
    if "ld+json" in markup.lower() or "ld&#x2b;json" in markup or "ld&#43;json" in markup:
        scripts = document.css("script[type]")
        return [node.text().encode() for node in scripts if _is_jsonld(node.attributes.get("type"))]
    return []


def blocks(document: Document) -> list[Block]:
    """Every JSON-LD block of the page, decoded; one that cannot be repaired is broken and has no value."""
    return [block(index, body) for index, body in enumerate(bodies(document))]


def objects(
    value: Json, wanted: Callable[[dict[str, Json]], bool], within: frozenset[str]
) -> Iterator[tuple[str, dict[str, Json]]]:
    """Every wanted object at any depth of a block, with its path; inside one, only under the keys `within`."""
    yield from _walk(value, "", wanted, within, 0)


def objects_by_id(value: Json) -> dict[str, dict[str, Json]]:
    """The objects of a block by their `@id`, to look references up in."""
    found: dict[str, dict[str, Json]] = {}
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            name = current.get("@id")
            if isinstance(name, str) and len(current) > 1:
                found.setdefault(name, current)
            pending.extend(current.values())
        elif isinstance(current, list):
            pending.extend(current)
    return found


def _is_jsonld(kind: str | None) -> bool:
    return kind is not None and kind.partition(";")[0].strip().lower() == "application/ld+json"


def block(index: int, body: bytes) -> Block:
    """One block, decoded; repaired if need be, broken if it cannot be."""
    text = body.decode(errors="replace")
    try:
        return Block(index, _decode(text))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        values = repaired_values(text)
    if not values:
        return Block(index, None, broken=bool(text.strip()))
    return Block(index, values[0] if len(values) == 1 else values, repaired=True)


def _walk(
    value: Json, path: str, wanted: Callable[[dict[str, Json]], bool], within: frozenset[str], depth: int
) -> Iterator[tuple[str, dict[str, Json]]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                yield from _walk(item, f"{path}/{index}", wanted, within, depth + 1)
        return
    if not isinstance(value, dict):
        return
    is_wanted = wanted(value)
    if is_wanted:
        yield path, value
    for key in value.keys() & within if is_wanted else value:
        item = value[key]
        if isinstance(item, dict | list) and key != "@context":
            yield from _walk(item, f"{path}/{key}", wanted, within, depth + 1)
