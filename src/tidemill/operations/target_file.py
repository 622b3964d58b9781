"""A targets file: CSV text to targets, good rows kept, bad ones told by line."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from itertools import islice
from typing import Any

from tidemill.core.rhythm import BadSchedule, parse_schedule
from tidemill.core.source import Source
from tidemill.operations.mistakes import unknown
from tidemill.operations.plans import LARGEST_FILE, Known, TargetPlan, Troubles
from tidemill.operations.source_file import plan_target, same_page
from tidemill.operations.yaml_nodes import Bad

COLUMNS = ("url", "source", "adapter", "schedule", "priority", "notes")
REQUIRED = ("url", "source")
DELIMITERS = ",;\t"


def read_targets(content: bytes, sources: Mapping[str, Source], known: Known, troubles: Troubles) -> list[TargetPlan]:
    """The targets that a file asks for; its first line names the columns."""
    if len(content) > LARGEST_FILE:
        troubles.add(0, "", f"the file has {len(content)} bytes, over the {LARGEST_FILE} that are read; split it")
        return []
    lines = list(StringIO(_decoded(content), newline=""))
    delimiter = _delimiter(lines[0] if lines else "")
    rows = _rows(lines, delimiter, troubles)
    columns = _columns(next(rows, (1, []))[1], troubles)
    if columns is None:
        return []
    plans: dict[tuple[str, str], TargetPlan] = {}
    for line, cells in rows:
        if troubles.too_many:
            troubles.add(line, "", "too many problems; the rest of the file was not read")
            break
        plan = _plan(line, cells, columns, sources, known, troubles)
        if plan is not None:
            first = plans.setdefault((plan.source_name, plan.target.canonical_url), plan)
            if first is not plan:
                troubles.add(line, "url", same_page(plan, first))
    return list(plans.values())


def _decoded(content: bytes) -> str:
    """Text in whatever a spreadsheet saved it in: UTF-8 with or without a mark, UTF-16, else Windows' own."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def _delimiter(header: str) -> str:
    return max(DELIMITERS, key=header.count)


def _rows(lines: Sequence[str], delimiter: str, troubles: Troubles) -> Iterator[tuple[int, list[str]]]:
    """The rows with the lines that they begin on; after a broken one, reading goes on with the next line."""
    start = 0
    while start < len(lines) and not troubles.too_many:
        reader = csv.reader(islice(lines, start, None), delimiter=delimiter, strict=True, skipinitialspace=True)
        begun = start
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield begun + 1, [cell.strip() for cell in cells]
                begun = start + reader.line_num
            start = len(lines)
        except csv.Error as error:
            troubles.add(begun + 1, "", f"this row cannot be read ({error}); check its quotes")
            start = begun + 1


def _columns(header: Sequence[str], troubles: Troubles) -> list[str] | None:
    """The columns by position, or None when nothing can be read under this header."""
    columns = [name.lower().replace(" ", "_") for name in header]
    for name in columns:
        if name not in COLUMNS:
            troubles.add(1, name, unknown("column", name, COLUMNS))
    for name in REQUIRED:
        if columns.count(name) != 1:
            troubles.add(1, name, f"the first line must name the column {name!r} once, such as: {','.join(COLUMNS)}")
    return None if troubles.found else columns


def _plan(
    line: int,
    cells: Sequence[str],
    columns: Sequence[str],
    sources: Mapping[str, Source],
    known: Known,
    troubles: Troubles,
) -> TargetPlan | None:
    if len(cells) > len(columns):
        message = f"{len(cells)} cells under {len(columns)} columns; put a text that holds the delimiter in quotes"
        troubles.add(line, "", message)
        return None
    row = {name: cell for name, cell in zip(columns, cells, strict=False) if cell}
    source = sources.get(row.get("source", ""))
    if source is None:
        named = row.get("source")
        message = unknown("source", named, sources) if named else "name the source that the target belongs to"
        troubles.add(line, "source", message)
        return None
    return _checked(line, row, source, known, troubles)


def _checked(line: int, row: Mapping[str, str], source: Source, known: Known, troubles: Troubles) -> TargetPlan | None:
    values: dict[str, Any] = dict(row)
    try:
        if "schedule" in row:
            parse_schedule(row["schedule"])
        if "priority" in row:
            values["priority"] = _priority(row["priority"])
        return plan_target(line, source, values, known)
    except BadSchedule as error:
        troubles.add(line, "schedule", str(error))
    except Bad as error:
        troubles.add(line, error.field, str(error))
    return None


def _priority(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        msg = f"{text!r} is no priority; write a whole number, higher goes first"
        raise Bad(msg, "priority") from error
