"""The version of what reads pages: the one that its author raises, and a digest of the code behind it."""

from typing import NamedTuple

_CODE = " code "
_EXACT = "="


class ReadingVersion(NamedTuple):
    """A version with the digest of its code; with `exact`, the same version with other code is held."""

    version: str
    code: str = ""
    exact: bool = False

    def __str__(self) -> str:
        """Return it as it is stored and shown."""
        return f"{_EXACT if self.exact else ''}{self.version}{_CODE + self.code if self.code else ''}"

    def is_alike(self, other: "ReadingVersion") -> bool:
        """Return whether nothing tells the other one apart; code is compared where both are known."""
        same_code = not self.code or not other.code or self.code == other.code
        return self.version == other.version and same_code

    def admits(self, other: "ReadingVersion") -> bool:
        """Return whether the other one may read, where this one was accepted."""
        return self.is_alike(other) if self.exact else self.version == other.version


def reading_version(stored: str) -> ReadingVersion:
    """Return a version from how it is stored."""
    version, _, code = stored.removeprefix(_EXACT).partition(_CODE)
    return ReadingVersion(version, code, stored.startswith(_EXACT))
