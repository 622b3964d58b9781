"""A sources file: YAML text to sources and targets, good entries kept, bad ones told by line."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import yaml

from tidemill.core.source import Coordinates, Source, counts_by_host
from tidemill.core.target import Target
from tidemill.core.urls import BadUrl, canonicalize, host_of, join, normalize, registrable_domain
from tidemill.operations.mistakes import unknown
from tidemill.operations.plans import KnownAdapters, SourcePlan, TargetPlan, Troubles
from tidemill.operations.source_fields import FIELDS, REQUIRED, TARGET_FIELDS, known_fields, schedule, whole
from tidemill.operations.yaml_nodes import BadValue, fields_of, is_null, items_of, line_of, node_of, parse, text_of


def read_sources(content: bytes, known: KnownAdapters, troubles: Troubles) -> list[SourcePlan]:
    """The sources that a file asks for: a list, or a list under `sources`."""
    node = parse(content, troubles)
    if node is None:
        return []
    try:
        if isinstance(node, yaml.MappingNode):
            node = known_fields(node, ("sources",)).get("sources", node)
        items = items_of(node)
    except BadValue as error:
        troubles.add(line_of(node), "sources", str(error))
        return []
    return _read_all(items, known, troubles)


def read_entries(entries: Iterable[Mapping[str, Any]], known: KnownAdapters, troubles: Troubles) -> list[SourcePlan]:
    """The same from entries that a program made, of which no more than one is a tree of nodes at a time."""
    return _read_all(map(node_of, entries), known, troubles)


def _read_all(items: Iterable[yaml.Node], known: KnownAdapters, troubles: Troubles) -> list[SourcePlan]:
    plans: dict[str, SourcePlan] = {}
    for item in items:
        plan = _entry(item, plans, known, troubles)
        if plan is not None:
            plans[plan.source.name] = plan
        if troubles.too_many:
            troubles.add(line_of(item), "", "too many problems; the rest of the file was not read")
            break
    return list(plans.values())


def _entry(
    node: yaml.Node, plans: Mapping[str, SourcePlan], known: KnownAdapters, troubles: Troubles
) -> SourcePlan | None:
    try:
        parts = fields_of(node)
    except BadValue as error:
        troubles.add(line_of(node), "", str(error))
        return None
    listed = parts.pop("targets", None)
    before = len(troubles.found)
    values = _values(node, parts, troubles)
    _check_names(parts, values, plans, known, troubles)
    _check_templates(parts, values, known, troubles)
    if len(troubles.found) > before:
        return None
    source = Source(id=0, **values)
    targets = _targets(listed, source, known, troubles) if listed is not None and not is_null(listed) else []
    return SourcePlan(line_of(node), source, frozenset(values), tuple(targets))


def _values(node: yaml.Node, parts: Mapping[str, yaml.Node], troubles: Troubles) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, part in parts.items():
        if name not in FIELDS:
            troubles.add(line_of(part), name, unknown("field", name, [*FIELDS, "targets"]))
        elif not is_null(part):
            try:
                values |= FIELDS[name](part)
            except BadValue as error:
                troubles.add(line_of(part), name, str(error))
    for name in REQUIRED:
        if name not in parts or is_null(parts[name]):
            troubles.add(line_of(node), name, f"a source needs its {name}; add `{name}: ...`")
    _place(node, parts, values, troubles)
    return values


def _place(node: yaml.Node, parts: Mapping[str, yaml.Node], values: dict[str, Any], troubles: Troubles) -> None:
    """Latitude and longitude are one thing or nothing."""
    latitude, longitude = values.pop("latitude", None), values.pop("longitude", None)
    if ("latitude" in parts) != ("longitude" in parts):
        missing = "longitude" if "latitude" in parts else "latitude"
        troubles.add(line_of(node), missing, f"one coordinate is no place; add the {missing}")
    elif latitude is not None and longitude is not None:
        values["coordinates"] = Coordinates(latitude, longitude)


def _check_names(
    parts: Mapping[str, yaml.Node],
    values: Mapping[str, Any],
    plans: Mapping[str, SourcePlan],
    known: KnownAdapters,
    troubles: Troubles,
) -> None:
    name, vertical, adapter = values.get("name"), values.get("vertical"), values.get("adapter_id")
    if name is not None and name in plans:
        troubles.add(line_of(parts["name"]), "name", f"{name!r} stands on line {plans[name].line} already; rename one")
    if vertical is not None and vertical not in known.adapters:
        troubles.add(line_of(parts["vertical"]), "vertical", unknown("vertical", vertical, known.adapters))
    elif adapter is not None and vertical is not None and adapter not in known.adapters[vertical]:
        message = unknown("adapter", adapter, known.adapters[vertical])
        troubles.add(line_of(parts["adapter"]), "adapter", message)


def _check_templates(
    parts: Mapping[str, yaml.Node], values: Mapping[str, Any], known: KnownAdapters, troubles: Troubles
) -> None:
    """A source whose targets are made from a template needs none of its own, but a template that makes addresses."""
    settings = values.get("adapter_settings") or {}
    for template in known.templates:
        name = template.setting
        if name in settings and (trouble := template.trouble(settings[name])):
            troubles.add(line_of(parts["settings"]), f"settings.{name}", trouble)


def _targets(node: yaml.Node, source: Source, known: KnownAdapters, troubles: Troubles) -> list[TargetPlan]:
    try:
        items = items_of(node)
    except BadValue as error:
        troubles.add(line_of(node), "targets", str(error))
        return []
    plans: dict[str, TargetPlan] = {}
    for item in items:
        try:
            plan = _target(item, source, known)
        except BadValue as error:
            troubles.add(line_of(item), error.field or "targets", str(error))
            continue
        first = plans.setdefault(plan.target.canonical_url, plan)
        if first is not plan:
            troubles.add(plan.line, "url", same_page(plan, first.line))
        if troubles.too_many:
            break
    return list(plans.values())


def _target(node: yaml.Node, source: Source, known: KnownAdapters) -> TargetPlan:
    if isinstance(node, yaml.ScalarNode):
        return plan_target(line_of(node), source, {"url": text_of(node)}, known)
    parts = {name: part for name, part in known_fields(node, TARGET_FIELDS).items() if not is_null(part)}
    values: dict[str, Any] = {name: text_of(parts[name]) for name in ("url", "adapter", "notes") if name in parts}
    if "schedule" in parts:
        values["schedule"] = schedule(parts["schedule"])
    if "priority" in parts:
        values["priority"] = whole(parts["priority"], -1_000, 1_000)
    return plan_target(line_of(node), source, values, known)


def plan_target(line: int, source: Source, values: Mapping[str, Any], known: KnownAdapters) -> TargetPlan:
    """A target from its checked values; `/agenda` means that page of the source's own site."""
    if not values.get("url"):
        msg = "a target needs its url"
        raise BadValue(msg, "url")
    adapter = values.get("adapter", source.adapter_id)
    if adapter not in known.adapters.get(source.vertical, ()):
        raise BadValue(unknown("adapter", adapter, known.adapters.get(source.vertical, ())), "adapter")
    given = {name: values[name] for name in ("schedule", "priority", "notes") if name in values}
    url, canonical_url, host = place_of(values["url"], source)
    target = Target(
        id=0, source_id=source.id, url=url, canonical_url=canonical_url, host=host, adapter_id=adapter, **given
    )
    return TargetPlan(line, source.name, target, _spoken_of(*given, *(["adapter_id"] if "adapter" in values else [])))


@cache
def _spoken_of(*fields: str) -> frozenset[str]:
    """The fields that a target's entry decides, and its host with them; one set for all entries that are alike."""
    return frozenset({"host", *fields})


def place_of(url: str, source: Source) -> tuple[str, str, str]:
    """The address of a page in its three forms: as asked for, as known, and the host whose pace it shares."""
    try:
        full = join(source.base_url, url) if url.startswith("/") else normalize(url)
        host = host_of(full) if counts_by_host(source.adapter_settings) else registrable_domain(full)
        return full, canonicalize(full), host
    except BadUrl as error:
        raise BadValue(str(error), "url") from error


def same_page(plan: TargetPlan, first: int) -> str:
    """Say that a target stands twice in a file, the first time on line `first`."""
    return f"{plan.target.url} is the same page as on line {first}; it was taken once"
