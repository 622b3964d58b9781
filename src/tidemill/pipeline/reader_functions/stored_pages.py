"""What a person is shown of a stored page: its values marked, a rebuilt body, and what differs from a good one."""

from collections.abc import Mapping, Sequence

import msgspec

from tidemill.core.page import Page
from tidemill.core.record import RawRecord
from tidemill.core.vertical import Vertical
from tidemill.pipeline.reader_functions.function import ReaderFunction
from tidemill.reading.document import Document
from tidemill.reading.inspection.changes import TextChange, changed_lines
from tidemill.reading.inspection.data_values import data_texts
from tidemill.reading.inspection.harmless import harmless_body
from tidemill.reading.inspection.marking import Mark, fields_of_marks, marks_on
from tidemill.reading.inspection.shown_data import marked_data


class PageAndRecords(msgspec.Struct, frozen=True, kw_only=True):
    """A stored page, and what was read from it; `link` is the address of a chosen element without its number."""

    page: Page
    records: Sequence[RawRecord]
    link: str = ""


class MarkedPage(msgspec.Struct, frozen=True, kw_only=True):
    """Where each value stands, and how much of the page was cut before it was parsed."""

    marks: Sequence[Mark]
    cut: str


class TwoPages(msgspec.Struct, frozen=True):
    """A page and the one that it is compared with."""

    before: Page
    after: Page


def _marked(asked: PageAndRecords, _verticals: Mapping[str, Vertical]) -> MarkedPage:
    document = Document.of(asked.page)
    return MarkedPage(marks=marks_on(document, asked.records), cut=document.cut)


def _rebuilt(asked: PageAndRecords, _verticals: Mapping[str, Vertical]) -> str:
    document = Document.of(asked.page)
    marks, texts = marks_on(document, asked.records), data_texts(document)
    data = marked_data(texts, marks)
    return harmless_body(document, fields_of_marks(marks), lambda number: f"{asked.link}{number}") + data


def _changed(asked: TwoPages, _verticals: Mapping[str, Vertical]) -> list[TextChange]:
    return changed_lines(Document.of(asked.before), Document.of(asked.after))


MARKED = ReaderFunction("page.marked", PageAndRecords, MarkedPage, _marked)
REBUILT = ReaderFunction("page.rebuilt", PageAndRecords, str, _rebuilt)
CHANGED = ReaderFunction("page.changed", TwoPages, list[TextChange], _changed)
