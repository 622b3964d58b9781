"""A file beside the database for what the database could not take: one JSON value per line, to be imported later."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec


class SpillFile:
    """Appends to a file per day, and says which."""

    def __init__(self, folder: Path, name: str) -> None:
        """Files are called NAME-DAY.jsonl."""
        self._folder = folder
        self._name = name

    async def write(self, lines: Sequence[Mapping[str, Any]], now: datetime) -> str:
        """Append the lines, and be sure that they are on the disk before saying so."""
        file = self._folder / f"{self._name}-{now:%Y-%m-%d}.jsonl"
        content = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
        await asyncio.to_thread(_append, file, content)
        return str(file)


def _append(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as stream:
        stream.write(content)
        stream.flush()
