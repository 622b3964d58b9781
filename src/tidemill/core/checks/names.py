"""The names that people give to things: they stand in addresses, file names, commands and logs."""

import re

LONGEST_NAME = 100
_NAME = re.compile(r"\w(?:[\w .,:;'’&()+!@#–-]*[\w.)!])?")  # noqa: RUF001 - people write curly apostrophes and dashes


def name_problem(name: str) -> str:
    """Return why a name cannot be given; '' if it can."""
    if len(name) > LONGEST_NAME:
        return f"a name of {len(name)} characters; write at most {LONGEST_NAME}"
    if _NAME.fullmatch(name):
        return ""
    plain = " ".join(re.sub(r"[^\w .'-]+", " ", name).split()).strip(".-' ")
    hint = f"; did you mean {plain!r}?" if plain and _NAME.fullmatch(plain) else ""
    return f"{name!r} is no name: write letters, digits, spaces, dots and dashes, no slashes{hint}"
