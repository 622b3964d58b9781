"""Scraped text is read where it can be killed: what parses or judges it runs in readers, not on the event loop."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.shows("P3")

SOURCES = Path(__file__).parents[2] / "src" / "tidemill"
PARSERS = ("tidemill.reading.document", "tidemill.reading.blocked", "tidemill.reading.inspection.marking",
           "tidemill.reading.inspection.harmless", "tidemill.reading.sanitize")  # fmt: skip
PARSING_NAMES = frozenset({"Document", "blocked", "find_moments", "diagnose", "marks_on", "harmless_body"})
READ_BY_NAME = frozenset({"read_page", "read_with_adapter", "judge_records", "judge"})
HAPPENS_IN_READERS = (
    "reading", "pipeline/reader_functions", "pipeline/page_reading.py", "pipeline/recovery.py", "engine/readers",
    "pipeline/inspection.py", "pipeline/repair.py", "interop",
)  # fmt: skip
"""What readers run: the library, the functions that are asked for by name, and code of other frameworks."""
ENDS_WITH_ITS_PROCESS = ("cli", "verticals/*/commands", "verticals/*/lab", "lab", "operations/scoring",
                         "operations/golden.py", "operations/bundles/bundle.py", "verticals/*/scoring.py")  # fmt: skip
"""What a person runs by hand, and the lab: a page hurts nobody there but the one command."""
PURE = ("verticals/*/reading", "verticals/*/sources", "verticals/*/rules.py", "verticals/*/raw_fields.py",
        "verticals/*/record.py", "verticals/*/definition.py", "verticals/*/dating.py")  # fmt: skip
INLINE_WITHOUT_READERS = {
    "engine/drain.py": {"read_page"},
    "pipeline/parse.py": {"read_page"},
    "pipeline/normalize.py": {"read_page"},
    "operations/replay/page_replay.py": {"read_page"},
}
"""Where pages are read inline if there are no readers: in virtual time, and where a system has no fork."""
BOUNDED = {
    "pipeline/fallback.py": {"Document", "blocked"},
    "fetching/browsers/fetcher.py": {"Document", "blocked"},
}
"""What looks at small pages only, and a test says how long that takes at most."""


def modules() -> Iterator[tuple[str, Path]]:
    for path in SOURCES.rglob("*.py"):
        place = path.relative_to(SOURCES)
        skipped = (*HAPPENS_IN_READERS, *ENDS_WITH_ITS_PROCESS, *PURE)
        if not any(place.match(each) or any(up.match(each) for up in place.parents) for each in skipped):
            yield place.as_posix(), path


def names_that_read(path: Path) -> set[str]:
    """Names that a module imports and that parse or judge scraped text."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tidemill."):
            names = {each.name for each in node.names}
            if (node.module or "").startswith("tidemill.reading"):
                found |= names & PARSING_NAMES
            if node.module == "tidemill.pipeline.page_reading":
                found |= names & READ_BY_NAME
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "judge":
            found |= {"judge"} if _is_vertical(node.func.value) else set()
    return found


def _is_vertical(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id == "vertical"


def test_nothing_but_readers_parses_or_judges_scraped_text() -> None:
    allowed = {**INLINE_WITHOUT_READERS, **BOUNDED}
    found = {place: names for place, path in modules() if (names := names_that_read(path))}
    assert {
        place: names - allowed.get(place, set()) for place, names in found.items() if names - allowed.get(place, set())
    } == {}
    assert allowed.keys() <= found.keys(), "what is allowed is no longer there"
