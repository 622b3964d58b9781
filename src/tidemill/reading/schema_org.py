"""What readers of schema.org data share, whichever vertical's objects they look for."""

from functools import lru_cache


@lru_cache(maxsize=512)
def local_name(name: str) -> str:
    """The last part of a vocabulary name: `Event` for `https://schema.org/Event` or `schema:Event`."""
    return name.rstrip("/").replace("#", "/").replace(":", "/").rpartition("/")[2]
