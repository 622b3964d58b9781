"""File locks that the kernel lets go of when their holder dies, however it dies."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held_alone(path: Path) -> Iterator[None]:
    """Hold `path` against everyone else; wait for it first."""
    yield from _held(path, fcntl.LOCK_EX)


@contextmanager
def held_together(path: Path) -> Iterator[None]:
    """Hold `path` beside others who hold it together; wait for one who holds it alone."""
    yield from _held(path, fcntl.LOCK_SH)


def _held(path: Path, mode: int) -> Iterator[None]:
    with path.open("a") as handle:
        fcntl.flock(handle, mode)
        yield
