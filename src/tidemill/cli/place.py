"""Where a command works: which settings and which database."""

from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """What was said before the command's name."""

    settings: Path | None = None
    database: str | None = None
