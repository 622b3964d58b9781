"""Scores of structured data: `structured/NAME.KIND.expected.json` beside `NAME.html`, the objects that it holds."""

import json
from pathlib import Path
from typing import Any

from tidemill.operations.scoring.score import Score, Tally, half_of
from tidemill.reading import Document
from tidemill.reading.jsonld import blocks
from tidemill.reading.microdata import items


def structured_scores(folder: Path) -> list[Score]:
    """The objects of JSON-LD and microdata that pages hold, broken blocks and all."""
    tally = Tally()
    for path in sorted((folder / "structured").glob("*.*.expected.json")):
        name, kind = path.name.removesuffix(".expected.json").rsplit(".", 1)
        document = Document(path.with_name(f"{name}.html").read_text("utf-8", "replace"), "http://www.example.com/")
        expected = json.loads(path.read_text("utf-8"))
        by_kind = expected if isinstance(expected, dict) and "json-ld" in expected else {kind: expected}
        read = [value for block in blocks(document) for value in _flat(block.value)]
        types = [_first(item.get("@type")) for item in items(document)]
        half = half_of(name)
        for wanted in _flat(by_kind.get("json-ld", [])):
            tally.add("structured data: objects of json-ld", half, right=wanted in read, read=bool(read))
        for each in _flat(by_kind.get("microdata", [])):
            right = _first(each.get("type")) in types
            tally.add("structured data: objects of microdata", half, right=right, read=bool(types))
    return tally.scores()


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict) and set(value) == {"items"}:
        value = value["items"]
    found = [one for item in value for one in _flat(item)] if isinstance(value, list) else [value]
    return [one for one in found if one]


def _first(kind: Any) -> Any:
    return kind[0] if isinstance(kind, list) else kind
