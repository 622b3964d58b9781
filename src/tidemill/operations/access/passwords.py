"""Passwords as argon2id hashes, made and checked off the event loop."""

import asyncio

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError


class Passwords:
    """Hashes and verifies; an unknown name costs the same time as a wrong password."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        """Use the library's parameters, which follow RFC 9106, unless told otherwise."""
        self._hasher = hasher or PasswordHasher()
        self._nobody: str | None = None

    async def hash(self, password: str) -> str:
        """Return what is stored of a password."""
        return await asyncio.to_thread(self._hasher.hash, password)

    async def verify(self, stored: str | None, password: str) -> bool:
        """Return whether a password is the stored one; with nothing stored, take as long and say no."""
        return await asyncio.to_thread(self._verify, stored, password)

    def _verify(self, stored: str | None, password: str) -> bool:
        if self._nobody is None:
            self._nobody = self._hasher.hash("nobody has this password")
        try:
            self._hasher.verify(stored or self._nobody, password)
        except (VerifyMismatchError, InvalidHashError):
            return False
        return stored is not None
