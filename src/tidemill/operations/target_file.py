"""A targets file: CSV to targets; valid rows are kept, the others reported by line."""

import csv
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from io import BytesIO, TextIOWrapper
from typing import Any

from tidemill.core.source import Source
from tidemill.operations.mistakes import unknown_name
from tidemill.operations.plans import LARGEST_FILE, KnownAdapters, ProblemList, TargetPlan
from tidemill.operations.source_fields import MOST_PRIORITY
from tidemill.operations.source_file import plan_target, repeated_target
from tidemill.operations.yaml_nodes import BadValue

COLUMNS = ("url", "source", "adapter", "schedule", "priority", "notes")
REQUIRED = ("url", "source")
MOST_COLUMNS = 50
DELIMITERS = ",;\t"


def read_targets(
    content: bytes, sources: Mapping[str, Source], known: KnownAdapters, problems: ProblemList
) -> Iterator[TargetPlan]:
    """Yield the targets in a file while it is read; its first line names the columns."""
    if len(content) > LARGEST_FILE:
        problems.add(0, "", f"the file has {len(content)} bytes, over the {LARGEST_FILE} that are read; split it")
        return
    rows = _rows(_Lines(_text(content)), _delimiter(next(_text(content), "")), problems)
    columns = _columns(next(rows, (1, []))[1], problems)
    if columns is None:
        return
    lines: dict[bytes, int] = {}
    for line, cells in rows:
        if problems.too_many:
            problems.add(line, "", "too many problems; the rest of the file was not read")
            break
        plan = _plan(line, cells, columns, sources, known, problems)
        if plan is None:
            continue
        first = lines.setdefault(_fingerprint(plan), line)
        if first == line:
            yield plan
        else:
            problems.add(line, "url", repeated_target(plan, first))


def count_lines(content: bytes) -> int:
    """Return the number of lines, an upper bound for the targets, whatever ends the lines."""
    return content.count(b"\n") + content.count(b"\r") - content.count(b"\r\n") + 1


def _fingerprint(plan: TargetPlan) -> bytes:
    """Return a short hash that identifies a target, to save memory."""
    return blake2b(f"{plan.source_name}\n{plan.target.canonical_url}".encode(), digest_size=16).digest()


def _text(content: bytes) -> TextIOWrapper:
    """Return the file as text: UTF-8 with or without a mark, UTF-16, else Windows-1252, as spreadsheets save it."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _decoded(content, "utf-16", "replace")
    try:
        for _ in _decoded(content, "utf-8-sig"):
            pass
    except UnicodeDecodeError:
        return _decoded(content, "cp1252", "replace")
    return _decoded(content, "utf-8-sig")


def _decoded(content: bytes, encoding: str, errors: str = "strict") -> TextIOWrapper:
    return TextIOWrapper(BytesIO(content), encoding, errors, newline="")


def _delimiter(header: str) -> str:
    return max(DELIMITERS, key=header.count)


class _Lines(Iterator[str]):
    """A file's lines; those of the current row can be read again, should the row be broken."""

    def __init__(self, lines: Iterator[str]) -> None:
        """Start at the first line."""
        self.row_line = 1
        self._lines = lines
        self._again: deque[str] = deque()
        self._row: list[str] = []

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        self._row.append(line)
        return line

    def row_done(self) -> None:
        """Start the next row on the next line."""
        self.row_line += len(self._row)
        self._row.clear()

    def row_broken(self) -> None:
        """Start the next row on the line after this row's first line."""
        self._again.extendleft(reversed(self._row[1:]))
        self.row_line += 1
        self._row.clear()


def _rows(lines: _Lines, delimiter: str, problems: ProblemList) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with their first line; after a broken row, continue with the next line."""
    while not problems.too_many:
        try:
            for cells in csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True):
                if any(cell.strip() for cell in cells):
                    yield lines.row_line, [cell.strip() for cell in cells]
                lines.row_done()
        except csv.Error as error:
            problems.add(lines.row_line, "", f"this row cannot be read ({error}); check its quotes")
            lines.row_broken()
        else:
            return


def _columns(header: Sequence[str], problems: ProblemList) -> list[str] | None:
    """Return the columns by position, or None when the header is invalid."""
    if len(header) > MOST_COLUMNS:
        problems.add(1, "", f"the first line names {len(header)} columns; there are {', '.join(COLUMNS)}")
        return None
    columns = [name.lower().replace(" ", "_") for name in header]
    for name in columns:
        if name not in COLUMNS:
            problems.add(1, name, unknown_name("column", name, COLUMNS))
    for name in REQUIRED:
        if columns.count(name) != 1:
            problems.add(1, name, f"the first line must name the column {name!r} once, such as: {','.join(COLUMNS)}")
    return None if problems.found else columns


def _plan(
    line: int,
    cells: Sequence[str],
    columns: Sequence[str],
    sources: Mapping[str, Source],
    known: KnownAdapters,
    problems: ProblemList,
) -> TargetPlan | None:
    if len(cells) > len(columns):
        message = f"{len(cells)} cells under {len(columns)} columns; put a text that holds the delimiter in quotes"
        problems.add(line, "", message)
        return None
    row = {name: cell for name, cell in zip(columns, cells, strict=False) if cell}
    source = sources.get(row.get("source", ""))
    if source is None:
        named = row.get("source")
        message = unknown_name("source", named, sources) if named else "name the source that the target belongs to"
        problems.add(line, "source", message)
        return None
    return _checked(line, row, source, known, problems)


def _checked(
    line: int, row: Mapping[str, str], source: Source, known: KnownAdapters, problems: ProblemList
) -> TargetPlan | None:
    values: dict[str, Any] = dict(row)
    try:
        if "priority" in row:
            values["priority"] = _priority(row["priority"])
        return plan_target(line, source, values, known)
    except BadValue as error:
        problems.add(line, error.field, str(error))
    return None


def _priority(text: str) -> int:
    try:
        found = int(text)
    except ValueError as error:
        msg = f"{text!r} is no priority; write a whole number, higher goes first"
        raise BadValue(msg, "priority") from error
    if not -MOST_PRIORITY <= found <= MOST_PRIORITY:
        msg = f"{found} is out of bounds; write a whole number from {-MOST_PRIORITY} to {MOST_PRIORITY}"
        raise BadValue(msg, "priority")
    return found
