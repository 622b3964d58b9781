"""What a person asks a replay for, checked and made into a scope."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import yaml

from tidemill.core.replay.views import ReplayScope
from tidemill.core.source import Source
from tidemill.core.vertical import Adapter, Vertical, settings_read, unknown_adapter
from tidemill.operations.mistakes import Mistake, NotFound, unknown_name

MOST_PAGES = 1_000_000
_AGE = re.compile(r"(\d{1,5})\s*([hdw])\Z")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
SELECTORS = "selectors"
_SELECTOR_FILES = (".yaml", ".yml", ".json")


class ReplayRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A replay as a person asks for it; `with_` is a file of selectors or the name of an adapter's code."""

    source: str = ""
    adapter: str = ""
    vertical: str = ""
    since: str = ""
    pages: int = 5_000
    with_: str = msgspec.field(default="", name="with")
    with_version: str = ""
    selectors: Mapping[str, Any] | None = None


def scope_of(request: ReplayRequest, verticals: Mapping[str, Vertical], now: datetime, owner: str = "") -> ReplayScope:
    """Return the scope that is asked for; `owner` is the vertical of the named source.

    Raises:
        Mistake: nothing or too much is named, or what it names is not there.
    """
    named = [kind for kind in ("source", "adapter", "vertical") if getattr(request, kind)]
    if len(named) != 1:
        msg = "name one of --source NAME, --adapter ID and --vertical V"
        raise Mistake(msg)
    if not 1 <= request.pages <= MOST_PAGES:
        msg = f"--pages is 1 to {MOST_PAGES}, not {request.pages}"
        raise Mistake(msg)
    if request.vertical and request.vertical not in verticals:
        raise NotFound(unknown_name("vertical", request.vertical, verticals))
    selectors, reader = _tried(request, verticals, request.vertical or owner)
    if selectors is not None and not request.source:
        msg = "selectors are those of one source: name it with --source"
        raise Mistake(msg)
    return ReplayScope(
        source=request.source,
        adapter=request.adapter,
        vertical=request.vertical,
        since=None if not request.since else now - age_of(request.since),
        until=now,
        pages=request.pages,
        selectors=selectors,
        reader=reader,
    )


def age_of(words: str) -> timedelta:
    """Return an age that is written as 12h, 30d or 4w."""
    found = _AGE.fullmatch(words.strip())
    if found is None:
        msg = f"write an age as 12h, 30d or 4w, not {words!r}"
        raise Mistake(msg)
    return int(found[1]) * _UNITS[found[2]]


def selectors_in(path: Path) -> dict[str, Any]:
    """Return the selectors in a file: a mapping of fields, or one under the key `selectors`."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        msg = f"there is no file {path}"
        raise Mistake(msg) from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        msg = f"{path} cannot be read: {error}"
        raise Mistake(msg) from error
    if isinstance(found, dict) and isinstance(found.get("selectors"), dict):
        found = found["selectors"]
    if not isinstance(found, dict) or not found or not all(isinstance(name, str) for name in found):
        msg = f"{path} holds no selectors; write them as in a source's settings, one `field: selector` per line"
        raise Mistake(msg)
    return found


def require_selectors(selectors: Mapping[str, Any], source: Source, verticals: Mapping[str, Vertical]) -> None:
    """Raise `Mistake` for what is no selector or no field, and where the source's adapter reads none."""
    vertical = verticals.get(source.vertical)
    adapter = None if vertical is None else vertical.adapters.get(source.adapter_id)
    if vertical is None or adapter is None:
        msg = f"{source.adapter_id} is not installed, so nothing can be tried"
        raise Mistake(msg)
    checks = settings_read(vertical, adapter)
    if checks is None:
        return
    if SELECTORS not in checks:
        msg = f"{source.adapter_id} reads no selectors; use the generic adapter of {source.vertical} for this source"
        raise Mistake(msg)
    if problem := checks[SELECTORS](dict(selectors)):
        msg = f"selectors: {problem}"
        raise Mistake(msg)


def _tried(
    request: ReplayRequest, verticals: Mapping[str, Vertical], vertical: str
) -> tuple[Mapping[str, Any] | None, str]:
    """Return the selectors and the adapter that stand in for those of the source."""
    tried = [each for each in (request.with_, request.with_version, request.selectors) if each]
    if len(tried) > 1:
        msg = "name one thing to try: --with or --with-version"
        raise Mistake(msg)
    if request.selectors:
        return request.selectors, ""
    if request.with_.endswith(_SELECTOR_FILES):
        return selectors_in(Path(request.with_)), ""
    if request.with_:
        name = request.with_ if request.with_.count(":") > 1 else f"adapter:{request.with_}"
        _adapter_named(name, verticals, vertical)
        return None, name
    if request.with_version:
        return None, _version_named(request, verticals)
    if request.adapter:
        _adapter_named(request.adapter, verticals, "")
    return None, ""


def _version_named(request: ReplayRequest, verticals: Mapping[str, Vertical]) -> str:
    if not request.adapter:
        msg = "--with-version names a version of one adapter: name it with --adapter"
        raise Mistake(msg)
    name = f"{request.adapter}@{request.with_version}"
    installed = _adapter_named(request.adapter, verticals, "")
    if any(name in each.adapters for each in verticals.values()):
        return name
    others = sorted({installed.version, *getattr(installed, "versions", {})})
    msg = (
        f"version {request.with_version} of {request.adapter} is not installed here; there is {', '.join(others)}. "
        "Name the code of another one with --with package:Adapter"
    )
    raise NotFound(msg)


def _adapter_named(name: str, verticals: Mapping[str, Vertical], vertical: str) -> Adapter:
    for each in verticals.values():
        if vertical in {"", each.name} and (found := each.adapters.get(name)) is not None:
            return found
    tables = [each.adapters for each in verticals.values() if vertical in {"", each.name}] or [{}]
    told = next((words for table in tables if (words := unknown_adapter(name, table))), "")
    raise NotFound(told)
