"""Where a command works: which settings and which database."""

from pathlib import Path
from typing import NamedTuple


class GlobalOptions(NamedTuple):
    """What was said before the command's name."""

    settings: Path | None = None
    database: str | None = None
