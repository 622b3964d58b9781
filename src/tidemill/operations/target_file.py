"""A targets file: CSV text to targets, good rows kept, bad ones told by line."""

import csv
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from io import BytesIO, TextIOWrapper
from typing import Any

from tidemill.core.schedules import BadSchedule, parse_schedule
from tidemill.core.source import Source
from tidemill.operations.mistakes import unknown
from tidemill.operations.plans import LARGEST_FILE, KnownAdapters, TargetPlan, Troubles
from tidemill.operations.source_file import plan_target, same_page
from tidemill.operations.yaml_nodes import BadValue

COLUMNS = ("url", "source", "adapter", "schedule", "priority", "notes")
REQUIRED = ("url", "source")
DELIMITERS = ",;\t"


def read_targets(
    content: bytes, sources: Mapping[str, Source], known: KnownAdapters, troubles: Troubles
) -> Iterator[TargetPlan]:
    """The targets that a file asks for, one by one as it is read; its first line names the columns."""
    if len(content) > LARGEST_FILE:
        troubles.add(0, "", f"the file has {len(content)} bytes, over the {LARGEST_FILE} that are read; split it")
        return
    rows = _rows(_Lines(_text(content)), _delimiter(next(_text(content), "")), troubles)
    columns = _columns(next(rows, (1, []))[1], troubles)
    if columns is None:
        return
    lines: dict[bytes, int] = {}
    for line, cells in rows:
        if troubles.too_many:
            troubles.add(line, "", "too many problems; the rest of the file was not read")
            break
        plan = _plan(line, cells, columns, sources, known, troubles)
        if plan is None:
            continue
        first = lines.setdefault(_fingerprint(plan), line)
        if first == line:
            yield plan
        else:
            troubles.add(line, "url", same_page(plan, first))


def most_targets(content: bytes) -> int:
    """No more targets than this are in a file: one a line, whatever ends its lines."""
    return content.count(b"\n") + content.count(b"\r") - content.count(b"\r\n") + 1


def _fingerprint(plan: TargetPlan) -> bytes:
    """What is remembered of a target to know it again: a fraction of its addresses."""
    return blake2b(f"{plan.source_name}\n{plan.target.canonical_url}".encode(), digest_size=16).digest()


def _text(content: bytes) -> TextIOWrapper:
    """Text in whatever a spreadsheet saved it in: UTF-8 with or without a mark, UTF-16, else Windows' own."""
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
    """A file's lines; those of the row that is being read can be had again, should it turn out to be broken."""

    def __init__(self, lines: Iterator[str]) -> None:
        """Begin with the first."""
        self.begun = 1
        self._lines = lines
        self._again: deque[str] = deque()
        self._row: list[str] = []

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        self._row.append(line)
        return line

    def row_done(self) -> None:
        """The next row begins on the next line."""
        self.begun += len(self._row)
        self._row.clear()

    def row_broken(self) -> None:
        """The next row begins on the line after the one that this row began on."""
        self._again.extendleft(reversed(self._row[1:]))
        self.begun += 1
        self._row.clear()


def _rows(lines: _Lines, delimiter: str, troubles: Troubles) -> Iterator[tuple[int, list[str]]]:
    """The rows with the lines that they begin on; after a broken one, reading goes on with the next line."""
    while not troubles.too_many:
        try:
            for cells in csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True):
                if any(cell.strip() for cell in cells):
                    yield lines.begun, [cell.strip() for cell in cells]
                lines.row_done()
        except csv.Error as error:
            troubles.add(lines.begun, "", f"this row cannot be read ({error}); check its quotes")
            lines.row_broken()
        else:
            return


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
    known: KnownAdapters,
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


def _checked(
    line: int, row: Mapping[str, str], source: Source, known: KnownAdapters, troubles: Troubles
) -> TargetPlan | None:
    values: dict[str, Any] = dict(row)
    try:
        if "schedule" in row:
            parse_schedule(row["schedule"])
        if "priority" in row:
            values["priority"] = _priority(row["priority"])
        return plan_target(line, source, values, known)
    except BadSchedule as error:
        troubles.add(line, "schedule", str(error))
    except BadValue as error:
        troubles.add(line, error.field, str(error))
    return None


def _priority(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        msg = f"{text!r} is no priority; write a whole number, higher goes first"
        raise BadValue(msg, "priority") from error
