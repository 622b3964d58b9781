"""A sources file: YAML to sources and targets; valid entries are kept, the others reported by line."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import yaml

from tidemill.core.checks.feed_settings import FEEDS, feeds_of
from tidemill.core.checks.source_settings import settings_problems
from tidemill.core.schedules import BadSchedule, Tier, parse_schedule
from tidemill.core.source import Coordinates, Source, counts_by_host, foreign_address, foreign_target
from tidemill.core.target import Target
from tidemill.core.urls import BadUrl, canonicalize, host_of, join, normalize, registrable_domain
from tidemill.core.vertical import unknown_adapter
from tidemill.interop.adapter_table import scheme_of
from tidemill.operations.mistakes import unknown_name
from tidemill.operations.plans import KnownAdapters, ProblemList, SourcePlan, TargetPlan
from tidemill.operations.source_fields import (
    FIELDS,
    MOST_PRIORITY,
    REQUIRED,
    TARGET_FIELDS,
    known_fields,
    schedule,
    whole,
)
from tidemill.operations.yaml_nodes import BadValue, fields_of, is_null, items_of, line_of, node_of, parse, text_of


def read_sources(content: bytes, known: KnownAdapters, problems: ProblemList) -> list[SourcePlan]:
    """Return the sources in a file: a list, or a list under `sources`."""
    node = parse(content, problems)
    if node is None:
        return []
    try:
        if isinstance(node, yaml.MappingNode):
            node = known_fields(node, ("sources",)).get("sources", node)
        items = items_of(node)
    except BadValue as error:
        problems.add(line_of(node), "sources", str(error))
        return []
    return _read_all(items, known, problems)


def read_entries(entries: Iterable[Mapping[str, Any]], known: KnownAdapters, problems: ProblemList) -> list[SourcePlan]:
    """Return the same from a program's entries, converting one entry to nodes at a time."""
    return _read_all(map(node_of, entries), known, problems)


def _read_all(items: Iterable[yaml.Node], known: KnownAdapters, problems: ProblemList) -> list[SourcePlan]:
    plans: dict[str, SourcePlan] = {}
    for item in items:
        plan = _entry(item, plans, known, problems)
        if plan is not None:
            plans[plan.source.name] = plan
        if problems.too_many:
            problems.add(line_of(item), "", "too many problems; the rest of the file was not read")
            break
    return list(plans.values())


def _entry(
    node: yaml.Node, plans: Mapping[str, SourcePlan], known: KnownAdapters, problems: ProblemList
) -> SourcePlan | None:
    try:
        parts = fields_of(node)
    except BadValue as error:
        problems.add(line_of(node), "", str(error))
        return None
    listed = parts.pop("targets", None)
    before = len(problems.found)
    values = _values(node, parts, problems)
    _check_names(parts, values, plans, known, problems)
    _check_templates(parts, values, known, problems)
    _check_settings(parts, values, known, problems)
    if len(problems.found) > before:
        return None
    source = Source(id=0, **values)
    targets = _targets(listed, source, known, problems) if listed is not None and not is_null(listed) else []
    return SourcePlan(
        line_of(node), source, frozenset(values), tuple(targets), listed is not None and not is_null(listed)
    )


def _values(node: yaml.Node, parts: Mapping[str, yaml.Node], problems: ProblemList) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, part in parts.items():
        if name not in FIELDS:
            problems.add(line_of(part), name, unknown_name("field", name, [*FIELDS, "targets"]))
        elif not is_null(part):
            try:
                values |= FIELDS[name](part)
            except BadValue as error:
                problems.add(line_of(part), name, str(error))
    for name in REQUIRED:
        if name not in parts or is_null(parts[name]):
            problems.add(line_of(node), name, f"a source needs its {name}; add `{name}: ...`")
    _place(node, parts, values, problems)
    return values


def _place(node: yaml.Node, parts: Mapping[str, yaml.Node], values: dict[str, Any], problems: ProblemList) -> None:
    """Set the coordinates, if both latitude and longitude are given."""
    latitude, longitude = values.pop("latitude", None), values.pop("longitude", None)
    if ("latitude" in parts) != ("longitude" in parts):
        missing = "longitude" if "latitude" in parts else "latitude"
        problems.add(line_of(node), missing, f"one coordinate is no place; add the {missing}")
    elif latitude is not None and longitude is not None:
        values["coordinates"] = Coordinates(latitude, longitude)


def _check_names(
    parts: Mapping[str, yaml.Node],
    values: Mapping[str, Any],
    plans: Mapping[str, SourcePlan],
    known: KnownAdapters,
    problems: ProblemList,
) -> None:
    name, vertical, adapter = values.get("name"), values.get("vertical"), values.get("adapter_id")
    if name is not None and name in plans:
        problems.add(line_of(parts["name"]), "name", f"{name!r} stands on line {plans[name].line} already; rename one")
    if vertical is not None and vertical not in known.adapters:
        problems.add(line_of(parts["vertical"]), "vertical", unknown_name("vertical", vertical, known.adapters))
    elif vertical is not None and "tier" in values and (tier := _unknown_tier(values["tier"], vertical, known)):
        problems.add(line_of(parts["tier"]), "tier", tier)
    elif adapter is not None and vertical is not None and adapter not in known.adapters[vertical]:
        message = unknown_adapter(adapter, known.adapters[vertical])
        problems.add(line_of(parts["adapter"]), "adapter", message)


def _unknown_tier(tier: str, vertical: str, known: KnownAdapters) -> str:
    """Return a message about a tier that the vertical does not have; '' if it has it, or has said nothing of tiers."""
    tiers = known.tiers.get(vertical)
    return "" if tiers is None or tier in tiers else unknown_name("tier", tier, tiers)


def _check_templates(
    parts: Mapping[str, yaml.Node], values: Mapping[str, Any], known: KnownAdapters, problems: ProblemList
) -> None:
    """Check the template of a source whose targets are created from one."""
    settings = values.get("adapter_settings") or {}
    for template in known.templates:
        name = template.setting
        if name not in settings:
            continue
        problem = template.problem_with(settings[name]) or _foreign_template(settings[name], values)
        if problem:
            problems.add(line_of(parts["settings"]), f"settings.{name}", problem)
        if template.beside and template.beside not in settings:
            words = f"say which {template.beside} it covers: a list of their ids, or all"
            problems.add(line_of(parts["settings"]), f"settings.{template.beside}", words)


def _foreign_template(template: object, values: Mapping[str, Any]) -> str:
    """Return what is wrong with a template that makes addresses on another site than its source's; '' if nothing."""
    if "base_url" not in values:
        return ""
    address = re.sub(r"\{\w+\}", "x", str(template))
    return foreign_address(address, values["base_url"], values.get("adapter_settings") or {}) or ""


def _check_settings(
    parts: Mapping[str, yaml.Node], values: Mapping[str, Any], known: KnownAdapters, problems: ProblemList
) -> None:
    """Check the settings that the adapter, its vertical and the fetchers read; an unknown one is a problem."""
    adapter = values.get("adapter_id", "")
    scheme = scheme_of(adapter)
    checks = known.settings.get(scheme + values.get("vertical", "") if scheme else adapter)
    settings = {name: value for name, value in values.get("adapter_settings", {}).items() if value is not None}
    of_templates = {template.setting for template in known.templates}
    if checks is not None:
        checked = {**checks, **dict.fromkeys(of_templates, _checked_before)}
        found = settings_problems(settings, checked)
        for name, problem in found:
            problems.add(line_of(parts["settings"]), f"settings.{name}", problem)
        if FEEDS in settings and FEEDS not in dict(found) and (problem := _foreign_feed(values)):
            problems.add(line_of(parts["settings"]), f"settings.{FEEDS}", problem)


def _foreign_feed(values: Mapping[str, Any]) -> str:
    """Return what is wrong with a feed on another site than its source's; '' if nothing."""
    settings = values["adapter_settings"]
    if "base_url" not in values:
        return ""
    try:
        addresses = [join(values["base_url"], feed.url) for feed in feeds_of(settings)]
    except BadUrl as error:
        return str(error)
    found = (foreign_address(each, values["base_url"], settings) for each in addresses)
    return next((problem for problem in found if problem), "")


def _checked_before(value: object) -> str:  # noqa: ARG001 - a template has a check of its own
    return ""


def _targets(node: yaml.Node, source: Source, known: KnownAdapters, problems: ProblemList) -> list[TargetPlan]:
    try:
        items = items_of(node)
    except BadValue as error:
        problems.add(line_of(node), "targets", str(error))
        return []
    plans: dict[str, TargetPlan] = {}
    for item in items:
        try:
            plan = _target(item, source, known)
        except BadValue as error:
            problems.add(line_of(item), error.field or "targets", str(error))
            continue
        first = plans.setdefault(plan.target.canonical_url, plan)
        if first is not plan:
            problems.add(plan.line, "url", repeated_target(plan, first.line))
        if problems.too_many:
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
        values["priority"] = whole(parts["priority"], -MOST_PRIORITY, MOST_PRIORITY)
    return plan_target(line_of(node), source, values, known)


def plan_target(line: int, source: Source, values: Mapping[str, Any], known: KnownAdapters) -> TargetPlan:
    """Return a target from checked values; `/agenda` is a page of the source's own site."""
    if not values.get("url"):
        msg = "a target needs its url"
        raise BadValue(msg, "url")
    adapter = values.get("adapter", source.adapter_id)
    if adapter not in known.adapters.get(source.vertical, ()):
        raise BadValue(unknown_adapter(adapter, known.adapters.get(source.vertical, ())), "adapter")
    given = {name: values[name] for name in ("schedule", "priority", "notes") if name in values}
    _check_schedule(given.get("schedule"), source.vertical, known)
    url, canonical_url, host = target_addresses(values["url"], source)
    target = Target(
        id=0, source_id=source.id, url=url, canonical_url=canonical_url, host=host, adapter_id=adapter, **given
    )
    return TargetPlan(
        line, source.name, target, _given_fields(*given, *(["adapter_id"] if "adapter" in values else []))
    )


def _check_schedule(text: str | None, vertical: str, known: KnownAdapters) -> None:
    """Raise `BadValue` for a schedule that cannot be read, or names a tier that its vertical does not have."""
    if text is None:
        return
    try:
        found = parse_schedule(text)
    except BadSchedule as error:
        raise BadValue(str(error), "schedule") from error
    if isinstance(found, Tier) and found.name and (problem := _unknown_tier(found.name, vertical, known)):
        raise BadValue(problem, "schedule")


@cache
def _given_fields(*fields: str) -> frozenset[str]:
    """Return the fields that a target's entry sets, and `host`; equal entries share one set."""
    return frozenset({"host", *fields})


def target_addresses(url: str, source: Source) -> tuple[str, str, str]:
    """Return a page's URL, its canonical URL, and the host whose pace it shares."""
    try:
        full = join(source.base_url, url) if url.startswith("/") else normalize(url)
        if (problem := foreign_target(full, source)) is not None:
            raise BadValue(problem, "url")
        host = host_of(full) if counts_by_host(source.adapter_settings) else registrable_domain(full)
        return full, canonicalize(full), host
    except BadUrl as error:
        raise BadValue(str(error), "url") from error


def repeated_target(plan: TargetPlan, first: int) -> str:
    """Return the message about a target that is in the file twice, first on line `first`."""
    return f"{plan.target.url} is the same page as on line {first}; it was taken once"
