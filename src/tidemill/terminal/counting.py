"""How many of something, as a person says it."""


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with what it counts: `1 incident`, `2 incidents`; `many` where it is not `one` with an s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
