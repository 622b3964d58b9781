"""Chance that is the same every time: every draw in the lab comes from a name, never from the machine."""

from random import Random


def dice(*about: object) -> Random:
    """Dice of their own for what is named, so that drawing for one thing never shifts another's draws."""
    return Random("/".join(map(str, about)))  # noqa: S311 -- a demo world needs repeatable chance, not secrecy
