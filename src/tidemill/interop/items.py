"""Items of other tools as the raw fields of a vertical: by their own names, or by a small table.

A source's settings may hold::

    fields: {title: name, image: mainImage.url}   # a vertical's field, and where the item has it
    items: events                                 # the item's field that holds the records, where it holds several
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from tidemill.core.checks.source_settings import SettingChecks, a_text
from tidemill.core.record import RawRecord, Strategy
from tidemill.core.vertical import Context

CONFIDENCE = 0.9
"""That of a reader which a person wrote for one site, as of selectors."""
USUAL_NAMES: Mapping[str, str] = {"title": "name"}
"""What items call a field by another name than we do, unless the table says otherwise."""
LONGEST_LIST = 100


def a_table(value: object) -> str:
    """Check a table of fields: each a name, and a path into the item."""
    if not isinstance(value, Mapping) or not value:
        return "write a table, such as {title: name}"
    wrong = next((name for name, path in value.items() if not isinstance(name, str) or a_text(path)), None)
    return "" if wrong is None else f"write for {wrong!r} where the item has it, such as name or image.url"


def plain_values(value: object) -> str:
    """Check a mapping of names to plain values."""
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        return "write a table of names and values"
    return ""


ITEM_SETTINGS: SettingChecks = {"fields": a_table, "items": a_text}
"""The settings of a source that say how items become records."""


def records_of(items: Iterable[Mapping[str, Any]], context: Context, origin: str) -> list[RawRecord]:
    """Return a raw record for each item that has a field with a value."""
    settings = context.source.adapter_settings
    given = settings.get("fields")
    table = {**USUAL_NAMES, **(given if isinstance(given, Mapping) else {})}
    spread = [one for item in items for one in _inner_items(item, str(settings.get("items") or ""))]
    records = []
    for number, item in enumerate(spread):
        fields, places = _mapped(item, table)
        if fields:
            place = f"{origin}/{number}"
            records.append(
                RawRecord(
                    fields=fields, strategy=Strategy.SELECTORS, confidence=CONFIDENCE, origin=place, places=places
                )
            )
    return records


def note_on_lists(item: Mapping[str, Any], context: Context) -> tuple[str, ...]:
    """Return a note about the lists of things inside an item, where the settings do not say that they are records."""
    if context.source.adapter_settings.get("items"):
        return ()
    lists = {name: value for name, value in item.items() if isinstance(value, list | tuple) and value}
    held = {name: len(value) for name, value in lists.items() if all(isinstance(each, Mapping) for each in value)}
    return tuple(
        f"the item's field {name} holds {count} things; `items: {name}` in the source's settings makes them records"
        for name, count in held.items()
    )


def _inner_items(item: Mapping[str, Any], path: str) -> Sequence[Mapping[str, Any]]:
    """Return the items inside an item, or the item itself where the setting names no field."""
    if not path:
        return [item]
    found = value_at(item, path)
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list | tuple) else []


def _mapped(item: Mapping[str, Any], table: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the fields of a record, and where in the item each was."""
    found = {name: (plain(value), name) for name, value in item.items()}
    for name, path in table.items():
        if name in item and name in USUAL_NAMES and USUAL_NAMES[name] == path:
            continue
        if (value := plain(value_at(item, path))) is not None:
            found[name] = (value, path)
    kept = {name: pair for name, pair in found.items() if pair[0] not in (None, "", [], {})}
    return {name: value for name, (value, _) in kept.items()}, {name: path for name, (_, path) in kept.items()}


def value_at(item: Any, path: str) -> Any:
    """Return the value at a path of names and numbers with dots between them; None where there is none."""
    for part in path.split("."):
        if isinstance(item, Mapping):
            item = item.get(part)
        elif isinstance(item, list | tuple) and part.isdecimal() and int(part) < len(item):
            item = item[int(part)]
        else:
            return None
    return item


def plain(value: Any) -> Any:
    """Return the value as JSON has it; what JSON does not have as text, and a list of one text as that text."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in list(value.items())[:LONGEST_LIST]}
    if isinstance(value, list | tuple | set | frozenset):
        each = [plain(one) for one in list(value)[:LONGEST_LIST]]
        return each[0] if len(each) == 1 and isinstance(each[0], str) else each
    return str(value)
