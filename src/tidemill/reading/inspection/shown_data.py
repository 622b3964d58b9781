"""The data of a stored page as a person looks at it: the text as it is, with what was read marked where it stands."""

from collections.abc import Iterator, Sequence
from html import escape

from tidemill.reading.inspection.data_values import THE_PAGE, DataText
from tidemill.reading.inspection.marking import Mark

LONGEST_TEXT = 100_000
"""A longer text is shown around what is marked in it."""
AROUND = 1_500
MOST_MARKS = 1_000


def marked_data(texts: Sequence[DataText], marks: Sequence[Mark]) -> str:
    """Return the texts that something was read from, escaped, each value marked with the fields that it gave."""
    parts = []
    for number, each in enumerate(texts):
        if found := _by_place(number, marks):
            heading = f"Data: {each.name}" if each.name != THE_PAGE else "The page is data"
            parts.append(f'<h2>{escape(heading)}</h2><pre class="tm-data">{"".join(_marked(each.text, found))}</pre>')
    return "".join(parts)


def data_anchor(text: int, begins: int) -> str:
    """Return the id by which a marked value is found on the page."""
    return f"data-{text}-{begins}"


def _by_place(number: int, marks: Sequence[Mark]) -> list[tuple[int, int, list[Mark]]]:
    """Return what is marked in a text, in order and without overlaps; the longer of two goes, being less exact."""
    placed: dict[tuple[int, int], list[Mark]] = {}
    for mark in marks:
        if mark.data is not None and mark.data.text == number:
            placed.setdefault((mark.data.begins, mark.data.ends), []).append(mark)
    kept: list[tuple[int, int, list[Mark]]] = []
    for (begins, ends), found in sorted(placed.items(), key=lambda each: (each[0][0], -each[0][1]))[:MOST_MARKS]:
        if kept and begins < kept[-1][1]:
            if ends - begins >= kept[-1][1] - kept[-1][0]:
                continue
            kept.pop()
        kept.append((begins, ends, found))
    return kept


def _marked(text: str, places: Sequence[tuple[int, int, list[Mark]]]) -> Iterator[str]:
    is_long = len(text) > LONGEST_TEXT
    position = 0
    for begins, ends, found in places:
        yield _between(text[position:begins], is_long=is_long, is_first=position == 0)
        fields = ", ".join(dict.fromkeys(mark.field for mark in found))
        shown = escape(text[begins : min(ends, begins + AROUND)])
        anchor = data_anchor(found[0].data.text, begins) if found[0].data is not None else ""
        yield f'<span class="tm-mark tm-exact" id="{anchor}" title="{escape(fields)}">{shown}</span>'
        yield f'<sup class="tm-label">{escape(fields)}</sup>'
        position = ends
    rest = text[position:]
    yield escape(rest[:AROUND] + " …" if is_long and len(rest) > AROUND else rest)


def _between(words: str, *, is_long: bool, is_first: bool) -> str:
    if not is_long or len(words) <= 2 * AROUND:
        return escape(words)
    return escape(f"{'' if is_first else words[:AROUND]} … {words[-AROUND:]}")
