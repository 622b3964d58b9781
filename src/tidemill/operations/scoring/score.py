"""What a score is: right answers of those given and of those wanted, for each half of the cases."""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

TUNED, JUDGED, BOTH = "tuned", "judged", "both"
"""The half of the cases that rules may be fitted to, the half that only judges them, and all cases together."""


CONFIDENCE_EDGES = (0.0, 0.35, 0.55, 0.7, 0.9)
"""Where the bands of confidence begin whose readings are compared: as wide as a few dozen pages can tell apart."""


class Score(msgspec.Struct, frozen=True):
    """How many answers were right, of `read` that were given and of `of` that were wanted, in one half of the cases."""

    what: str
    half: str
    right: int
    read: int
    of: int

    @property
    def precision(self) -> float:
        """The share of right answers among those given."""
        return self.right / self.read if self.read else 0.0

    @property
    def recall(self) -> float:
        """The share of the wanted answers that were given."""
        return self.right / self.of if self.of else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.right / (self.read + self.of) if self.read + self.of else 0.0


class Tally:
    """Counts answers, by what they are about and by the half that their case belongs to, in order of appearance."""

    def __init__(self) -> None:
        """Nothing counted yet."""
        self._counts: dict[str, dict[str, list[int]]] = {}

    def add(self, what: str, half: str, *, right: int, read: int = 1, of: int = 1) -> None:
        """Count `right` answers of `read` that were given and of `of` that were wanted."""
        counts = self._counts.setdefault(what, {TUNED: [0, 0, 0], JUDGED: [0, 0, 0], BOTH: [0, 0, 0]})[half]
        counts[0] += right
        counts[1] += read
        counts[2] += of

    def scores(self) -> list[Score]:
        """A score for each half of each, where there is any case."""
        return [
            Score(what, half, *counts)
            for what, halves in self._counts.items()
            for half, counts in halves.items()
            if counts[1] or counts[2]
        ]


def half_of(key: str) -> str:
    """The half that a case belongs to, by the name of its site, or of its suite and answer: the same on every machine.

    Pages of one site stay together, and so do phrases that mean the same: who has seen one knows the other.
    """
    return TUNED if sha256(key.encode()).digest()[0] % 2 == 0 else JUDGED


def cases_in(folder: Path, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The cases of a kind by the name of their file, from `kind` and `more/kind` of the folder."""
    for place in (folder / kind, folder / "more" / kind):
        for path in sorted(place.glob("*.json")):
            for case in json.loads(path.read_text("utf-8")):
                yield path.stem, case


def listed_in(folder: Path, kind: str, name: str) -> list[dict[str, Any]]:
    """The cases of one file of a kind; none where the folder has no such file."""
    path = folder / kind / name
    return json.loads(path.read_text("utf-8")) if path.exists() else []


def confidence_band(confidence: float, edges: Sequence[float] = CONFIDENCE_EDGES) -> str:
    """The band that a confidence falls in, as the table of calibration names it; in the order of their names."""
    low = max((edge for edge in edges if edge <= confidence), default=edges[0])
    return f"from {low:.2f}"


def expectations_in(folder: Path, kind: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The saved pages of a kind with what they are expected to say: `X.html` beside `X.expected.json`."""
    for place in (folder / kind, folder / "more" / kind):
        for path in sorted(place.rglob("*.expected.json")):
            page = path.with_name(path.name.replace(".expected.json", ".html"))
            if page.exists():
                yield page, json.loads(path.read_text("utf-8"))
